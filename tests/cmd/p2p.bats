#!/usr/bin/env bats
# `linkperf p2p` where peer access is not what the driver says, on fake GPUs with faults; more ranks; under mpirun.

# shellcheck disable=SC2034,SC2154 # code, main and FAULTY belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

# gpus N FAULT ARGS...: the link of N fake GPUs with that fault.
gpus() {
    local n=$1 fault=$2
    shift 2
    to_files env LINKPERF_FAKE_GPUS="$n" LINKPERF_FAULT="$fault" "$LINKPERF" p2p --ranks "$n" --worker "$FAULTY" -b 1M -e 1M -n 1 \
        -w 1 -J r.json --log-dir logs "$@"
}

# state SRC DST: what is true of that pair, in one process and between two.
state() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
pairs = json.load(open("r.json"))["topology"]["pairs"]
pair = next(t for t in pairs if [t["src"], t["dst"]] == [int(a) for a in sys.argv[1:]])
print(pair["one_process"]["state"], "/", pair["between_processes"]["state"])
PYTHON
}

want_state() { # SRC DST STATE
    [ "$(state "$1" "$2")" = "$3" ] || fail "GPU $1 -> $2 is '$(state "$1" "$2")', not '$3'"
}

@test "the driver says no: unsupported with its word, the rest goes on" {
    gpus 3 no-peer@from=0,to=1
    want_code 0
    want 'outcomes(p) == {"ok", "unsupported"}' 'next(t for t in d["topology"]["pairs"] if t["src"] == 0 and t["dst"] == 1)["peer_access"] is False' \
        'all("the driver says no" in r["reason"] for r in p if r["outcome"] == "unsupported")' \
        'all(r["outcome"] == "ok" for r in p if r["path"] in ("ce_staged", "pinned_staged", "on_card"))'
    want_state 0 1 "no / yes" # the mapping of another process's memory works here
    want_state 1 0 "yes / yes"
    want_line out 'peer access in one process: no: GPU 0 -> GPU 1: the driver says no'
}

@test "the driver says yes and enabling fails: no, with CUDA's name for it" {
    gpus 2 fake-peer@from=1,to=0
    want_code 0
    want_state 1 0 "no / yes"
    want 'next(t for t in d["topology"]["pairs"] if t["src"] == 1)["enable_error"].endswith("(cudaErrorMapBufferObjectFailed)")' \
        'all("cudaErrorMapBufferObjectFailed" in r["reason"] for r in p if r["outcome"] == "unsupported")'
    want_line out 'peer access in one process: no: GPU 1 -> GPU 0: .*cudaErrorMapBufferObjectFailed'
}

@test "the driver says yes and the data is wrong: by every path, staged ways are right, exit 6" {
    gpus 2 corrupt-peer@from=0,to=1,at=last
    want_code 6
    want 'outcomes([r for r in p if r["path"] in ("ce_write", "ce_read", "sm_write", "sm_read", "memcpy", "load_latency") and (r["src"], r["dst"]) == (0, 1) and r["processes"] == "one"]) == {"wrong"}' \
        'outcomes([r for r in p if r["path"] in ("ce_staged", "pinned_staged", "pinned_to_gpu", "on_card")]) == {"ok"}' \
        'outcomes([r for r in p if (r["src"], r["dst"]) == (1, 0)]) == {"ok"}' \
        'all(r["gbps"] is None or r["gbps"] > 0 for r in p)'
    want_state 0 1 "says yes, data wrong / yes"
    want_line out 'peer access in one process: says yes, data wrong: GPU 0 -> GPU 1'
    want_line out ' wrong!'
}

@test "wrong data between processes only" {
    gpus 2 corrupt-peer@rank=1
    want_code 6
    want_state 1 0 "yes / says yes, data wrong"
}

@test "the driver says yes and copies hang: P2P is given up after the first, everything else is there" {
    gpus 2 stall-peer@from=0,to=1 "${SHORT[@]}"
    want_code 4
    want 'len([r for r in p if r["outcome"] == "hang"]) == 1' \
        'all(r["reason"] == "not tried: a copy with P2P hung before" for r in p if r["outcome"] == "skipped")' \
        'outcomes([r for r in p if r["path"] in ("ce_staged", "pinned_staged", "pageable_to_gpu")]) == {"ok"}'
    want_state 0 1 "says yes, hangs / unknown"
    want_line out 'peer access in one process: says yes, hangs: GPU 0 -> GPU 1'
}

@test "memory of other processes cannot be mapped: its pairs only, and no baseline" {
    gpus 3 no-ipc@rank=1
    want_code 0
    want 'd["baseline"]["gbps"] is None and "cudaErrorPeerAccessUnsupported" in d["baseline"]["reason"]' \
        'sorted((r["src"], r["dst"]) for r in p if r["processes"] == "ipc" and r["outcome"] == "ok" and r["pattern"] == "one_way") == [(0, 1), (0, 2), (2, 0), (2, 1)]'
    want_state 1 0 "yes / no"
    want_state 0 1 "yes / yes"
}

@test "one link is worse than the others: it is named, and gets curves of its own" {
    gpus 4 slow-peer@from=2,to=3
    want_code 0
    want 'any((o["src"], o["dst"]) == (2, 3) and o["what"] == "slow" for o in d["outliers"])' \
        'len([r for r in p if r["path"] == "sm_write" and r["processes"] == "one" and (r["src"], r["dst"]) == (2, 3) and r["pattern"] == "one_way"]) == 2' \
        'any(r["timing"] == "isolated" and (r["src"], r["dst"]) == (2, 3) for r in p)' \
        '{(r["src"], r["dst"]) for r in p if r["timing"] == "isolated" and r["processes"] == "one" and r["path"] == "sm_write"} <= {(0, 1), (1, 0)} | {(o[a], o[b]) for o in d["outliers"] for a, b in (("src", "dst"), ("dst", "src"))}'
    want_line out '^outlier: .*GPU 2 -> GPU 3: '
}

@test "8 processes on host memory; 4 under mpirun" {
    to_files "$LINKPERF" p2p --device host --ranks 8 -n 1 -w 1 -b 1M -e 1M -J r.json
    want_code 0
    want 'outcomes(p) == {"ok"} and len([r for r in p if r["path"] == "cpu_write" and r["pattern"] == "one_way" and r["timing"] == "queued"]) == 57' \
        'len([r for r in p if r["path"] == "cpu_flag"]) == 28'
    to_files mpirun --oversubscribe -np 4 "$LINKPERF" p2p --device host -n 1 -w 1 -b 1M -e 1M -J mpi.json
    want_code 0
    RESULT=mpi.json want 'outcomes(p) == {"ok"} and d["launch"] == "mpirun" and len(d["ranks"]) == 4'
}

@test "unchecked copies are said to be so, and prove nothing about peers" {
    gpus 2 none -c 0
    want_code 0
    want 'all(r["checked"] == 0 for r in p)'
    want_state 0 1 "unknown / unknown"
}
