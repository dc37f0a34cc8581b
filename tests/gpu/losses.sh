#!/usr/bin/env bash
# A run on GPUs whose workers are taken away by hand: what is reported, and what is left. Prints "ok NAME" or "not ok NAME".
#   tests/gpu/losses.sh [LINKPERF]    exit 77 without two GPUs
# shellcheck disable=SC1091,SC2154
set -u
linkperf=${1:-./linkperf}
# shellcheck source=tests/gpu/lib.bash
. "$(dirname "$0")/lib.bash"
need_gpus 2

lose() { # NAME SIGNAL: a worker of rank 1 gets SIGNAL in the middle of the variant ring
    local name=$1 signal=$2 run rc start=$SECONDS
    mpirun -np 2 "$linkperf" -e 16M --only ring,tree --log-dir "$work/$name" -J "$work/$name.json" >"$work/$name.out" 2>"$work/$name.err" &
    run=$!
    until_true at_step "$name" ring 1 "cell allreduce 64K"
    kill "-$signal" "$(worker_pid "$name" ring 1)"
    wait "$run"
    rc=$?
    echo "# $name: exit $rc after $((SECONDS - start)) s"
    grep -E "^(ring|default|tree): (crash|hang)" "$work/$name.out"
    check "$name: exit 4" [ "$rc" -eq 4 ]
    check "$name: nothing left" until_true nothing_left
    check "$name: one cell lost" [ "$(count "$work/$name.json" "r['outcome'] in ('hang', 'crash')")" -eq 1 ]
    check "$name: the rest of ring was measured" [ "$(count "$work/$name.json" "r['variant'] == 'ring' and r['outcome'] == 'ok'")" -gt 80 ]
    check "$name: tree was measured" [ "$(count "$work/$name.json" "r['variant'] == 'tree' and r['outcome'] == 'ok'")" -gt 40 ]
}

lose killed KILL
lose stopped STOP

# SIGKILL for every process of a run: the journal gives the tables.
mpirun -np 2 "$linkperf" -e 16M --only ring --log-dir "$work/journal" -J "$work/journal.json" >/dev/null 2>&1 &
run=$!
until_true at_step journal ring 1 "cell allreduce 64K"
pkill -9 -x linkperf
wait "$run" 2>/dev/null
check "journal: nothing left" until_true nothing_left
"$linkperf" show "$work/journal.json.part" >"$work/show.out"
check "journal: show succeeds" [ $? -eq 0 ]
check "journal: says that it is incomplete" grep -q "INCOMPLETE" "$work/show.out"
check "journal: default's cells are there" grep -Eq "^ *4M +[0-9]" "$work/show.out"
grep -A14 "^AllReduce.*out of place" "$work/show.out" | head -16
exit "$failed"
