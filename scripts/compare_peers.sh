#!/usr/bin/env bash
# Runs linkperf beside nvbandwidth and nccl-tests that are installed already, five times each, and prints the ratios of
# the medians. It builds nothing. One GPU a rank, as many ranks as GPUs.
#   scripts/compare_peers.sh OUT [LINKPERF]
# Peers: NVBANDWIDTH, ALL_REDUCE_PERF and ALL_GATHER_PERF name the programs (by default those on the PATH).
set -u
out=${1:?usage: scripts/compare_peers.sh OUT [LINKPERF]}
linkperf=${2:-./linkperf}
here=$(cd "$(dirname "$0")" && pwd)
nvbandwidth=${NVBANDWIDTH:-nvbandwidth}
all_reduce=${ALL_REDUCE_PERF:-all_reduce_perf}
all_gather=${ALL_GATHER_PERF:-all_gather_perf}
ranks=$(nvidia-smi -L | grep -c '^GPU')
mkdir -p "$out"

# shellcheck source=scripts/timed.bash disable=SC1091
. "$here/timed.bash"

timed linkperf-full mpirun -np "$ranks" "$linkperf" -b 8 -e 1G -d float --timing pipelined,graph -J "$out/linkperf-1.json"
for run in 2 3 4 5; do
    timed "linkperf-$run" mpirun -np "$ranks" "$linkperf" -b 8 -e 1G -d float --timing pipelined --only default \
        -J "$out/linkperf-$run.json"
done
for run in 1 2 3 4 5; do
    timed "nvbandwidth-$run" "$nvbandwidth" -t device_to_device_memcpy_write_ce device_to_device_memcpy_write_sm \
        device_to_device_bidirectional_memcpy_write_sm
    timed "allreduce-$run" mpirun -np "$ranks" --bind-to none "$all_reduce" -b 8 -e 1G -f 2 -g 1 -n 20
    timed "allgather-$run" mpirun -np "$ranks" --bind-to none "$all_gather" -b 8 -e 1G -f 2 -g 1 -n 20
done
python3 "$here/compare_peers.py" "$out"
