#!/usr/bin/env bash
# Does NCCL's log to a file change what graph mode measures? The same setting in fresh crews with and without the log, in
# turn, and the medians side by side with the spread between crews.
#   scripts/aa_logging.sh OUT [LINKPERF]        CREWS: runs of two crews each, 5 by default
set -u
out=${1:?usage: scripts/aa_logging.sh OUT [LINKPERF]}
linkperf=$(realpath "${2:-./linkperf}")
mkdir -p "$out"
worker=$(dirname "$linkperf")/linkperf-worker
printf '#!/bin/sh\nunset NCCL_DEBUG NCCL_DEBUG_SUBSYS NCCL_DEBUG_FILE\nexec %s "$@"\n' "$worker" >"$out/worker-without-log"
chmod +x "$out/worker-without-log"
ranks=$(nvidia-smi -L | grep -c '^GPU')
for ((run = 1; run <= ${CREWS:-5}; run++)); do
    for kind in log quiet; do
        extra=()
        [ "$kind" = log ] || extra=(--worker "$out/worker-without-log")
        mpirun -np "$ranks" "$linkperf" -b 8 -e 64M -d bfloat16 --placement out --collectives allreduce --no-link --only default \
            "${extra[@]}" -J "$out/$kind-$run.json" >/dev/null 2>&1 || echo "$kind $run: exit $?"
    done
done
python3 - "$out" <<'PYTHON'
import glob
import json
import statistics
import sys

times = {}
for kind in ("log", "quiet"):
    for path in glob.glob(f"{sys.argv[1]}/{kind}-*.json"):
        for r in json.load(open(path))["collectives"]:
            if r["outcome"] == "ok":
                times.setdefault(r["requested_bytes"], {}).setdefault(kind, []).append(r["time_us"]["median"])
print("AllReduce bfloat16, graph; medians of crews in us, spread is (max - min) / median over crews without the log")
print(f"{'bytes':>10} {'log':>9} {'no log':>9} {'log/no log':>10} {'spread':>7}  crews")
ratios = []
for size in sorted(times):
    log, quiet = times[size]["log"], times[size]["quiet"]
    ratio = statistics.median(log) / statistics.median(quiet)
    ratios.append(ratio)
    spread = (max(quiet) - min(quiet)) / statistics.median(quiet)
    print(f"{size:10} {statistics.median(log):9.2f} {statistics.median(quiet):9.2f} {ratio:10.4f} {spread:7.3f}  {len(log)} {len(quiet)}")
print(f"geometric mean of the ratios {statistics.geometric_mean(ratios):.4f}, largest {max(ratios):.4f}, smallest {min(ratios):.4f}")
PYTHON
