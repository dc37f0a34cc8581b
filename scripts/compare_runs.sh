#!/usr/bin/env bash
# Do whole runs agree with each other? Each part prints wall times and keeps what it made under OUT; scripts/compare_runs.py says
# what came of it. It builds nothing. One GPU a rank, as many ranks as GPUs.
#   scripts/compare_runs.sh OUT five     AllReduce as graphs, 4 KiB to 64 MiB: five runs of three rounds, beside five of nccl-tests
#   scripts/compare_runs.sh OUT small    AllReduce as eager calls, 8 bytes to 64 KiB: three runs, beside three of nccl-tests
#   scripts/compare_runs.sh OUT twice    the built-in matrix with three rounds, two times
#   scripts/compare_runs.sh OUT peers    nccl-tests for the cells of one round: every variant, both collectives, both placements
# LINKPERF, ALL_REDUCE_PERF and ALL_GATHER_PERF name the programs (by default ./linkperf and those on the PATH).
set -u
out=${1:?usage: scripts/compare_runs.sh OUT five|small|twice|peers}
part=${2:?usage: scripts/compare_runs.sh OUT five|small|twice|peers}
here=$(cd "$(dirname "$0")" && pwd)
linkperf=${LINKPERF:-./linkperf}
all_reduce=${ALL_REDUCE_PERF:-all_reduce_perf}
all_gather=${ALL_GATHER_PERF:-all_gather_perf}
ranks=$(nvidia-smi -L | grep -c '^GPU')
mkdir -p "$out"

# shellcheck source=scripts/timed.bash disable=SC1091
. "$here/timed.bash"

case $part in
five)
    for run in 1 2 3 4 5; do
        timed "five-$run" mpirun -np "$ranks" "$linkperf" --no-link --only default --collectives allreduce --placement out \
            --timing graph -d bfloat16 -b 4K -e 64M --rounds 3 -J "$out/five-$run.json"
        timed "five-nccl-$run" mpirun -np "$ranks" --bind-to none "$all_reduce" -b 4K -e 64M -f 2 -g 1 -d bfloat16 -n 20 -G 20
    done
    ;;
small)
    for run in 1 2 3; do
        timed "small-$run" mpirun -np "$ranks" "$linkperf" --no-link --only default --collectives allreduce --placement out \
            --timing pipelined -d float -b 8 -e 64K -J "$out/small-$run.json"
        timed "small-nccl-$run" mpirun -np "$ranks" --bind-to none "$all_reduce" -b 8 -e 64K -f 2 -g 1 -d float -w 20 -n 500
    done
    ;;
twice)
    for run in 1 2; do
        timed "twice-$run" mpirun -np "$ranks" "$linkperf" -b 8 -e 256M --rounds 3 -J "$out/twice-$run.json"
    done
    ;;
peers) # after "twice", whose file says the variants
    python3 "$here/compare_runs.py" "$out" variants | while IFS= read -r name && IFS= read -r variables; do
        for program in "$all_reduce" "$all_gather"; do
            # shellcheck disable=SC2086  # NAME=VALUE words
            timed "peers-$name-$(basename "$program")" env $variables mpirun -np "$ranks" --bind-to none "$program" \
                -b 8 -e 256M -f 2 -g 1 -d float -n 20 -G 1 </dev/null
        done
    done
    ;;
*)
    echo "compare_runs.sh: part '$part': five, small, twice or peers" >&2
    exit 2
    ;;
esac
