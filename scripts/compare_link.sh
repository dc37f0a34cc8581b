#!/usr/bin/env bash
# Runs `linkperf p2p` beside nvbandwidth and p2pBandwidthLatencyTest that are installed already, five times each in turn, and
# prints the ratios of the medians. It builds nothing. One rank a GPU.
#   scripts/compare_link.sh OUT [LINKPERF]
# Peers: NVBANDWIDTH and P2P_BANDWIDTH name the programs (by default those on the PATH).
set -u
out=${1:?usage: scripts/compare_link.sh OUT [LINKPERF]}
linkperf=${2:-./linkperf}
here=$(cd "$(dirname "$0")" && pwd)
nvbandwidth=${NVBANDWIDTH:-nvbandwidth}
p2p=${P2P_BANDWIDTH:-p2pBandwidthLatencyTest}
ranks=$(nvidia-smi -L | grep -c '^GPU')
# the cases that give figures which linkperf p2p has too
cases=(device_to_device_memcpy_{write,read}_{ce,sm} device_to_device_bidirectional_memcpy_{write,read}_{ce,sm}
    device_to_device_latency_sm host_to_device_memcpy_ce device_to_host_memcpy_ce
    host_to_device_bidirectional_memcpy_ce device_local_copy)
mkdir -p "$out"

# shellcheck source=scripts/timed.bash disable=SC1091
. "$here/timed.bash"

for run in 1 2 3 4 5; do
    timed "linkperf-$run" mpirun -np "$ranks" "$linkperf" p2p -J "$out/linkperf-$run.json"
    timed "nvbandwidth-$run" "$nvbandwidth" -t "${cases[@]}"
    timed "p2pbandwidth-$run" "$p2p"
done
python3 "$here/compare_link.py" "$out"
