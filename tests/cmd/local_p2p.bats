#!/usr/bin/env bats
# `linkperf p2p` on host memory and on fake GPUs (tests/fakes/fake_gpus.c), all of it right. Also run with sanitizers.

# shellcheck disable=SC2034,SC2154 # code, main and FAULTY belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

# gpus N ARGS...: the link of N fake GPUs in as many ranks.
gpus() {
    local n=$1
    shift
    to_files env LINKPERF_FAKE_GPUS="$n" "$LINKPERF" p2p --ranks "$n" --worker "$FAULTY" "$@"
}

# p2p_host RANKS ARGS...: the same on host memory.
p2p_host() {
    local n=$1
    shift
    to_files "$LINKPERF" p2p --device host --ranks "$n" "$@"
}

@test "2 processes on host memory: direct, bounce, both ways, curves, latency" {
    p2p_host 2 -J r.json
    want_code 0
    want 'c == [] and d["complete"] is True and outcomes(p) == {"ok"} and all(r["checked"] > 0 for r in p)' \
        '{(r["path"], r["pattern"], r["timing"]) for r in p} == {("cpu_write", "one_way", "queued"), ("cpu_bounce", "one_way", "queued"), ("cpu_write", "ring", "queued"), ("cpu_write", "both_ways", "queued"), ("cpu_bounce", "both_ways", "queued"), ("cpu_flag", "both_ways", "queued"), ("cpu_write", "one_way", "isolated"), ("cpu_bounce", "one_way", "isolated")}' \
        'all(len(r["edge_gbps"]) == 2 and r["sum_gbps"] > 0 and 0 <= r["overlap"] <= 1 for r in p if r["pattern"] == "both_ways" and r["path"] != "cpu_flag")' \
        'all(r["gbps"] is None and r["latency_us"] > 0 for r in p if r["path"] == "cpu_flag")' \
        'all(r["time_us"]["n"] <= 20000 and r["time_us"]["p99"] >= r["time_us"]["median"] and sum(b[2] for b in r["histogram_us"]) == r["time_us"]["n"] for r in p if r["timing"] == "isolated" and r["time_us"]["n"] >= 100)' \
        'sorted({r["size_bytes"] for r in p if r["timing"] == "isolated"}) == [4, 32, 256, 2048, 16384, 131072, 1048576]' \
        'd["baseline"]["gbps"] > 0 and d["baseline"]["slowest_edge"] in ([0, 1], [1, 0]) and d["baseline"]["order"] == [0, 1]'
    want_line out 'host memory'
    want_line out '^CPU write, direct +both ways +16M'
    want_line out '^one-way flag latency between processes '
}

@test "4 fake GPUs: every path, pattern and pair, checked" {
    gpus 4 -b 1M -e 1M -n 1 -w 1 -J r.json
    want_code 0
    want 'outcomes(p) == {"ok"} and all(r["checked"] == 3 and r["wrong_elements"] == 0 for r in p)' \
        '{r["path"] for r in p} == {"ce_write", "ce_read", "memcpy", "sm_write", "sm_read", "ce_staged", "ce_staged_turns", "pinned_staged", "pinned_plain", "pinned_to_gpu", "gpu_to_pinned", "pinned_both", "pageable_to_gpu", "gpu_to_pageable", "on_card", "load_latency", "flag_latency"}' \
        '{r["pattern"] for r in p} == {"one_way", "both_ways", "ring", "one_to_all", "all_to_one", "all_pairs"}' \
        'all(sorted((r["src"], r["dst"]) for r in p if r["path"] == path and r["pattern"] == "one_way" and r["size_bytes"] == 16 << 20 and r["processes"] == "one") == [(a, b) for a in range(4) for b in range(4) if a != b] for path in ("ce_write", "ce_read", "memcpy", "sm_write", "sm_read", "pinned_staged", "ce_staged"))' \
        '[len(r["edges"]) for r in p if r["pattern"] == "all_pairs"] == [12, 12]' \
        'all(r["src"] is None for r in p if r["path"] == "pinned_to_gpu") and all(r["dst"] is None for r in p if r["path"] == "gpu_to_pinned")' \
        'all(r["src"] == r["dst"] for r in p if r["path"] == "on_card")' \
        'all(t["one_process"]["state"] == t["between_processes"]["state"] == "yes" and t["peer_path_used"] in (True, False) for t in d["topology"]["pairs"])' \
        'isinstance(d["outliers"], list)'
    want_line out '^copy engine write, P2P on, 16M bytes, source \(down\) -> destination \(across\), GB/s \(10\^9 bytes/s\)$'
    want_line out '^copy engine write, P2P on, each way while the other runs, .*GB/s'
    want_line out '^peer access: all 12 directed pairs: yes by the driver'
    to_files "$LINKPERF" show r.json
    want_code 0
    want_line out '^SM read, P2P on, 16M bytes, source \(down\) -> destination \(across\)'
}

@test "GPUs that are hidden from each other go through CUDA IPC, and never a GPU with itself" {
    LINKPERF_FAKE_HIDDEN=1 gpus 3 -b 1M -e 1M -n 1 -w 1 -J r.json
    want_code 0
    want 'outcomes(p) == {"ok", "skipped"} and d["baseline"]["gbps"] > 0' \
        'all("not visible" in r["reason"] for r in p if r["outcome"] == "skipped")' \
        '{r["path"] for r in p if r["outcome"] == "skipped"} == {"ce_staged", "ce_staged_turns", "pinned_staged", "pinned_plain"}' \
        'all(r["processes"] == "ipc" for r in p if r["outcome"] == "ok" and (r["src"], r["dst"]) in [(0, 1), (1, 2), (2, 0)])' \
        'len([r for r in p if r["path"] == "sm_read" and r["outcome"] == "ok" and r["size_bytes"] == 16 << 20 and r["pattern"] == "one_way"]) == 6' \
        'all(e[0] != e[1] for r in p for e in r["edges"] if r["path"] != "on_card")' \
        'all(t["one_process"]["state"] == "unknown" and t["between_processes"]["state"] == "yes" for t in d["topology"]["pairs"])'
    want_line out '^peer access in one process: unknown: all 6 directed pairs'
}

# exchange WORKER DEVICE PATH: an exchange between two workers that are driven by hand, in each mode.
exchange() {
    to_files env LINKPERF_FAKE_GPUS=2 python3 "$BATS_TEST_DIRNAME/exchange.py" "$@"
}

@test "an exchange between two workers: right in every mode, on host memory and fake GPUs, and wrong data is found" {
    exchange "$WORKER" host cpu_exchange
    want_code 0
    diff <(printf '%s ok 0\n' pipelined isolated graph) out || fail "cpu_exchange"
    exchange "$FAULTY" cuda sm_exchange
    want_code 0
    diff <(printf '%s ok 0\n' pipelined isolated graph) out || fail "sm_exchange"
    LINKPERF_FAULT=corrupt-peer@rank=1 exchange "$FAULTY" cuda sm_exchange
    want_code 0
    [ "$(grep -cE '^[a-z]+ ok [1-9]' out)" = 3 ] || fail "wrong data is not found in every mode"
}

@test "--dry-run says what would be done and how long it takes" {
    gpus 4 --dry-run
    want_code 0
    want_line out '^plan: [0-9]+ copies in 2 crews'
    want_line out '^about [0-9]+ s, and .* of memory on every rank$'
}

@test "usage errors name the value and the fix" {
    p2p_host 1
    want_code 2
    want_error 'start two'
    to_files "$LINKPERF" p2p ring
    want_code 2
    want_error "'ring': see linkperf p2p --help"
    to_files "$LINKPERF" p2p --timing graph
    want_code 2
    want_line err "linkperf p2p: unrecognized option '--timing'"
    to_files "$LINKPERF" p2p --help
    want_code 0
    want_line out 'all-pairs'
    ! grep -qE -- '--(timing|matrix|collectives)' out || fail "options of collectives in the help of p2p"
}
