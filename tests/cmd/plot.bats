#!/usr/bin/env bats
# scripts/plot.py: which figures a result gives, what they say, and what is refused. Needs no program of ours.

# shellcheck disable=SC2034,SC2154 # code and main belong to helpers.bash
load helpers

setup() {
    begin
    data=$TOP/tests/data/p2p-result.json
}

teardown() {
    finish
}

plot() {
    to_files "$TOP/scripts/plot.py" "$@"
}

# plot_error TEXT: one line on stderr, with the text, and no figure.
plot_error() {
    [ "$(wc -l <err)" = 1 ] || fail "not one line of error"
    want_line err "^plot: .*$1"
    [ ! -s out ] || fail "something on stdout"
}

# edit PYTHON: makes r.json of the test data, changed by statements on d.
edit() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); exec(sys.argv[2]); json.dump(d, open("r.json", "w"))' "$data" "$1"
}

# says FIGURE TEXT...: texts of figures/FIGURE.svg, each a whole line of it.
says() {
    local figure=$1 text
    shift
    sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "figures/$figure.svg" | sed 's/&gt;/>/g' >texts
    for text in "$@"; do
        grep -qxF -- "$text" texts || fail "$figure does not say: $text" "$(cat texts)"
    done
}

# How often a text is on the figure that says() read last.
times() {
    grep -cxF -- "$1" texts
}

@test "png: the files, each with a line, next to the result by default" {
    cp "$data" run.json
    plot run.json
    want_code 0
    [ ! -s err ] || fail "something on stderr"
    cat >expected <<'END'
run-plots/allgather-out_of_place-graph.png
run-plots/allreduce-in_place-graph.png
run-plots/curve-0-1.png
run-plots/latency-ce_write-one_way-one.png
run-plots/latency-curve-0-1.png
run-plots/latency-flag_latency-both_ways-one.png
run-plots/latency-load_latency-one_way-one.png
run-plots/link-ce_write-one_way-one.png
run-plots/link-on_card-one_way-one.png
run-plots/link-sm_write-both_ways-one.png
run-plots/link-sm_write-one_way-one.png
run-plots/link-sm_write-ring-ipc.png
END
    sort out | diff expected - || fail "other files"
    find run-plots -type f | sort | diff expected - || fail "not what was said"
    while read -r file; do
        [ "$(head -c 8 "$file" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$file is no PNG"
    done <expected
}

@test "svg: matrices say path, direction, unit and size, numbers, and the words of what went wrong" {
    plot "$data" -o figures --format svg
    want_code 0
    grep -L '<svg ' figures/* | grep . && fail "no SVG"
    says link-ce_write-one_way-one 'copy engine write, P2P on: one way, one process' 396.0 201.5 hang 'source GPU' 'destination GPU' \
        'source (down) -> destination (across), GB/s (10^9 bytes/s), 512M bytes'
    [ "$(times hang)" = 1 ]
    says link-sm_write-one_way-one 369.6 'wrong!'
    [ "$(times 123.4)" = 0 ] || fail "wrong data with a number"
    says link-sm_write-both_ways-one 'SM write, P2P on: both ways at once, one process' 365.1 366.2 364.9 180.2 \
        'each cell: source -> destination while destination -> source runs too; all run for at least 97 % of the time'
    [ "$(times hang)" = 2 ]
    says link-sm_write-ring-ipc 'SM write, P2P on: every rank to its next in the ring at once, a process per GPU, CUDA IPC' 363.3
    says link-on_card-one_way-one 2093.0 2091.0
    says latency-load_latency-one_way-one 'source (down) -> destination (across), latency, ns' 829.0 1204.0 crash
    says latency-flag_latency-both_ways-one 'source (down) -> destination (across), latency, us' 1.35
    says latency-ce_write-one_way-one 'source (down) -> destination (across), latency of a copy of 4 bytes, us' 2.25
    # hatched as often as there are words
    [ "$(grep -c 'fill: url(#' figures/link-sm_write-both_ways-one.svg)" = 2 ] || fail "not two hatched cells"
    [ "$(grep -c 'fill: url(#' figures/link-sm_write-ring-ipc.svg)" = 0 ] || fail "hatched without a reason"
}

@test "svg: curves and collectives say unit, line rate, baseline and gaps" {
    plot --format svg -o figures "$data"
    want_code 0
    says curve-0-1 'GPU 0 -> GPU 1: one way, GB/s (10^9 bytes/s) over size' 'copy engine write, P2P on' 'SM write, P2P on: hang at 1M' \
        'line rate NV18, 478.1 GB/s per direction' 64K 1M 512M
    says latency-curve-0-1 'GPU 0 -> GPU 1: latency in us over size, median and p99' us 'p99, of 100 samples or more'
    says allreduce-in_place-graph 'AllReduce, float, sum, in place, graph timing, 3 ranks' default tree 'p2p-off: hang at 256M' \
        'default again' 'busbw in GB/s per direction (10^9 bytes/s) over size; linear scale above, logarithmic below'
    grep -q '^link baseline, 363.3 GB/s: SM write' texts || fail "no baseline"
    says allgather-out_of_place-graph 'AllGather, float, out of place, graph timing, 3 ranks' 'tree: unsupported'
}

@test "host memory is in every title, and what is not complete says so" {
    edit 'd["device"] = "host"; d["complete"] = False'
    plot r.json --format svg -o figures
    want_code 0
    for figure in figures/*.svg; do
        grep -q '>host memory: .* (incomplete run)<' "$figure" || fail "$figure"
    done
    says link-ce_write-one_way-one 'source rank'
}

@test "a result of before both ways and latencies were measured" {
    plot "$TOP/results/h200x2/full-matrix.json" -o figures --format svg
    want_code 0
    says link-ce_staged-one_way-one 'driver-staged copy, P2P off: one way, one process' 38.42 38.45
    says allgather-in_place-graph 'tree: unsupported' channels-32
    [ "$(wc -l <out)" = 11 ]
}

@test "nothing to draw: says so, exit 0, no folder" {
    edit 'd["p2p"] = []; d["collectives"] = []'
    plot r.json
    want_code 0
    want_line out '^r.json: nothing to draw$'
    [ ! -e r-plots ]
}

@test "usage, and what is no result: exit 2" {
    refused() {
        local text=$1
        shift
        plot "$@"
        want_code 2
        plot_error "$text"
    }
    refused 'RESULT.json'
    refused "invalid choice: 'pdf'.*png.*svg" "$data" --format pdf
    refused 'unrecognized arguments: --wide' --wide "$data"
    refused 'nowhere.json: No such file' nowhere.json
    refused '[.]: Is a directory' .
    echo garbage >garbage
    refused 'garbage: not a linkperf result' garbage
    head -c 300 /dev/urandom >noise
    refused 'noise: not a linkperf result' noise
    echo '[1, 2]' >list
    refused 'list: not a linkperf result' list
    echo '{"schema": "linkperf/99"}' >future
    refused "future: schema is 'linkperf/99'" future
    edit 'del d["p2p"][3]["pattern"]'
    refused 'r.json: .*pattern of p2p\[3\]' r.json
    edit 'd["p2p"][3]["edges"] = [0, 1]'
    refused 'edges of p2p\[3\]' r.json
    edit 'd["collectives"] = {}'
    refused 'collectives is not a list' r.json
    code=0
    env -u MAKEFLAGS -u MFLAGS -u RESULT make -s -C "$TOP" plot >out 2>err || code=$?
    want_code 2
    want_line err 'make plot RESULT=run.json'
}

@test "a folder that cannot be written, and no matplotlib: exit 3" {
    echo file >taken
    plot "$data" -o taken
    want_code 3
    plot_error 'taken: '
    mkdir without
    echo 'raise ImportError("none here")' >without/matplotlib.py
    PYTHONPATH=$PWD/without plot "$data" -o figures
    want_code 3
    plot_error 'matplotlib is missing.*scripts/setup.sh plot'
    PYTHONPATH=$PWD/without to_files "$TOP/scripts/setup.sh" --check plot test
    want_code 1
    [ "$(grep -o python3-matplotlib err | wc -l)" = 1 ] || fail "not named once"
}

@test "titles of paths and collectives are those of the program" {
    local file name title
    for file in "$TOP"/p2p/*.c "$TOP"/collectives/*.c; do
        name=$(sed -n 's/^    \.name = "\([^"]*\)",.*/\1/p' "$file")
        title=$(sed -n 's/.*\.title = "\([^"]*\)",.*/\1/p' "$file")
        if [ -n "$name" ] && grep -qE "^(TITLES.*| +)\"$name\": " "$TOP"/scripts/plot_*.py; then
            grep -qF "\"$name\": \"$title\"" "$TOP"/scripts/plot_*.py || fail "$file: $title"
        fi
    done
}
