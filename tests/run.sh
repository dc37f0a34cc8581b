#!/usr/bin/env bash
# Runs what `make test` built: all unit programs and command tests, then units and local mode (tests/cmd/local*.bats) once
# more as built with sanitizers. Says little about what passes and everything about what does not; the last line is the sum.
#
#   tests/run.sh BUILD [SANITIZED_BUILD]
#
# Command tests find the program in $LINKPERF and the faulty worker in the folder $FAKES; all they leave must be below $TMPDIR
# and gone at the end. LINKPERF_SLOWNESS multiplies what they wait; sanitizers get 3.
set -u
cd "$(dirname "$0")/.." || exit

# Rounded up; LINKPERF_SLOWNESS may be 1.5.
times() { # A B
    awk "BEGIN { x = $1 * $2; print int(x) + (x > int(x)) }"
}

# A caller's settings are not what is tested.
slowness=${LINKPERF_SLOWNESS:-1}
slowness_sanitized=$(times 3 "$slowness")
for name in $(compgen -e | grep -E '^(NCCL_|LINKPERF|OMPI_COMM_|PMIX_|PMI_)'); do
    unset "$name"
done

passed=0 failed=0 skipped=0
start=$(date +%s)
# Short, since Open MPI puts the paths of sockets below it.
tmp=$(mktemp -d /tmp/lpt.XXXXXX) || exit
output=$tmp.out
trap 'rm -rf "$tmp" "$output"' EXIT
export TMPDIR=$tmp
# Two cores may have to hold eight ranks, and CI is root.
export OMPI_MCA_rmaps_base_oversubscribe=1
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=1:${ASAN_OPTIONS-} UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS-}

# Counts of the TAP in $output: "planned ok failed skipped". cmocka says "not ok N # SKIP", bats "ok N name # skip why".
count_tap() {
    awk '
        /^[0-9]+\.\.[0-9]+/ { split($1, ends, /\.\./); planned += ends[2] - ends[1] + 1 }
        /^(not )?ok( |$)/   { if (tolower($0) ~ /# skip/) s++; else if (/^not/) f++; else p++ }
        END                 { print planned + 0, p + 0, f + 0, s + 0 }' "$output"
}

# Runs one program that speaks TAP. A bad end without a test that says so is one more failure, and so is a missing test.
tap() { # LABEL LIMIT_S COMMAND...
    local label=$1 limit=$2 status planned p f s why="" began=$SECONDS
    shift 2
    CMOCKA_MESSAGE_OUTPUT=TAP timeout --kill-after=5 "$limit" "$@" </dev/null >"$output" 2>&1
    status=$?
    read -r planned p f s < <(count_tap)
    if [ "$status" = 124 ] || [ $((SECONDS - began)) -ge "$limit" ]; then
        why="did not end within $limit s"
    elif [ "$status" -gt 128 ]; then
        why="died of signal $((status - 128))"
    elif [ "$status" != 0 ] && [ "$f" = 0 ]; then
        why="exit status $status"
    elif [ $((p + f + s)) -lt "$planned" ]; then
        why="only $((p + f + s)) of $planned tests were run"
    elif [ $((p + f + s)) = 0 ]; then
        why="ran no test"
    fi
    [ -z "$why" ] || f=$((f + 1))
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    printf '%-44s %3d passed%s%s\n' "$label" "$p" "$([ "$f" = 0 ] || echo ", $f FAILED${why:+ ($why)}")" \
        "$([ "$s" = 0 ] || echo ", $s skipped")"
    if [ "$f" != 0 ]; then
        sed 's/^/    /' "$output"
    elif [ "$s" != 0 ]; then
        grep -i '# skip' "$output" | sed 's/^/    /'
    fi
}

units() { # BUILD LABEL SLOWNESS
    local program
    for program in tests/unit/test_*.c; do
        [ -e "$program" ] || continue
        program=${program%.c}
        tap "$2unit/$(basename "$program")" 120 "$1/$program"
    done
}

commands() { # BUILD LABEL SLOWNESS FILE...
    local label=$2 limit file
    limit=$(times 240 "$3")
    export LINKPERF=$PWD/$1/linkperf FAKES=$PWD/$1/tests/fakes LINKPERF_SLOWNESS=$3
    shift 3
    for file in "$@"; do
        [ -e "$file" ] && tap "${label}cmd/$(basename "$file" .bats)" "$limit" bats --tap "$file"
    done
}

# Processes that came from this suite and are still there, and what they left behind, a line each. Workers drop much of
# their environment, but never TMPDIR.
leftovers() {
    local process name path
    for process in /proc/[0-9]*; do
        name=$(cat "$process/comm" 2>/dev/null) || continue
        case $name in linkperf* | mpirun | orted | test_* | faulty* | worker*) ;; *) continue ;; esac
        if grep -qzxF "TMPDIR=$tmp" "$process/environ" 2>/dev/null; then
            echo "process ${process#/proc/}: $(tr '\0' ' ' <"$process/cmdline")"
        fi
    done
    rm -rf "$tmp"/ompi.* # Open MPI's own; a killed mpirun leaves it
    find "$tmp" -mindepth 1
    for path in /dev/shm/linkperf* /dev/shm/vader_segment*; do
        if [ -O "$path" ] && [ "$(stat -c %Y "$path")" -ge "$start" ]; then
            echo "$path"
        fi
    done
}

clean_end() {
    local found wait
    for wait in 1 1 1 0; do # killed processes need a moment to go
        found=$(leftovers)
        [ -n "$found" ] || break
        sleep "$wait"
    done
    if [ -z "$found" ]; then
        passed=$((passed + 1))
        printf '%-44s %3d passed\n' "nothing left behind" 1
    else
        failed=$((failed + 1))
        printf '%-44s %3d passed, 1 FAILED\n' "nothing left behind" 0
        printf '%s\n' "$found" | sed 's/^/    /'
    fi
}

build=${1:?usage: tests/run.sh BUILD [SANITIZED_BUILD]}
units "$build" "" "$slowness"
commands "$build" "" "$slowness" tests/cmd/*.bats
if [ $# -gt 1 ]; then
    units "$2" "sanitized " "$slowness_sanitized"
    commands "$2" "sanitized " "$slowness_sanitized" tests/cmd/local*.bats
fi
ran=$((passed + failed))
clean_end

echo "took $(($(date +%s) - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$ran" -gt 0 ]
