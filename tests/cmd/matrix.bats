#!/usr/bin/env bats
# Variants: from a file, from the command line, under site locks; and the environment in which their workers run.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
    data=$TOP/tests/data
}

teardown() {
    finish
}

# refuses LINE TEXT: the run matrix of $matrix is not taken, with file, line and reason.
refuses() {
    lp --matrix "$matrix" -J r.json
    want_code 2
    want_error "$(basename "$matrix")(:|, line )$1: .*$2"
    [ ! -s out ] && [ ! -e r.json.part ]
}

# yaml TEXT: makes it the run matrix.
yaml() {
    matrix=$PWD/m.yaml
    printf '%b' "$1" >"$matrix"
}

@test "values reach the worker byte for byte" {
    make_dumper
    export LPV_GONE=inherited LPV_GONE_TOO=inherited LPV_GONE_THREE=inherited LPV_KEPT=inherited
    lp "${QUICK[@]}" --worker "$DUMPER" --matrix "$data/matrix-good.yaml" --only 'odd values' -J r.json
    want_code 0
    python3 - env.* <<'PYTHON' || fail "environment"
import sys
expected = {
    "LPV_QUOTES": "it's \"quoted\"", "LPV_EQUALS": "a=b=c", "LPV_BLANKS": "  two  spaces  ", "LPV_LINES": "one\ntwo\ttab",
    "LPV_YAML": "yes", "LPV_NUMBER": "010", "LPV_TRUE": "true", "LPV_DOLLAR": "$HOME `id` \\n %s", "LPV_UTF8": "Grüße",
    "LPV_EMPTY": "", "LPV_TILDE": "~", "LPV_KEPT": "inherited"}
dumps = [dict(e.split("=", 1) for e in open(path, "rb").read().decode().split("\0") if e) for path in sys.argv[1:]]
odd = [{k: v for k, v in d.items() if k.startswith("LPV_")} for d in dumps if "LPV_QUOTES" in d]
assert len(odd) == 2 and len(dumps) >= 8, (len(dumps), len(odd))
assert odd[0] == odd[1] == expected, odd
others = [{k: v for k, v in d.items() if k.startswith("LPV_")} for d in dumps if "LPV_QUOTES" not in d]
assert all(o == {k: "inherited" for k in ("LPV_GONE", "LPV_GONE_TOO", "LPV_GONE_THREE", "LPV_KEPT")} for o in others), others
PYTHON
    want 'variant("odd values")["env"]["LPV_LINES"] == "one\ntwo\ttab" and variant("odd values")["env"]["LPV_GONE"] is None' \
        'outcomes(cells("odd values")) == {"ok"}'
}

@test "the same through mpirun's agents, which keep their launcher's variables from workers" {
    make_dumper
    lpmpi 2 "${QUICK[@]}" --worker "$DUMPER" --matrix "$data/matrix-good.yaml" --only 'odd values' -J r.json
    want_code 0
    [ "$(in_env LPV_LINES | grep -cxF "'one\\ntwo\\ttab'")" = 2 ] || fail "$(in_env LPV_LINES)"
    [ "$(in_env LPV_QUOTES | grep -cvx unset)" = 2 ] || fail "$(in_env LPV_QUOTES)"
    ! grep -qazE '^(OMPI|PMIX|PRTE)_' env.* || fail "launcher's variables reach the worker"
}

@test "options and when" {
    lp "${QUICK[@]}" --matrix "$data/matrix-good.yaml" -J r.json
    want_code 0
    want '{r["timing"] for r in cells("eager")} == {"pipelined", "isolated"}' '{r["timing"] for r in cells("default")} == {"graph"}' \
        'variant("only on NVLink")["outcome"] == "skipped" and "NVLink" in variant("only on NVLink")["reason"]' \
        '[v["name"] for v in d["variants"]] == ["default", "plain", "odd values", "eager", "only on NVLink", "default"]'
    want_line out '^only on NVLink: skipped: not applicable'
}

@test "mistakes in a run matrix: exit 2, file and line" {
    matrix=$data/matrix-typo.yaml refuses 3 "unknown key.*use name, env, "
    matrix=$data/matrix-twice.yaml refuses 6 "twice"
    matrix=$data/matrix-alias.yaml refuses 3 "alias"
    matrix=$data/matrix-syntax.yaml refuses '[34]' "."
    yaml 'variants:\n- name: a\n  when: usb\n' && refuses 3 "always, nvlink or pcie"
    yaml 'variants:\n- name: a\n  options: {timing: fast}\n' && refuses 3 "'fast'.*graph, pipelined or isolated"
    yaml 'variants:\n- name: a\n  options: {speed: 1}\n' && refuses 3 "timing or nccl"
    yaml 'variants:\n- name: a\n  env: [NCCL_ALGO=Ring]\n' && refuses 3 "mapping"
    yaml 'variants:\n- env: {A: b}\n' && refuses 2 "without a name"
    yaml 'variants:\n- name: a\n  env: {A-B: c}\n' && refuses 3 "'A-B'"
    yaml 'variants:\n- name: a\n  env: {A: "b\\0c"}\n' && refuses 3 "NUL"
    yaml 'variants: a\n' && refuses 1 "list"
    yaml 'variant: []\n' && refuses 1 "'variants'"
    yaml '' && refuses 1 "empty"
}

@test "an empty list of variants leaves default" {
    yaml 'variants: []\n'
    lp "${QUICK[@]}" --matrix "$matrix" -J r.json
    want_code 0
    want '[v["name"] for v in d["variants"]] == ["default", "default"]'
}

@test "variants that cannot be: exit 2 and the reason" {
    lp --matrix nowhere.yaml
    want_error 'nowhere.yaml: No such file'
    [ "$code" = 2 ] || [ "$code" = 3 ] || fail "exit code $code"
    for mistake in 'x NCCL_ALGO=Ring|name: NCCL_X=value' 'default: NCCL_ALGO=Ring|cannot be called .default.' \
        'ring: NCCL_ALGO=Ring|.ring. is there twice' 'x: NCCL_DEBUG=INFO|NCCL_DEBUG is set by linkperf' \
        'x: CUDA_VISIBLE_DEVICES=1|CUDA_VISIBLE_DEVICES' 'x: NCCL-ALGO=Ring|.NCCL-ALGO.' ': A=b|name: NCCL_X=value' '|name: NCCL_X=value'; do
        lp --no-link --variant "${mistake%|*}"
        want_code 2
        want_error "${mistake##*|}"
    done
    lp "${QUICK[@]}" --variant $'x\xff: A=b'
    want_code 2
    want_error 'UTF-8'
    lp "${QUICK[@]}" --variant $'x: A=b\xff'
    want_code 2
    want_error 'A is not UTF-8'
    lp --no-link --only rong
    want_code 2
    want_error "no variant 'rong'"
}

@test "a site lock keeps its variable: tree is skipped, ring is not, and every worker has the value" {
    make_dumper
    LINKPERF_LOCK=NCCL_ALGO=Ring lp -b 1K -e 1K --worker "$DUMPER" -J r.json
    want_code 0
    want 'variant("tree")["outcome"] == "skipped" and variant("tree")["reason"] == "site lock NCCL_ALGO=Ring"' \
        'cells("tree") == [] and outcomes(cells("ring")) == {"ok"}' 'd["locks"] == ["NCCL_ALGO=Ring"]'
    want_line out '^site locks: NCCL_ALGO=Ring'
    want_line out '^tree: skipped: site lock NCCL_ALGO=Ring'
    [ "$(in_env NCCL_ALGO | sort -u)" = "'Ring'" ] || fail "$(in_env NCCL_ALGO)"
}

@test "a lock without a value, and removal of a locked variable" {
    LINKPERF_LOCK='NCCL_ALGO, NCCL_MINE=1' lp "${QUICK[@]}" --variant 'gone: NCCL_MINE' --variant 'same: NCCL_MINE=1' -J r.json
    want_code 0
    want 'variant("ring")["reason"] == variant("tree")["reason"] == "site lock NCCL_ALGO"' \
        'variant("gone")["reason"] == "site lock NCCL_MINE=1"' 'outcomes(cells("same")) == outcomes(cells("p2p-off")) == {"ok"}'
    LINKPERF_LOCK='=1' lp "${QUICK[@]}"
    want_code 2
    want_error 'LINKPERF_LOCK'
}

@test "an inherited NCCL_NVLS_ENABLE=0 is a lock, also of algorithms that need NVLS" {
    make_dumper
    NCCL_NVLS_ENABLE=0 lp "${QUICK[@]}" --worker "$DUMPER" --variant 'off: NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0' \
        --variant 'on: NCCL_NVLS_ENABLE=1' --variant 'nvls: NCCL_ALGO=NVLS' --variant 'not: NCCL_ALGO=^NVLS' --only off,on,nvls,not,p2p-off -J r.json
    want 'outcomes(cells("p2p-off")) == outcomes(cells("off")) == {"ok"}' \
        'variant("on")["reason"] == "site lock NCCL_NVLS_ENABLE=0"' \
        'variant("nvls")["reason"] == "site lock NCCL_NVLS_ENABLE=0 (NCCL_ALGO=NVLS names NVLS)"' \
        'variant("not")["reason"] is None or "lock" not in variant("not")["reason"]' \
        'd["inherited"]["NCCL_NVLS_ENABLE"] == "0"'
    [ "$(in_env NCCL_NVLS_ENABLE | sort -u)" = "'0'" ] || fail "$(in_env NCCL_NVLS_ENABLE)"
}

@test "inherited variables are listed and reach every crew" {
    make_dumper
    NCCL_PROTO=Simple lp "${QUICK[@]}" --worker "$DUMPER" --only ring -J r.json
    want_code 0
    want 'd["inherited"] == {"NCCL_PROTO": "Simple"}'
    want_line out '^inherited: NCCL_PROTO=Simple$'
    [ "$(in_env NCCL_PROTO | sort -u)" = "'Simple'" ] || fail "$(in_env NCCL_PROTO)"
    NCCL_PROTO=Simple lp "${QUICK[@]}" --worker "$DUMPER" --only unset --variant 'unset: NCCL_PROTO' -J s.json
    want_code 0
    [ "$(in_env NCCL_PROTO | grep -cx unset)" = 2 ] || fail "$(in_env NCCL_PROTO)"
}
