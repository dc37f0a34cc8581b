# For the scripts that run linkperf beside its peers: sourced, with $out set.

# timed NAME COMMAND...: its output to $out/NAME.txt, with command, exit code and wall time as a last line, which is printed too
timed() {
    local name=$1 start end rc
    shift
    start=$(date +%s.%N)
    "$@" >"${out:?}/$name.txt" 2>&1
    rc=$?
    end=$(date +%s.%N)
    echo "# command: $* ; exit $rc ; wall $(awk "BEGIN {printf \"%.1f\", $end - $start}") s" | tee -a "$out/$name.txt"
}
