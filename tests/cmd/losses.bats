#!/usr/bin/env bats
# Workers that die, stall, lie or refuse: what the record says, what the rest of the run does, and that nothing stays behind.
# What LINKPERF_FAULT can say is in tests/fakes/fault.h.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

# faulty FAULT ARGS...: default, the variant "bad" that has the fault, and default again; 8 cells each.
faulty() {
    local fault=$1
    shift
    lp "${QUICK[@]}" "${FEW[@]}" --worker "$FAULTY" --only bad --variant "bad: LINKPERF_FAULT=$fault" --log-dir logs -J r.json "$@"
}

# The other variants are whole, and no worker is left when linkperf is gone.
others_are_whole() {
    nobody_left || fail "somebody is left: $(ours)"
    want 'd["complete"] is True' 'outcomes(cells("default")) == outcomes(cells("default", 1)) == {"ok"}' \
        'len(cells("default")) == len(cells("default", 1)) == len(cells("bad"))'
}

# The variant's first two cells have the outcome, each in a crew of its own, and what is left is not tried.
ends_after_two() {
    others_are_whole
    want "[r['outcome'] for r in cells('bad')] == ['$1'] * 2 + ['skipped'] * 6" \
        'len(variant("bad")["crews"]) == 2 and variant("bad")["outcome"] == "failed"' \
        '[r["crew"] for r in cells("bad")][:2] == variant("bad")["crews"]' \
        'all(r["reason"].startswith("not tried: the variant keeps failing (") for r in cells("bad")[2:])' \
        'all(r["time_us"] is None and r["busbw_gbps"] is None and r["samples_us"] == [] for r in cells("bad"))'
    want_line out '^bad: failed: not tried: the variant keeps failing'
    want_line out "^$1: 2 cells$"
    want_line out '^skipped: 6 cells$'
    want_line err '^linkperf: \[2/3\] bad: 8 cells, 0 ok, .*6 skipped'
}

@test "SIGSEGV in a cell: crash, with rank, phase and log" {
    faulty segv@rank=1
    want_code 4
    ends_after_two crash
    want 'all("rank 1 " in r["reason"] and "signal 11" in r["reason"] and "warm up" in r["reason"] for r in cells("bad")[:2])' \
        '"cell allreduce 1K out of place graph" in cells("bad")[0]["reason"]'
    want_line out '^ +1K .* crash'
    want_line out '^bad: log .*/logs/crew[0-9]+-bad-rank1.log$'
}

@test "SIGFPE under mpirun, on the other rank: the same" {
    to_files mpirun --oversubscribe -np 3 "$LINKPERF" --device host "${QUICK[@]}" "${FEW[@]}" --worker "$FAULTY" --only bad \
        --variant 'bad: LINKPERF_FAULT=fpe@rank=2' --log-dir logs -J r.json
    want_code 4
    ends_after_two crash
    want 'all("rank 2 " in r["reason"] and "signal 8" in r["reason"] for r in cells("bad")[:2])'
}

@test "a worker that leaves early with exit code 0: crash" {
    faulty exit0@rank=0,after=8
    want_code 4
    ends_after_two crash
    want 'all("rank 0 " in r["reason"] and "left with exit code 0" in r["reason"] for r in cells("bad")[:2])' \
        'all("'"'time "'" in r["reason"] for r in cells("bad")[:2])'
}

@test "one bad size: a new crew goes on with the next cell" {
    faulty segv@size=4K --placement out --collectives allreduce -b 1K -e 16K -f 4
    want_code 4
    others_are_whole
    want '[r["outcome"] for r in cells("bad")] == ["ok", "crash", "ok"]' 'len(variant("bad")["crews"]) == 2' \
        'variant("bad")["outcome"] == "partly"'
}

@test "three bad cells in all end the variant, also apart" {
    faulty segv@size=4K --placement out --timing pipelined,isolated,graph
    want_code 4
    others_are_whole
    # the sizes are 1K and 4K, for both collectives and three modes: every second cell is bad
    want '[r["outcome"] for r in cells("bad")] == ["ok", "crash", "ok", "crash", "ok", "crash"] + ["skipped"] * 6' \
        'len(variant("bad")["crews"]) == 3'
}

@test "a stall in a cell: hang, with where every rank was" {
    faulty stall-coll@rank=1 "${SHORT[@]}"
    want_code 4
    ends_after_two hang
    want 'all(r["reason"].startswith("no answer within") and all("rank %d is calling the library in '"'warm up 1 x 1'"'" % rank in r["reason"] for rank in (0, 1)) for r in cells("bad")[:2])'
    want_line out '^ +1K .* hang'
}

@test "a stall in init: hang, named after its phase" {
    faulty stall-init@rank=1 "${SHORT[@]}"
    want_code 4
    ends_after_two hang
    want "all(re.search(\"rank 0 is done with 'init communicator'; rank 1 is .* in 'init communicator'\", r['reason']) for r in cells('bad')[:2])"
}

@test "a stall in shutdown: killed after its limit, and nothing is lost" {
    # its limit is 20 s x slowness; others stay long
    faulty stall-end@rank=1 --slowness 0.05 --timeout 200
    want_code 0
    others_are_whole
    want 'outcomes(c) == {"ok"}' 'variant("bad")["seconds"]["end"] > 0.9'
}

@test "a worker that ignores SIGTERM and does not leave is killed" {
    faulty ignore-term --slowness 0.05 --timeout 200
    want_code 0
    others_are_whole
}

@test "a slow start is no loss" {
    faulty slow-init@seconds=1,rank=1
    want_code 0
    others_are_whole
    want 'outcomes(c) == {"ok"}' 'variant("bad")["seconds"]["init"] > 0.9'
}

@test "a library that refuses: failed with its reason, asked once, exit 3" {
    faulty fail-init@rank=1
    want_code 3
    others_are_whole
    want 'outcomes(cells("bad")) == {"failed"}' 'reasons(cells("bad")) == ["the faulty library refuses rank 1"]' \
        'len(variant("bad")["crews"]) == 1 and variant("bad")["outcome"] == "failed"'
    want_line out '^bad: failed: the faulty library refuses rank 1$'
}

@test "a library that cannot be loaded under one variant: failed; under all: collectives are left out" {
    faulty no-library
    want_code 3
    others_are_whole
    want 'outcomes(cells("bad")) == {"failed"} and reasons(cells("bad")) == ["libfaulty.so.2 cannot be opened"]'
    LINKPERF_FAULT=no-library lp --worker "$FAULTY" --log-dir logs -J s.json
    want_code 3
    want_line err '^linkperf: collectives are left out: libfaulty.so.2 cannot be opened'
    RESULT=s.json want 'c == [] and outcomes(p) == {"ok"} and d["complete"] is True'
}

@test "a driver that is not fit: exit 3 with its words" {
    LINKPERF_FAULT=no-device lp "${QUICK[@]}" --worker "$FAULTY"
    want_code 3
    want_error 'the faulty driver is too old'
    LINKPERF_FAULT=no-device@rank=1 lp "${QUICK[@]}" --ranks 2 --worker "$FAULTY"
    want_code 3
    want_error 'the faulty driver is too old'
}

# wrong FAULT RANK OFFSET_AT_1K OFFSET_AT_4K
wrong() {
    rm -f r.json
    faulty "$1" --timing graph,pipelined
    want_code 6
    others_are_whole
    want 'outcomes(cells("bad")) == {"wrong"} and len(variant("bad")["crews"]) == 1 and variant("bad")["outcome"] == "partly"' \
        "{(r['first_wrong']['rank'], r['size_bytes'], r['first_wrong']['offset_bytes']) for r in cells('bad')} == {($2, 1024, $3), ($2, 4096, $4)}" \
        'all("first on rank %(rank)d at byte %(offset_bytes)d" % r["first_wrong"] in r["reason"] for r in cells("bad"))' \
        'all(r["wrong_iterations"] == r["checked"] > 0 and r["wrong_elements"] == r["checked"] for r in cells("bad"))' \
        'all(r["time_us"]["median"] > 0 for r in cells("bad"))'
}

@test "one wrong element, wherever it is: wrong, with rank and offset, and never the fastest" {
    wrong corrupt@rank=1,at=first 1 0 0
    wrong corrupt@rank=0,at=middle 0 512 2048
    wrong corrupt@rank=1,at=last 1 1020 4092
    [ "$(grep -cE '^ +[14]K .* wrong! .*' out)" = 16 ] || fail "not 16 cells of the table say wrong!"
    ! grep -E '^ +[14]K ' out | grep -qE ' bad( |$)' || fail "a wrong variant is the fastest"
    want_line out '^wrong: 16 cells$'
}

@test "wrong data on one rank of four, in one size, of int32" {
    faulty corrupt@rank=2,at=last,size=1K -d int32 --ranks 4
    want_code 6
    others_are_whole
    want 'all((r["outcome"] == "wrong") == (r["size_bytes"] == 1024) for r in cells("bad"))' \
        '{r["first_wrong"]["rank"] for r in cells("bad") if r["outcome"] == "wrong"} == {2}'
}

@test "the previous operation's output: wrong" {
    faulty stale@rank=0
    want_code 6
    others_are_whole
    want 'outcomes(cells("bad")) == {"wrong"}' '{r["first_wrong"]["rank"] for r in cells("bad")} == {0}'
}

@test "wrong data wins over a hang" {
    lp "${QUICK[@]}" "${FEW[@]}" --worker "$FAULTY" --only dead,bad --variant 'dead: LINKPERF_FAULT=segv' \
        --variant 'bad: LINKPERF_FAULT=corrupt' --log-dir logs -J r.json
    want_code 6
    want 'outcomes(cells("dead")) == {"crash", "skipped"} and outcomes(cells("bad")) == {"wrong"}'
}

@test "wrong data everywhere: nobody is the fastest" {
    LINKPERF_FAULT=corrupt lp "${QUICK[@]}" --only ring --worker "$FAULTY" --log-dir logs -J r.json
    want_code 6
    want 'outcomes(c) == {"wrong"}'
    [ "$(grep -cE '^ +[14]K( +wrong!){3} +-$' out)" = 8 ] || fail "a fastest variant"
}

@test "the link: a copy that stalls, in one direction; collectives are measured all the same" {
    LINKPERF_FAULT=stall-copy@rank=1 lp -b 1K -e 1K "${FEW[@]}" --only ring --timeout 1 --slowness "$(awk "BEGIN { print 0.5 * $SLOWNESS }")" \
        --worker "$FAULTY" --log-dir logs -J r.json
    want_code 4
    want 'outcomes(r for r in p if r["src"] == 0) == {"ok"}' '{r["path"] for r in p if r["outcome"] == "hang"} == {"cpu_write", "cpu_bounce"}' \
        'next(r for r in p if r["pattern"] == "ring")["outcome"] == "hang"' 'outcomes(r for r in p if r["pattern"] == "both_ways") == {"skipped"}' \
        'd["baseline"]["gbps"] is None and "no answer within" in d["baseline"]["reason"]' \
        'outcomes(c) == {"ok"} and len(c) == 12' 'all(r["link_gbps"] is None for r in c)'
    want_line out '^link baseline: .*: none: no answer within'
}

@test "the link: wrong data is no baseline" {
    LINKPERF_FAULT=corrupt-copy@rank=0 lp --no-collectives --worker "$FAULTY" --log-dir logs -J r.json
    want_code 6
    want 'outcomes(r for r in p if r["src"] == 0 or r["pattern"] == "ring") == {"wrong"}' 'outcomes(r for r in p if r["src"] == 1) == {"ok"}' \
        'd["baseline"]["gbps"] is None' '{r["first_wrong"]["rank"] for r in p if r["outcome"] == "wrong"} == {1}'
    want_line out '^link baseline: .*: none: wrong data'
}

# hit SIGNAL OUTCOME TEXT ARGS...: rank 1's worker gets the signal while rank 0 is in a slow operation of 4K.
hit() {
    local sig=$1 outcome=$2 text=$3 slow=$4
    shift 4
    start "$LINKPERF" --device host --no-link -b 1K -e 16K -f 4 --collectives allreduce --placement out "${FEW[@]}" --worker "$FAULTY" \
        --only bad --variant "bad: LINKPERF_FAULT=slow-coll@rank=0,size=4K,seconds=$slow" --log-dir logs -J r.json "$@"
    wait_for 20 log_says 'cell allreduce 4K' -bad-rank1 || fail "rank 1 does not come to 4K"
    kill "$sig" "$(worker 1)"
    collect
    want_code 4
    nobody_left || fail "somebody is left"
    want 'd["complete"] is True and outcomes(cells("default")) == outcomes(cells("default", 1)) == {"ok"}' \
        "[r['outcome'] for r in cells('bad')] == ['ok', '$outcome', 'ok'] and '$text' in cells('bad')[1]['reason']" \
        'len(variant("bad")["crews"]) == 2 and variant("bad")["outcome"] == "partly"'
}

@test "kill -9 of a worker by hand: one cell, then a new crew" {
    hit -KILL crash 'rank 1 ' 30
    want '"signal 9" in cells("bad")[1]["reason"]'
}

@test "SIGSTOP of a worker by hand: one cell, then a new crew" {
    hit -STOP hang 'no answer within' 1 "${SHORT[@]}"
}

@test "logs of a bad run are kept, and said where; those of a good one are not" {
    lp "${QUICK[@]}" --worker "$FAULTY" --only bad --variant 'bad: LINKPERF_FAULT=segv' -J r.json
    want_code 4
    kept=$(sed -n 's/^linkperf: logs of the workers are kept in //p' err)
    [ -d "$kept" ] && grep -q 'init communicator' "$kept"/*-bad-rank0.log
    want "all(l.startswith('$kept/') for v in d['variants'] for l in v['logs'])"
    rm -r "$kept"
}
