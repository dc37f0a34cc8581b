#!/usr/bin/env bats
# One process starts all workers: what is measured, recorded and printed. Also run with sanitizers, so nothing here dies on purpose.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
}

teardown() {
    finish
}

@test "2 ranks: tables on stdout, progress on stderr, a file with everything" {
    lp -b 1K -e 4K -J r.json
    want_code 0
    want 'd["schema"] == "linkperf/1" and d["complete"] is True' \
        'outcomes(p) == {"ok"} and outcomes(c) == {"ok", "unsupported"}' \
        'd["launch"] == "local" and d["device"] == "host" and len(d["ranks"]) == 2' \
        'd["baseline"]["gbps"] > 0 and d["baseline"]["pattern"] == "ring"' \
        'all(r["link_gbps"] == d["baseline"]["gbps"] for r in c)'
    want_line out '^rank +host +local rank +device +CPUs'
    want_line out '^link baseline: host memory: .* GB/s per direction'
    want_line out '^AllReduce, float, sum, out of place, graph timing, 2 ranks .*host memory'
    want_line out '^ +1K( +[0-9.]+){4,}.* default| ring| tree| p2p-off'
    want_line out '^verdict: [0-9]+ cells, [0-9]+ ok$'
    want_line out '^time: [0-9.]+ s: survey [0-9.]+, link [0-9.]+, start .*, init .*, measure .*, check .*, evidence .*, wait .*, other'
    [ "$(grep -vc '^linkperf: ' err)" = 0 ] || fail "stderr holds more than linkperf's own lines"
    [ "$(grep -cE '^linkperf: \[[1-5]/5\] .*: 12 cells, .* s; about .* left$' err)" = 5 ] || fail "not one line a variant"
    ! grep -q '^linkperf: ' out || fail "progress on stdout"
    [ ! -e r.json.part ] || fail "r.json.part is left"
}

@test "the time of a run is in its phases, and none is counted twice" {
    lp -b 1K -e 4K --only ring --rounds 2 -J r.json
    want_code 0
    want 'set(d["seconds"]) == {"survey", "link", "start", "init", "measure", "check", "evidence", "wait", "other", "total"}' \
        'min(d["seconds"].values()) >= 0' \
        'abs(sum(d["seconds"].values()) - 2 * d["seconds"]["total"]) < 1e-6' \
        'd["seconds"]["other"] < .2 * d["seconds"]["total"]' \
        'all(abs(sum(v["seconds"][p] for v in d["variants"]) - d["seconds"][p]) < 1e-6 for p in ["start", "init", "measure", "check"])' \
        'd["seconds"]["measure"] >= .99 * sum(r["seconds"]["measure"] for r in c) > 0' \
        'd["seconds"]["link"] >= sum(r["seconds"]["measure"] for r in p) > 0'
}

@test "the file has the members of DESIGN section 8" {
    lp "${QUICK[@]}" --only ring -J r.json
    want_code 0
    python3 -m json.tool r.json >pretty || fail "not JSON"
    ! grep -qE 'NaN|Infinity' r.json || fail "NaN in JSON"
    want '{"schema", "command", "started", "complete", "versions", "ranks", "topology", "inherited", "baseline", "variants", "p2p", "collectives", "judgement"} <= set(d) | {"baseline"}' \
        '{"cuda_runtime", "nccl_compiled", "nccl_loaded", "mpi", "kernel", "linkperf"} <= set(d["versions"])' \
        'all({"host", "local_rank", "gpu", "numa", "cpus"} <= set(r) for r in d["ranks"])' \
        'all({"name", "env", "crews", "logs", "seconds", "outcome", "reason"} <= set(v) for v in d["variants"])' \
        'all({"library", "collective", "datatype", "redop", "root", "requested_bytes", "size_bytes", "count", "placement", "timing", "buffers", "variant", "round", "crew", "outcome", "reason", "time_us", "algbw_gbps", "busbw_gbps", "link_gbps", "link_same_gbps", "checked", "wrong_elements", "evidence", "samples_us"} <= set(r) for r in c)' \
        'all({"median", "p10", "p90", "p99", "min", "max", "ci95_low", "ci95_high", "n"} == set(r["time_us"]) for r in c)' \
        'all(len(r["samples_us"]) == r["time_us"]["n"] >= 6 and r["checked"] > 0 and r["wrong_elements"] == 0 for r in c)' \
        'all(abs(r["algbw_gbps"] * r["time_us"]["median"] * 1e3 / r["size_bytes"] - 1) < 1e-6 for r in c)' \
        'all(abs(r["busbw_gbps"] / r["algbw_gbps"] - {"allreduce": 1, "allgather": .5}[r["collective"]]) < 1e-6 for r in c)'
}

@test "the link: every pair by every path, and the ring exchange" {
    lp --no-collectives --ranks 3 -J r.json
    want_code 0
    want 'c == [] and d["baseline"]["gbps"] > 0' \
        '{"path", "op", "pattern", "processes", "src", "dst", "size_bytes", "gbps", "latency_us", "outcome", "reason", "samples_us"} <= set(p[0])' \
        'sorted((r["path"], r["src"], r["dst"]) for r in p if r["pattern"] == "one_way" and r["size_bytes"] == 16 << 20) == sorted((path, a, b) for path in ("cpu_write", "cpu_bounce") for a in range(3) for b in range(3) if a != b)' \
        '[r["edges"] for r in p if r["pattern"] == "ring"] == [[[0, 1], [1, 2], [2, 0]]]' \
        'outcomes(p) == {"ok"} and all(r["checked"] > 0 and (r["gbps"] or r["latency_us"]) > 0 for r in p)'
}

@test "every collective stands beside the exchange of its wire bytes, in its timing mode" {
    for n in 2 3; do
        lp --ranks "$n" -b 1K -e 64K --timing graph,pipelined,isolated --only default -J "r$n.json"
        want_code 0
        RESULT=r$n.json want 'outcomes(p) == outcomes(c) == {"ok"} and {r["timing"] for r in c} == {"graph", "pipelined", "isolated"}' \
            'all(r["link_same_gbps"] > 0 for r in c)' \
            '{r["timing"] for r in p if r["path"] == "cpu_exchange"} == {"graph", "pipelined", "isolated"}' \
            'all(r["pattern"] == "ring" and r["checked"] == 3 and r["gbps"] > 0 and len(r["edges"]) == len(d["ranks"]) for r in p if r["path"] == "cpu_exchange")' \
            'all(min(abs(r["link_same_gbps"] / (r["busbw_gbps"] * r["time_us"]["median"] / e["time_us"]["median"]) - 1) for e in p if e["path"] == "cpu_exchange" and e["timing"] == r["timing"] and abs(e["size_bytes"] - r["size_bytes"] * r["busbw_gbps"] / r["algbw_gbps"]) <= 8) < 1e-6 for r in c)' \
            'd["baseline"]["path"] == "cpu_write" and all(r["link_gbps"] == d["baseline"]["gbps"] for r in c)'
    done
    want_line out '^same-size exchange: every process to its next'
    want_line out 'exchange GB/s +same-size$'
    ! grep -q 'CPU write to the next' out || fail "an exchange is among the copies"
    [ "$(python3 -c 'import json; print(len([r for r in json.load(open("r2.json"))["p2p"] if r["path"] == "cpu_exchange"]))')" = 24 ] || fail "AllGather does not share AllReduce's"
    to_files "$LINKPERF" show r3.json
    want_code 0
    want_line out 'exchange GB/s +same-size$'
    lp "${QUICK[@]}" --only default -J none.json
    want_code 0
    RESULT=none.json want 'p == [] and all(r["link_same_gbps"] is None for r in c)'
    ! grep -q 'same-size' out || fail "columns of nothing"
}

@test "3 and 8 ranks" {
    for n in 3 8; do
        lp --ranks "$n" --no-link -b 1K -e 1K -n 4 --only tree,p2p-off -J "r$n.json"
        want_code 0
        RESULT=r$n.json want "len(d['ranks']) == $n" 'outcomes(c) == {"ok", "unsupported"}' \
            "all(abs(r['busbw_gbps'] / r['algbw_gbps'] - {'allreduce': 2, 'allgather': 1}[r['collective']] * ($n - 1) / $n) < 1e-6 for r in c if r['outcome'] == 'ok')" \
            "all(r['size_bytes'] == r['count'] * 4 * $n for r in c if r['collective'] == 'allgather')"
    done
}

@test "one rank: no link and no busbw" {
    lp --ranks 1 -b 1K -e 1K --only ring -J r.json
    want_code 0
    want 'p == [] and outcomes(c) == {"ok"}' 'all(r["busbw_gbps"] is None and r["algbw_gbps"] > 0 for r in c)'
}

@test "as many records as the plan says" {
    lp --dry-run -b 1 -e 64 --timing pipelined,graph
    want_code 0
    read -r copies tried skipped < <(sed -nE 's/^plan: ([0-9]+) copies .* up to ([0-9]+) cells \(([0-9]+) skipped\)$/\1 \2 \3/p' out)
    [ "$skipped" -gt 0 ] || fail "1 byte is no float, and yet no cell is skipped"
    lp -b 1 -e 64 --timing pipelined,graph -J r.json
    want_code 0
    want "len(p) == $copies and len(c) == 5 * ($tried + $skipped)" \
        "all(len(cells(v['name'], v['repeat'])) == $tried + $skipped for v in d['variants'])" \
        "len([r for r in cells('default') if r['outcome'] == 'skipped']) == $skipped" \
        'all("less than one element" in r["reason"] for r in c if r["outcome"] == "skipped")'
}

@test "--dry-run prints the plan and measures nothing" {
    lp --dry-run -J r.json --only tree
    want_code 0
    want_line out '^plan: 29 copies in 1 crew, then 3 crews of 2 workers'
    want_line out '^about [0-9]+ s, and .* of memory on every rank$'
    ! grep -q '^verdict' out || fail "there is a verdict"
    [ ! -e r.json ] && [ ! -e r.json.part ]
}

@test "--help" {
    lp --help
    want_code 0
    for word in --variant --matrix --only --timing --json --dry-run --strict --slowness 'linkperf show' 'Exit: 0 good' LINKPERF_LOCK; do
        grep -qF -- "$word" out || fail "no $word"
    done
    [ ! -s err ]
    lp --usage
    want_code 0
    to_files "$LINKPERF" show --help
    want_code 0
    want_line out 'FILE.part'
}

@test "every datatype" {
    for type in float double int32 half bfloat16; do
        lp "${QUICK[@]}" --only tree -d "$type" -J "$type.json"
        want_code 0
        RESULT=$type.json want "{r['datatype'] for r in c} == {'$type'}" 'outcomes(c) == {"ok", "unsupported"}' \
            "all(r['count'] * {'double': 8, 'half': 2, 'bfloat16': 2}.get('$type', 4) * (2 if r['collective'] == 'allgather' else 1) == r['size_bytes'] for r in c)" \
            'all(r["checked"] > 0 and r["wrong_elements"] == 0 for r in c if r["outcome"] == "ok")'
    done
}

@test "every operation" {
    for op in sum min max; do
        lp "${QUICK[@]}" --ranks 3 --collectives allreduce --only tree -o "$op" -d half -J "$op.json"
        want_code 0
        RESULT=$op.json want "{r['redop'] for r in c} == {'$op'}" 'outcomes(c) == {"ok"} and len(c) == 12'
    done
}

@test "every timing mode, graphs last, samples as asked" {
    lp "${QUICK[@]}" --only ring --timing graph,pipelined,isolated -n 7 -J r.json
    want_code 0
    want 'outcomes(c) == {"ok"} and len(c) == 3 * 24' \
        '[r["timing"] for r in cells("default")] == ["pipelined"] * 8 + ["isolated"] * 8 + ["graph"] * 8' \
        'all(r["ops_per_sample"] == (1 if r["timing"] == "isolated" else 7) for r in c)'
    for mode in graph pipelined isolated; do want_line out "^AllReduce, .*, $mode timing"; done
}

@test "sizes: -f, -i, and one collective and placement" {
    lp --no-link --only ring --collectives allgather --placement in -b 1K -e 3K -i 1K -J r.json
    want_code 0
    want '[r["requested_bytes"] for r in cells("default")] == [1024, 2048, 3072]' \
        '{(r["collective"], r["placement"]) for r in c} == {("allgather", "in_place")}'
    lp --no-link --only ring --collectives allreduce --placement out -b 100 -e 10K -f 10 -J s.json
    want_code 0
    RESULT=s.json want '[r["requested_bytes"] for r in cells("default")] == [100, 1000, 10000]'
}

@test "-c 0 leaves the data unchecked and says so" {
    lp "${QUICK[@]}" --only ring -c 0 -J r.json
    want_code 0
    want 'outcomes(c) == {"ok"}' 'all(r["checked"] == 0 and r["wrong_elements"] is None for r in c)'
}

@test "default is measured first and last; variants' environment is recorded" {
    lp "${QUICK[@]}" --variant 'mine: NCCL_ALGO=Tree NCCL_X= NCCL_GONE' -J r.json
    want_code 0
    want '[(v["name"], v["repeat"]) for v in d["variants"]] == [("default", 0), ("ring", 0), ("tree", 0), ("p2p-off", 0), ("mine", 0), ("default", 1)]' \
        'variant("default")["env"] == {} == variant("default", 1)["env"]' \
        'variant("p2p-off")["env"] == {"NCCL_P2P_DISABLE": "1"} and outcomes(cells("p2p-off")) == {"ok"}' \
        'variant("mine")["env"] == {"NCCL_ALGO": "Tree", "NCCL_X": "", "NCCL_GONE": None}' \
        'len({r["crew"] for r in c}) == 6 and all(variant(r["variant"], r["repeat"])["crews"] == [r["crew"]] for r in c)'
    want_line out '^ +size .* default again '
    want_line out '^mine +NCCL_ALGO=Tree'
}

@test "tree has no AllGather: unsupported with NCCL's reason, and the crew goes on" {
    lp "${QUICK[@]}" --only tree --timing pipelined,graph -J r.json
    want_code 0
    want 'all(r["outcome"] == ("unsupported" if r["collective"] == "allgather" else "ok") for r in cells("tree"))' \
        'reasons(cells("tree")) == ["no algorithm/protocol available for function AllGather. NCCL_ALGO was set to Tree."]' \
        'len(variant("tree")["crews"]) == 1 and variant("tree")["outcome"] == "ok"'
    want_line out '^ +1K .* unsupported'
}

@test "a variant that can do nothing here is unsupported, not failed" {
    lp "${QUICK[@]}" --no-link --only tree --collectives allgather -J r.json
    want_code 0
    want '[v["outcome"] for v in d["variants"] if v["name"] == "tree"] == ["unsupported"]'
}

@test "started by a program that ignores its children's ends" {
    to_files timeout 10 bash -c 'trap "" CHLD; exec "$@"' bash "$LINKPERF" --device host "${QUICK[@]}" --only ring -J r.json
    want_code 0
    want 'd["complete"] is True and outcomes(c) == {"ok"}'
}

@test "--long has nccl-tests' columns" {
    lp "${QUICK[@]}" --only ring --long
    want_code 0
    for word in size count type redop root time algbw busbw '#wrong'; do
        grep -qE "(^|[ (])$word( |\$|[,)])" out || fail "no column $word"
    done
}

@test "--log-dir keeps a log for every worker; without it nothing is kept" {
    lp -b 1K -e 1K --only ring --timing graph,pipelined,isolated --log-dir logs -J r.json
    want_code 0
    want 'all(len(v["logs"]) == 2 for v in d["variants"])' '__import__("os").path.exists(variant("ring")["logs"][0])'
    grep -q 'init communicator' logs/*-ring-rank1.log
    ! grep -E 'Sanitizer|runtime error' logs/* || fail "a sanitizer complains"
}

@test "show prints the same tables" {
    lp "${QUICK[@]}" --only ring -J r.json --long
    want_code 0
    mv out live
    to_files "$LINKPERF" show --long r.json
    want_code 0
    # a warning that came up during the run stands on its stderr
    grep -v '^warning: other processes took ' out | diff live - || fail "live and shown tables differ"
    [ ! -s err ]
}

@test "a worker driven by hand answers a line of JSON to each request" {
    code=0
    LPTEST=$MARK "$WORKER" <"$TOP/tests/data/worker-by-hand.jsonl" >out 2>err || code=$?
    want_code 0
    python3 - <<'PYTHON' || fail "answers"
import json
said = [json.loads(line) for line in open("out")]
reply = {r["id"]: r for r in said if "id" in r}
assert said[0]["say"] == "hello" and said[0]["pid"] > 0
assert sorted(reply) == list(range(1, 10)), sorted(reply)
assert all(r["status"] == "ok" for r in reply.values()), reply
assert reply[1]["machine"]["device"] == "host" and reply[1]["machine"]["cpus"]
assert "page" in reply[2]["blob"] and "send" in reply[3]["blob"]
assert len(reply[6]["samples_us"]) == 5 and len(reply[8]["samples_us"]) == 10
assert reply[7]["wrong"] == [0, 0, 0]
assert [r["phase"] for r in said if r.get("say") == "at"][-1] == "shutdown"
PYTHON
}

@test "a worker driven by hand refuses what it does not understand, and leaves at the end of its input" {
    code=0
    printf '%s\n' 'no JSON' '{"id": 1, "do": "dance"}' '{"id": 2, "do": "blocks", "k": 1, "n": 1}' \
        '{"id": 3, "do": "offer", "device": "host", "library": "nccl3"}' '{"id": 4, "do": "cell", "cell": {}}' |
        LPTEST=$MARK "$WORKER" >out 2>err || code=$?
    want_code 0
    want_line out '"id":1,.*"reason":"unknown request '"'dance'"
    want_line out '"id":2,.*without a cell'
    want_line out '"id":3,.*built without '"'nccl3'"
    want_line out '"id":4,"rank":0,"status":"'
    ! grep -q '"status":"ok"' out || fail "said ok"
}
