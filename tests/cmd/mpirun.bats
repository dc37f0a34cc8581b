#!/usr/bin/env bats
# One process a rank under mpirun: the same run through agents, where workers may run, and what becomes of everything when
# mpirun or a user ends it.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

# Under mpirun in the background, long enough to be ended in its middle.
start_long() {
    start mpirun --oversubscribe -np "$1" "$LINKPERF" --device host --no-link --timing graph,pipelined -J r.json --log-dir logs
    wait_for 60 has_records 30 || fail "no 30 records"
}

@test "2 ranks: the same as one process, told by rank 0" {
    lpmpi 2 -b 1K -e 4K -J r.json
    want_code 0
    want 'd["complete"] is True and d["launch"] == "mpirun" and "Open MPI" in d["versions"]["mpi"]' \
        '[(r["rank"], r["local_rank"]) for r in d["ranks"]] == [(0, 0), (1, 1)]' \
        'outcomes(p) == {"ok"} and sum(r["path"] != "cpu_exchange" for r in p) == 8' 'outcomes(c) == {"ok", "unsupported"} and len(c) == 60' \
        '{r["reason"] for r in c if r["outcome"] == "unsupported"} == {"no algorithm/protocol available for function AllGather. NCCL_ALGO was set to Tree."}' \
        'all(r["collective"] == "allgather" and r["variant"] == "tree" for r in c if r["outcome"] == "unsupported")'
    [ "$(grep -c '^verdict: ' out)" = 1 ] || fail "not one verdict"
    [ "$(grep -cE '^linkperf: \[[1-5]/5\] ' err)" = 5 ] || fail "not one line a variant"
    ! grep -q '^linkperf: ' out || fail "progress on stdout"
    [ ! -e r.json.part ]
}

@test "3 ranks, every timing mode" {
    lpmpi 3 -b 1K -e 4K -f 4 --timing graph,pipelined,isolated --only tree,p2p-off -J r.json
    want_code 0
    want 'len(d["ranks"]) == 3 and len(c) == 4 * 24 and sum(r["path"] != "cpu_exchange" for r in p) == 16' 'outcomes(c) == {"ok", "unsupported"}' \
        'all(r["checked"] > 0 for r in c if r["outcome"] == "ok")'
}

@test "8 ranks" {
    lpmpi 8 --no-link -b 1K -e 1K -n 4 --only tree -d bfloat16 -J r.json
    want_code 0
    want 'len(d["ranks"]) == 8 and len(c) == 3 * 4' 'outcomes(c) == {"ok", "unsupported"}'
}

@test "one rank under mpirun" {
    lpmpi 1 "${QUICK[@]}" --only ring -J r.json
    want_code 0
    want 'len(d["ranks"]) == 1 and d["launch"] == "mpirun"' 'outcomes(c) == {"ok"}'
}

@test "--dry-run, and a mistake, are told once" {
    lpmpi 2 --dry-run
    want_code 0
    [ "$(grep -c '^plan: ' out)" = 1 ] || fail "not one plan"
    lpmpi 2 -d flout
    want_code 2
    [ "$(grep -c "^linkperf: .*'flout'" err)" = 1 ] || fail "not told once"
    lpmpi 2 --worker /nowhere/worker
    want_code 2
    [ "$(grep -c '^linkperf: .*/nowhere/worker' err)" = 1 ] || fail "not told once"
}

@test "relative paths mean the same to every rank" {
    mkdir sub
    lpmpi 2 "${QUICK[@]}" --only ring -J sub/../r.json --log-dir sub/logs
    want_code 0
    want 'd["complete"] is True'
    [ -s sub/logs/crew001-survey-rank1.log ]
}

@test "workers may use mpirun's CPUs, though Open MPI bound each rank to one core" {
    [ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
    to_files mpirun -np 2 --bind-to core "$LINKPERF" --device host "${QUICK[@]}" --only ring -J r.json
    want_code 0
    want "{r['cpus'] for r in d['ranks']} == {'$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)'}"
}

@test "--bind inherit keeps the binding" {
    [ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
    to_files mpirun -np 2 --bind-to core "$LINKPERF" --device host "${QUICK[@]}" --only ring --bind inherit -J r.json
    want_code 0
    want 'd["ranks"][0]["cpus"] != d["ranks"][1]["cpus"]' 'all(r["cpus"].isdigit() for r in d["ranks"])'
}

@test "a user's own taskset is kept" {
    to_files taskset -c 0 mpirun --oversubscribe -np 2 "$LINKPERF" --device host "${QUICK[@]}" --only ring -J r.json
    want_code 0
    want '{r["cpus"] for r in d["ranks"]} == {"0"}'
}

@test "SIGTERM to mpirun: the file is assembled, and everybody leaves" {
    start_long 2
    kill -TERM "$main"
    collect
    [ "$code" != 0 ] || fail "exit code 0"
    wait_for 5 nobody_left || fail "somebody is left"
    want 'd["complete"] is False and "signal" in d["ended"] and len(c) >= 30'
    [ ! -e r.json.part ] || fail "r.json.part is left"
    want_line out '^INCOMPLETE RUN'
    want_line out 'linkperf show r.json'
}

@test "Ctrl-C: the same" {
    start_long 3
    kill -INT "$main"
    collect
    wait_for 5 nobody_left || fail "somebody is left"
    want 'd["complete"] is False and len(c) >= 30'
    want_line out '^INCOMPLETE RUN'
}

@test "kill -9 of mpirun: agents and workers are gone within seconds" {
    start_long 3
    kill -KILL "$main"
    wait_for 5 nobody_left || fail "somebody is left"
    want 'd["complete"] is False and len(c) >= 30'
}

# process_of RANK: the linkperf that mpirun started as that rank.
process_of() {
    local pid
    for pid in $(named '/linkperf --device'); do
        if tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1"; then echo "$pid"; fi
    done
}

@test "kill -9 of another rank's process: the run ends with what it has" {
    start_long 2
    kill -KILL "$(process_of 1)"
    collect
    [ "$code" != 0 ] || fail "exit code 0"
    wait_for 5 nobody_left || fail "somebody is left"
    want 'd["complete"] is False and len(c) >= 30'
}

@test "kill -9 of rank 0's process: everybody leaves, and the journal shows what was measured" {
    start_long 3
    kill -KILL "$(process_of 0)"
    collect
    [ "$code" != 0 ] || fail "exit code 0"
    wait_for 5 nobody_left || fail "somebody is left"
    to_files "$LINKPERF" show r.json.part
    want_code 0
    want_line out '^INCOMPLETE RUN: it did not reach its end'
    want_line out '^AllReduce, '
}

@test "no socket outlives the run" {
    start_long 2
    # names are bound by the listener, which is gone, and kept by the connections that it took
    sockets=$(for pid in $(ours); do find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null; done | tr -dc '0-9\n')
    grep -F '@linkperf-' /proc/net/unix | awk '{ print $7 }' | grep -xFf <(echo "$sockets") >inodes || fail "no socket of ours while it runs"
    kill -TERM "$main"
    collect
    ! awk '{ print $7 }' /proc/net/unix | grep -qxFf inodes || fail "a socket is left"
}
