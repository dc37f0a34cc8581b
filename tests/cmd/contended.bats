#!/usr/bin/env bats
# A run beside somebody else: loops that want every CPU, on a machine that need not be quiet otherwise.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
    busy=()
}

teardown() {
    calm
    finish
}

# Twice as many busy loops as there are CPUs: at least half of the time is theirs.
disturb() {
    local n
    n=$(nproc)
    while [ ${#busy[@]} -lt $((2 * n)) ]; do
        LPTEST=$MARK yes >/dev/null 3>&- &
        busy+=($!)
    done
}

calm() {
    [ ${#busy[@]} = 0 ] || kill "${busy[@]}" 2>/dev/null || true
    for pid in "${busy[@]}"; do wait "$pid" 2>/dev/null || true; done
    busy=()
}

# Crews of a second or so. One rank waits for nobody: two that meet at a barrier beside busy loops take a minute.
beside() {
    lp --ranks 1 --collectives allreduce --placement out --timing graph,pipelined,isolated -b 1K -e 1M --only ring "$@" -J r.json
}

@test "crews beside busy loops are contended: marks, a warning, and no part in claims" {
    disturb
    beside
    calm
    want_code 0
    want 'len(d["crews"]) == 3 and all(w["contended"] and not w["throttled"] and w["gpus"] == [] for w in d["crews"])' \
        'all(.25 < w["cpu_load_others"] <= 1 for w in d["crews"])' \
        'len([w for w in d["warnings"] if "take no part in claims" in w]) == 1' \
        'sorted(w["crew"] for w in d["crews"]) == sorted({r["crew"] for r in c}) and outcomes(c) == {"ok"}'
    want_line out '^variant +outcome +environment '
    want_line out '^ring +ok +contended '
    want_line out "^default again: crew [0-9]+ contended: other processes took [0-9]+ % of the CPUs' time; no part in claims\$"
    want_line err "^linkperf: other processes took [0-9]+ % of the CPUs' time while 'default' ran: "
}

@test "--strict: exit 3, with the whole result" {
    disturb
    beside --strict
    calm
    want_code 3
    want 'd["complete"] and outcomes(c) == {"ok"} and {w["contended"] for w in d["crews"]} == {True}'
    want_line err '^linkperf: --strict: 3 crews were contended or throttled$'
    want_line out '^no cell failed$'
}
