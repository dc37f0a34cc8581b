# What the command tests share. Each test runs in a folder of its own and marks its processes by LPTEST in their environment,
# so that what is left of them is found without touching anybody else's.
#
# tests/run.sh names the program in $LINKPERF and the folder of faulty workers in $FAKES; by hand the newest build is taken.

bats_require_minimum_version 1.5.0

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

newest_build() {
    # shellcheck disable=SC2012 # names of ours, without blanks
    ls -dt "$TOP"/build/{host,cuda}/tests/fakes 2>/dev/null | head -n 1
}

FAKES=${FAKES:-$(newest_build)}
LINKPERF=${LINKPERF:-$FAKES/../../linkperf}
WORKER=$(dirname "$LINKPERF")/linkperf-worker
# shellcheck disable=SC2034 # for the tests
FAULTY=$FAKES/linkperf-worker-faulty
SLOWNESS=${LINKPERF_SLOWNESS:-1}

# A few cells that take no time, without the link: 1K and 4K, two collectives, two placements: 8 cells a variant.
# shellcheck disable=SC2034
QUICK=(--no-link -b 1K -e 4K -f 4)
# Few operations in a cell, so that it fits into a short limit on a busy machine, too.
# shellcheck disable=SC2034
FEW=(-n 1 -w 1 -c 1)
# Limits so short that a test can wait for them: 2 s for a step.
# shellcheck disable=SC2034
SHORT=(--timeout 2 --init-timeout 2 --slowness "$SLOWNESS")

begin() {
    export TMPDIR=${TMPDIR:-$BATS_RUN_TMPDIR}
    [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    MARK=$BATS_TEST_TMPDIR
    cd "$BATS_TEST_TMPDIR" || return
    log_folders >before
}

log_folders() {
    find "$TMPDIR" -maxdepth 1 -name 'linkperf-*'
}

# Whatever a test did: no process, and no folder of logs (who expects one removes it).
finish() {
    local left=0
    wait_for 5 nobody_left || left=1
    if [ "$left" = 1 ]; then
        echo "still there:"
        for pid in $(ours); do tr '\0' ' ' <"/proc/$pid/cmdline" && echo && kill -KILL "$pid"; done
    fi
    if log_folders | grep -vxFf before; then
        echo "left in TMPDIR"
        left=1
    fi
    return "$left"
}

# ---- running ----

# Runs a command with its output in ./out and ./err and its exit code in $code.
to_files() {
    code=0
    LPTEST=$MARK timeout -k 5 "$(awk "BEGIN { print 60 * $SLOWNESS }")" "$@" >out 2>err </dev/null || code=$?
}

lp() {
    to_files "$LINKPERF" --device host "$@"
}

# lpmpi RANKS ARGS...
lpmpi() {
    local n=$1
    shift
    to_files mpirun --oversubscribe -np "$n" "$LINKPERF" --device host "$@"
}

# The same in the background, with its process in $main. Background jobs of a shell ignore SIGINT, hence env.
start() {
    LPTEST=$MARK env --default-signal=INT,QUIT "$@" >out 2>err </dev/null 3>&- &
    main=$!
}

# Waits for the background run; its exit code is in $code.
collect() {
    code=0
    wait_for 20 gone "$main" || {
        echo "pid $main did not end"
        return 1
    }
    wait "$main" || code=$?
}

# wait_for SECONDS COMMAND...: until the command succeeds, at most that long.
wait_for() {
    local tries
    tries=$(awk "BEGIN { print int($1 * $SLOWNESS * 20) }")
    shift
    while ! "$@"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.05
    done
}

# ---- processes of this test ----

ours() {
    grep -lzxF "LPTEST=$MARK" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do
        case $(sed -n 's/^State:\t//p' "/proc/$pid/status" 2>/dev/null) in Z* | "") ;; *) echo "$pid" ;; esac
    done
}

# Pids of those whose command line matches the extended regular expression.
named() {
    local pid
    for pid in $(ours); do
        if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qE "$1"; then
            echo "$pid"
        fi
    done
}

nobody_left() {
    [ -z "$(ours)" ]
}

gone() {
    ! [ -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# worker RANK: the pid of that rank's worker.
worker() {
    named "linkperf-worker[a-z-]* --crew [0-9]+ --rank $1 " | tail -n 1
}

# has_records N [VARIANT]: the journal has at least so many records (of the variant).
has_records() {
    local n
    n=$(grep -c "^{\"collective\":.*\"variant\":\"${2-}" r.json.part 2>/dev/null)
    [ "${n:-0}" -ge "$1" ]
}

# log_says TEXT NAME: a worker's log whose name ends so has the text.
log_says() {
    # shellcheck disable=SC2086 # a pattern, looked up anew each time
    cat logs/*$2.log 2>/dev/null | grep -qF -- "$1"
}

# ---- expectations ----

fail() {
    printf '%s\n' "$@"
    for file in out err; do [ ! -s "$file" ] || sed "s/^/$file: /" "$file" | tail -n 20; done
    return 1
}

want_code() {
    [ "$code" = "$1" ] || fail "exit code $code, not $1"
}

# want_line FILE REGEX: a line of the file matches.
want_line() {
    grep -qE -- "$2" "$1" || fail "no line of $1 matches: $2"
}

# The program's own words on stderr are one line, what it notes about variants aside, and it is this one.
want_error() {
    [ "$(grep '^linkperf: ' err | grep -vcE ': (warning|note): ')" = 1 ] || fail "not one line of error"
    want_line err "^linkperf: .*$1"
}

# want EXPRESSION...: Python expressions over r.json (or $RESULT), all true. d: the result; cells(NAME, repeat): records of a variant;
# c, p: all collective and copy records; outcomes(list): their set; variant(NAME, repeat).
want() {
    python3 - "${RESULT:-r.json}" "$@" <<'PYTHON' || fail "in ${RESULT:-r.json}"
import json, re, sys
d = json.load(open(sys.argv[1]))
c, p = d["collectives"], d["p2p"]
def cells(name, repeat=0): return [r for r in c if r["variant"] == name and r["repeat"] == repeat]
def variant(name, repeat=0): return next(v for v in d["variants"] if v["name"] == name and v["repeat"] == repeat)
def outcomes(records): return {r["outcome"] for r in records}
def reasons(records): return sorted({r["reason"] for r in records if r["reason"]})
bad = [e for e in sys.argv[2:] if not eval(e)]
for e in bad: print("not true:", e)
if bad: print("outcomes:", {(v["name"], v["repeat"]): sorted(outcomes(cells(v["name"], v["repeat"]))) for v in d["variants"]}, "reasons:", reasons(c + p))
sys.exit(bool(bad))
PYTHON
}

# A worker that writes its environment to ./env.PID and is then the real one. Its path is in $DUMPER.
make_dumper() {
    DUMPER=$PWD/linkperf-worker-dumper
    printf '#!/bin/sh\nenv -0 >%q/env.$$\nexec %q "$@"\n' "$PWD" "$WORKER" >"$DUMPER"
    chmod +x "$DUMPER"
}

# in_env NAME: values of the variable in all dumps, one a line, "unset" where it is not there.
in_env() {
    python3 - "$1" env.* <<'PYTHON'
import sys
for path in sys.argv[2:]:
    entries = dict(e.split(b"=", 1) for e in open(path, "rb").read().split(b"\0") if b"=" in e)
    print(repr(entries[sys.argv[1].encode()].decode()) if sys.argv[1].encode() in entries else "unset")
PYTHON
}
