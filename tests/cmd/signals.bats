#!/usr/bin/env bats
# A local run that is ended in its middle, by a signal or by force: what it leaves, and what can still be shown.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

# In the background, long enough to be ended in its middle; ARGS besides.
start_long() {
    start "$LINKPERF" --device host --no-link --timing graph,pipelined -J r.json "$@"
    wait_for 20 has_records 30 || fail "no 30 records"
}

# What stands after the head, which was printed before.
summary() {
    sed -n '/^INCOMPLETE RUN/,$p' out
}

ends_well() {
    want 'd["complete"] is False and len(c) >= 30' "'signal $1' in d['ended']" 'outcomes(c) <= {"ok", "unsupported"}'
    [ ! -e r.json.part ] || fail "r.json.part is left"
    want_line out "^INCOMPLETE RUN: ended by signal $1"
    want_line out '^all of it: linkperf show r.json$'
    [ "$(summary | wc -c)" -le 8192 ] || fail "the summary has $(summary | wc -c) bytes"
    to_files "$LINKPERF" show r.json
    want_code 0
    want_line out '^AllReduce, '
}

@test "SIGTERM: exit 143, the file is assembled, a short summary" {
    start_long
    kill -TERM "$main"
    collect
    want_code 143
    nobody_left || fail "a worker is left"
    ends_well 15
}

@test "SIGINT: the same with 130" {
    start_long
    kill -INT "$main"
    collect
    want_code 130
    nobody_left || fail "a worker is left"
    ends_well 2
}

@test "a signal while a worker is stuck, and one worker is stopped" {
    start "$LINKPERF" --device host "${QUICK[@]}" --ranks 3 --only bad --variant 'bad: LINKPERF_FAULT=stall-init@rank=2' \
        --worker "$FAULTY" -J r.json --log-dir logs
    wait_for 20 has_records 8 default || fail "no records"
    wait_for 10 log_says 'init communicator' -bad-rank2 || fail "not in init"
    kill -STOP "$(worker 0)"
    kill -TERM "$main"
    collect
    want_code 143
    want 'd["complete"] is False' 'outcomes(cells("default")) == {"ok"}'
}

two_slow() {
    [ "$(named '/slow --crew' | wc -l)" = 2 ]
}

@test "a signal during the survey: nothing was measured, and nothing is written" {
    mkfifo pipe
    printf '#!/bin/sh\nread -r line <%q/pipe\n' "$PWD" >slow
    chmod +x slow
    start "$LINKPERF" --device host --ranks 2 --worker ./slow -J r.json
    wait_for 10 two_slow || fail "no workers"
    kill -TERM "$main"
    collect
    want_code 143
    [ ! -e r.json ] && [ ! -e r.json.part ]
}

@test "kill -9 of the controller: workers are gone, and its journal shows what was measured" {
    start_long --log-dir logs
    kill -KILL "$main"
    wait_for 5 nobody_left || fail "a worker is left"
    [ ! -e r.json ] && [ -s r.json.part ]
    records=$(grep -c '^{"collective":' r.json.part)
    to_files "$LINKPERF" show r.json.part
    want_code 0
    want_line out '^INCOMPLETE RUN: it did not reach its end'
    want_line out "^verdict: $records cells, "
    want_line out '^AllReduce, '
    # cut inside the last line, as a kill between two writes leaves it
    truncate -s -7 r.json.part
    to_files "$LINKPERF" show r.json.part
    want_code 0
    want_line out "^verdict: $((records - 1)) cells, "
    # and the next run does not write over it
    lp "${QUICK[@]}" -J r.json
    want_code 3
    want_error 'r.json.part is left from a run that did not end'
}

@test "SIGHUP: the same with 129" {
    start_long
    kill -HUP "$main"
    collect
    want_code 129
    ends_well 1
}
