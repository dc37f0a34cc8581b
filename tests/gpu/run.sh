#!/usr/bin/env bash
# Tests for machines with GPUs: the programs under build/gpu-tests/ and the scripts beside this one, as they are; it builds
# nothing (make test-gpu does). Each is one test and says itself what it found; exit status 77 is "skipped".
set -u
cd "$(dirname "$0")/../.." || exit

tests=()
for test in tests/gpu/test_*.c; do
    [ -e "$test" ] && tests+=("build/gpu-tests/$(basename "$test" .c)")
done
for test in tests/gpu/*.sh; do
    [ "$test" = tests/gpu/run.sh ] || tests+=("$test")
done

if ! gpus=$(nvidia-smi -L 2>/dev/null | grep '^GPU '); then
    echo "skipped: nvidia-smi names no GPU here"
    echo "0 passed, 0 failed, ${#tests[@]} skipped"
    exit
fi
echo "$gpus"
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LINKPERF=$PWD/linkperf

passed=0 failed=0 skipped=0
for test in "${tests[@]}"; do
    echo "--- $test"
    if [ ! -x "$test" ]; then
        echo "skipped: not built (make gpu-tests, where there is CUDA)"
        skipped=$((skipped + 1))
        continue
    fi
    timeout --kill-after=10 300 "./$test" </dev/null
    status=$?
    case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "FAILED: $test: exit status $status"
        ;;
    esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
