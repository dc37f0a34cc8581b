#!/usr/bin/env bats
# The judgement at the end of a run. What is real and what is not is for the unit tests of the judge: times of this machine are noise.

load helpers

setup() {
    begin
}

teardown() {
    finish
}

VERDICTS='[v for f in d["judgement"]["cells"] for s in f["sizes"] for v in s["verdicts"]]'

@test "three rounds are judged: in the file, and in the tables" {
    lp --no-link -b 4K -e 16K --collectives allreduce --only ring,tree --rounds 3 -J r.json
    want_code 0
    want 'd["judgement"]["rounds"] == 3 and d["judgement"]["claims"] is True' \
        "{v['variant'] for v in $VERDICTS} == {'ring', 'tree'}" \
        "{v['verdict'] for v in $VERDICTS} <= {'better', 'worse', 'no difference', 'not judged'}" \
        "all(v['low'] <= v['ratio'] <= v['high'] for v in $VERDICTS if v['verdict'] != 'not judged')" \
        "all((v['low'] > 1) == (v['verdict'] == 'better') and (v['high'] < 1) == (v['verdict'] == 'worse') for v in $VERDICTS if v['verdict'] != 'not judged')" \
        "all(v['reason'] for v in $VERDICTS if v['verdict'] == 'not judged')" \
        '{r["collective"] for r in d["judgement"]["ring_tree"]} == {"allreduce"}'
    want_line out '^ size .* best +noise'
    want_line out '^judged over 3 rounds, [0-9]+ comparisons together'
    want_line out '^best by size'
    want_line out '^Ring against Tree'
    to_files "$LINKPERF" show r.json
    want_code 0
    want_line out '^judged over 3 rounds, [0-9]+ comparisons together'
}

@test "one round claims nothing" {
    lp --no-link -b 4K -e 16K --collectives allreduce --only ring,tree -J r.json
    want_code 0
    want 'd["judgement"]["claims"] is False' "{v['verdict'] for v in $VERDICTS} <= {'no difference', 'not judged', 'candidate'}"
    want_line out 'fastest \(not judged\)'
    ! grep -q ' best ' out || fail "something is best"
}

@test "a run without collectives has nothing to judge" {
    to_files "$LINKPERF" p2p --device host --ranks 2 -b 64K -e 64K -J r.json
    want_code 0
    want 'd["judgement"]["cells"] == []'
    ! grep -q '^judged' out || fail "something is judged"
}
