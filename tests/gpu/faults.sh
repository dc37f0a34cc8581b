#!/usr/bin/env bash
# What linkperf reports of things that go wrong on GPUs, how soon, and what is left: a line each, then "ok" or "not ok".
#   tests/gpu/faults.sh [LINKPERF]    exit 77 without two GPUs
# shellcheck disable=SC1091,SC2154
set -u
linkperf=${1:-./linkperf}
# shellcheck source=tests/gpu/lib.bash
. "$(dirname "$0")/lib.bash"
need_gpus 2

start() { # NAME ARGUMENTS...: a run in the background; its pid is in $run
    local name=$1
    shift
    began=$(date +%s.%N)
    mpirun -np 2 "$linkperf" --log-dir "$work/$name" -J "$work/$name.json" "$@" >"$work/$name.out" 2>"$work/$name.err" &
    run=$!
}

finish() { # NAME: waits for the run; prints what it reported and how long it took
    wait "$run" 2>/dev/null
    rc=$?
    took=$(awk "BEGIN {printf \"%.1f\", $(date +%s.%N) - $began}")
    echo "# $1: exit $rc after $took s; $(grep -hE '^[a-z0-9 -]+: (hang|crash|skipped|failed|wrong)' "$work/$1.out" | sort -u | head -n 2 | cut -c1-330 | tr '\n' '|')"
    check "$1: nothing left" until_true nothing_left
}

stop_at() { # NAME TEXT ARGUMENTS...: rank 1's worker of ring is stopped when it comes to TEXT
    local name=$1 text=$2
    shift 2
    start "$name" --only ring "$@"
    until_true at_step "$name" ring 1 "$text"
    kill -STOP "$(worker_pid "$name" ring 1)"
    finish "$name"
    check "$name: exit 4" [ "$rc" -eq 4 ]
    first=$(count "$work/$name.json" "r['variant'] == 'default' and r['repeat'] == 0 and r['outcome'] == 'ok'")
    check "$name: default again was measured" [ "$(count "$work/$name.json" "r['repeat'] == 1 and r['outcome'] == 'ok'")" -eq "$first" ]
    check "$name: ring went on" [ "$(count "$work/$name.json" "r['variant'] == 'ring' and r['outcome'] == 'ok'")" -gt 0 ]
}

# ---- workers that stop ----
stop_at stop-in-init "init communicator" -e 64K --init-timeout 15
stop_at stop-in-cell "cell allreduce 4K" -e 64K
stop_at stop-in-check "check" -b 256M -e 256M -c 600

# ---- processes that are killed ----
kill_one() { # NAME WHAT: the controller (rank 0), an agent (rank 1), or mpirun itself
    local name=$1 what=$2 pid left
    start "$name" -e 16M --only ring
    until_true at_step "$name" ring 1 "cell allreduce 64K"
    case $what in
    mpirun) pid=$run ;;
    controller) pid=$(pgrep -x linkperf | sort -n | head -n 1) ;;
    agent) pid=$(pgrep -x linkperf | sort -n | tail -n 1) ;;
    esac
    kill -9 "$pid"
    sleep 3
    left=$(living)
    finish "$name"
    check "$name: nothing left after 3 s" [ "$left" -eq 0 ]
    [ -e "$work/$name.json" ] || mv "$work/$name.json.part" "$work/$name.json"
    check "$name: default's cells are kept" [ "$(count "$work/$name.json" "r['variant'] == 'default' and r['outcome'] == 'ok'")" -eq 88 ]
}
kill_one kill-agent agent
kill_one kill-controller controller
kill_one kill-mpirun mpirun

# ---- settings and machines ----
start buffsize-16M -b 1K -e 64M --variant 'buffsize: NCCL_BUFFSIZE=16M' --only buffsize --no-lint buffsize
finish buffsize-16M
check "buffsize-16M: smaller sizes are kept" [ "$(count "$work/buffsize-16M.json" "r['variant'] == 'buffsize' and r['outcome'] == 'ok'")" -gt 0 ]
check "buffsize-16M: the crash is reported" [ "$(count "$work/buffsize-16M.json" "r['variant'] == 'buffsize' and r['outcome'] == 'crash'")" -gt 0 ]

python3 -c "
import sys, torch
held = torch.empty(120 << 30, dtype=torch.uint8, device='cuda:0')
print('held', flush=True)
sys.stdin.read()" < <(sleep 120) >"$work/held" 2>&1 &
holder=$!
until_true grep -q held "$work/held"
start little-memory -b 1G -e 32G --only ring --no-link -n 2
finish little-memory
kill "$holder"
check "little-memory: what does not fit is skipped" [ "$(count "$work/little-memory.json" "r['outcome'] == 'skipped' and 'free' in r['reason']")" -gt 0 ]
check "little-memory: what fits is measured" [ "$(count "$work/little-memory.json" "r['outcome'] == 'ok'")" -gt 0 ]
check "little-memory: exit 0" [ "$rc" -eq 0 ]

small_shm() { # NAME VARIANT: with 8 MiB of /dev/shm
    began=$(date +%s.%N)
    unshare -m sh -c "mount -t tmpfs -o size=8m tmpfs /dev/shm && exec mpirun -np 2 '$linkperf' -e 64M --no-link --only p2p \
        --variant '$2' --log-dir '$work/$1' -J '$work/$1.json'" >"$work/$1.out" 2>"$work/$1.err" &
    run=$!
    finish "$1"
}
small_shm shm-cumem 'p2p: NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0'
check "shm-cumem: p2p-off works, nothing is skipped" [ "$(count "$work/shm-cumem.json" "r['variant'] == 'p2p' and r['outcome'] != 'ok'")" -eq 0 ]
small_shm shm-files 'p2p: NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0 NCCL_CUMEM_HOST_ENABLE=0'
check "shm-files: default is measured" [ "$(count "$work/shm-files.json" "r['variant'] == 'default' and r['outcome'] != 'ok'")" -eq 0 ]
grep -h "^hint:" "$work"/*.out | sort -u
exit "$failed"
