#!/usr/bin/env bats
# Usage, files that cannot be written, and files that cannot be read: what is refused, with which words and exit code.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

# refused CODE TEXT ARGS...: one line of error, nothing on stdout.
refused() {
    local want=$1 text=$2
    shift 2
    lp "$@"
    want_code "$want"
    want_error "$text"
    [ ! -s out ] || fail "something on stdout"
}

@test "usage: exit 2, the value and what would be accepted" {
    refused 2 "'flout'.*float, double, int32, half" -d flout
    refused 2 "'avg'.*sum, min" -o avg
    refused 2 "'fast'.*graph, pipelined, isolated" --timing graph,fast
    refused 2 "'upper'.*out, in" --placement upper
    refused 2 "'alltoall'.*allreduce" --collectives allreduce,alltoall
    refused 2 "'tpu'.*auto, cuda, host" --device tpu
    refused 2 "'core'.*auto, inherit" --bind core
    refused 2 "'1MB'" -b 1MB
    refused 2 "'-4'" -b -4
    refused 2 "0: a size of at least 1" -e 0
    refused 2 "above" -b 4K -e 1K
    refused 2 "contradict" -f 2 -i 1K
    refused 2 "'1'" -f 1
    refused 2 "'0'" -n 0
    refused 2 "'many'" --ranks many
    refused 2 "'0'" --timeout 0
    refused 2 "'-1'" --slowness -1
    refused 2 "nothing to measure" --no-link --no-collectives
    refused 2 "empty" --timing ''
    refused 2 "NCCL_ALGO=Ring.*--variant" NCCL_ALGO=Ring
    refused 2 "unexpected argument 'run'" run
    LINKPERF_SLOWNESS=slow refused 2 "'slow'"
}

@test "an unknown option: exit 2 and a pointer to --help" {
    lp --no-such-option
    want_code 2
    want_line err '--no-such-option'
    want_line err '--help'
    lp --ranks
    want_code 2
    want_line err "ranks"
}

@test "a worker that is not there, or is no program: exit 2 or 3 and its path" {
    refused 2 '--worker nowhere/worker: No such file' --worker nowhere/worker
    echo text >text
    lp "${QUICK[@]}" --worker text
    want_code 3
    want_error '/text: Permission denied'
    printf '#!/bin/sh\nexit 0\n' >leaves
    chmod +x leaves
    refused 3 "left with exit code 0" "${QUICK[@]}" --worker leaves
    printf '#!/bin/sh\necho out of luck >&2; exit 5\n' >leaves
    refused 3 "left with exit code 5.*out of luck" "${QUICK[@]}" --worker leaves
}

@test "a worker that says nothing is given up after --init-timeout" {
    printf '#!/bin/sh\nexec sleep 60\n' >mute
    chmod +x mute
    refused 3 "no answer within 1 s" --init-timeout 2 --slowness 0.5 --worker mute
    LINKPERF_SLOWNESS=0.5 refused 3 "no answer within 1 s" --init-timeout 2 --worker mute
}

@test "-J: what is there already" {
    echo precious >r.json.part
    refused 3 'r.json.part is left from a run that did not end.*linkperf show' "${QUICK[@]}" -J r.json
    [ "$(cat r.json.part)" = precious ]
    rm r.json.part
    mkdir folder
    refused 3 'folder is not a regular file' "${QUICK[@]}" -J folder
    refused 3 '/dev/full is not a regular file' "${QUICK[@]}" -J /dev/full
    refused 3 'nowhere/r.json.part: No such file' "${QUICK[@]}" -J nowhere/r.json
    # a result that is there is replaced once there is a new one
    echo old >r.json
    lp "${QUICK[@]}" --only ring -J r.json
    want_code 0
    want 'd["complete"] is True'
}

@test "-J in a folder that cannot be written" {
    mkdir closed
    chmod a-w closed
    # root may write anywhere, except in /proc
    local folder=closed
    [ "$(id -u)" != 0 ] || folder=/proc/self
    refused 3 "$folder/r.json.part: " "${QUICK[@]}" -J "$folder/r.json"
    lp "${QUICK[@]}" --log-dir "$folder/logs"
    want_code 3
    want_error "$folder/logs: "
}

@test "a disk that fills up is said once, and the run ends in exit 3" {
    # a limit on the size of the controller's files stands in for the disk; memory of workers is none of those
    printf '#!/bin/bash\nulimit -S -f unlimited\nexec %q "$@"\n' "$WORKER" >worker
    chmod +x worker
    code=0
    LPTEST=$MARK bash -c 'trap "" XFSZ; ulimit -S -f 8; exec "$0" "$@"' "$LINKPERF" --device host "${QUICK[@]}" --only ring \
        -J r.json --worker ./worker --log-dir logs >out 2>err || code=$?
    want_code 3
    [ "$(grep -c '^linkperf: the journal cannot be written: .*r.json.part: File too large; the run goes on' err)" = 1 ] || fail "not said once"
    want_line err '^linkperf: the result was not written: '
    want_line out '^verdict: 24 cells, 24 ok'
    [ -s r.json.part ] || fail "the journal is gone"
    [ ! -e r.json ] || fail "half a result"
}

@test "stdout that cannot be written: exit 3 and a line, and the file is whole" {
    code=0
    LPTEST=$MARK "$LINKPERF" --device host "${QUICK[@]}" --only ring -J r.json --log-dir logs >/dev/full 2>err || code=$?
    : >out
    want_code 3
    want_line err '^linkperf: the tables could not be written to stdout: No space left on device'
    want 'd["complete"] is True and outcomes(c) == {"ok"}'
    code=0
    "$LINKPERF" show r.json >/dev/full 2>err || code=$?
    want_code 3
    want_line err 'could not be written to stdout'
}

@test "a closed pipe ends nothing before the file is written" {
    code=0
    LPTEST=$MARK "$LINKPERF" --device host "${QUICK[@]}" --only ring -J r.json --log-dir logs 2>err | head -n 1 >out || true
    want 'd["complete"] is True'
}

@test "show refuses what is not a result: exit 3, one line with the file" {
    show() {
        to_files "$LINKPERF" show "$@"
    }
    show nowhere.json
    want_code 3
    want_error 'nowhere.json: No such file'
    printf 'garbage\n' >garbage
    show garbage
    want_code 3
    want_error 'garbage: not a linkperf result'
    : >empty
    show empty
    want_code 3
    want_error 'empty: not a linkperf result'
    echo '{"schema": "linkperf/99"}' >future
    show future
    want_code 3
    want_error "future: schema is 'linkperf/99'"
    echo '[1, 2]' >list
    show list
    want_code 3
    want_error list
    head -c 300 /dev/urandom >noise
    show noise
    want_code 3
    want_error noise
    show .
    want_code 3
    want_error '[.]: '
}

@test "show and its usage" {
    to_files "$LINKPERF" show
    want_code 2
    want_line err 'which file'
    to_files "$LINKPERF" show a b
    want_code 2
    want_line err "'b' is one too many"
    to_files "$LINKPERF" show --wide a
    want_code 2
}

@test "show refuses a result with broken parts, rather than leaving them out" {
    lp "${QUICK[@]}" --only ring -J r.json
    want_code 0
    sed '0,/"outcome": "ok",/! { 0,/"outcome": "ok"/ s/"outcome": "ok"/"outcome": "fine"/ }' r.json >odd.json
    sed -i '/"collectives"/,$ s/"outcome": "ok"/"outcome": "fine"/' odd.json
    to_files "$LINKPERF" show odd.json
    want_code 3
    want_error "fine"
    head -c 5000 r.json >half.json
    to_files "$LINKPERF" show half.json
    want_code 3
    want_error 'half.json: not a linkperf result'
}

@test "show of journals: a whole one, one cut in its last line, one with garbage in its middle" {
    start "$LINKPERF" --device host --no-link --timing graph,pipelined -J r.json --log-dir logs
    wait_for 20 has_records 12
    kill -KILL "$main"
    wait_for 5 nobody_left
    head -n 11 r.json.part >ten.part # the head and ten records
    to_files "$LINKPERF" show ten.part
    want_code 0
    want_line out '^verdict: 10 cells, 10 ok'
    want_line out '^INCOMPLETE RUN'
    head -c -30 ten.part >cut.part
    to_files "$LINKPERF" show --long cut.part
    want_code 0
    want_line out '^verdict: 9 cells, 9 ok'
    sed '5s/.*/garbage/' ten.part >bad.part
    to_files "$LINKPERF" show bad.part
    want_code 3
    want_error 'not JSON'
    head -n 1 ten.part >head.part
    to_files "$LINKPERF" show head.part
    want_code 0
    want_line out '^no cell was measured'
    head -c 100 ten.part >stub.part
    to_files "$LINKPERF" show stub.part
    want_code 3
    want_error 'stub.part: not a linkperf result'
}
