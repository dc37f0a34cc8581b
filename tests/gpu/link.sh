#!/usr/bin/env bash
# `linkperf p2p` on GPUs: everything measured and right, also above 4 GiB and with GPUs hidden from each other; and exchanges of the size of
# collectives. Figures are printed for people, not judged. Prints "ok NAME" or "not ok NAME".
#   tests/gpu/link.sh [LINKPERF]    exit 77 without two GPUs
# shellcheck disable=SC1091,SC2154,SC2016
set -u
linkperf=${1:-./linkperf}
# shellcheck source=tests/gpu/lib.bash
. "$(dirname "$0")/lib.bash"
need_gpus 2

holds() { # FILE EXPRESSION: true of the result d with its copies p
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
p = d["p2p"]
sys.exit(not eval(sys.argv[2]))
PYTHON
}

link() { # NAME COMMAND...: exit code 0
    local name=$1
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.err"
    check "$name: exit 0" [ $? -eq 0 ]
}

link all mpirun -np 2 "$linkperf" p2p -J "$work/all.json"
sed -n '/^rates between/,/^references/p' "$work/all.out"
check "all: every copy measured, checked and right" holds "$work/all.json" \
    'all(r["outcome"] == "ok" and r["checked"] > 0 and r["wrong_elements"] == 0 for r in p)'
check "all: peers in one process and between two" holds "$work/all.json" \
    'all(t["one_process"]["state"] == t["between_processes"]["state"] == "yes" for t in d["topology"]["pairs"])'
check "all: copies behind a gate run at once" holds "$work/all.json" \
    'all(r["overlap"] > 0.9 for r in p if r["pattern"] == "both_ways" and r["path"] in ("ce_write", "ce_read", "sm_write", "sm_read"))'
check "all: latencies have a tail and a histogram" holds "$work/all.json" \
    'all(r["time_us"]["p99"] >= r["time_us"]["median"] and r["histogram_us"] for r in p if r["timing"] == "isolated")'
check "all: nothing left" until_true nothing_left

link large mpirun -np 2 "$linkperf" p2p -b 5G -e 5G -n 1 -J "$work/large.json"
check "large: 5 GiB by every path with a curve, right in every element" holds "$work/large.json" \
    'sorted(r["path"] for r in p if r["size_bytes"] == 5 << 30 and r["outcome"] == "ok" and r["checked"] > 0) == ["ce_read", "ce_staged", "ce_write", "pinned_staged", "sm_read", "sm_write"]'

link hidden mpirun -np 2 sh -c 'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK exec "$0" p2p -J "$1"' "$linkperf" "$work/hidden.json"
check "hidden: by CUDA IPC, and no GPU with itself" holds "$work/hidden.json" \
    'all(r["outcome"] == "ok" for r in p if r["processes"] == "ipc") and any(r["path"] == "ce_read" and r["processes"] == "ipc" for r in p) and all(e[0] != e[1] for r in p for e in r["edges"] if r["path"] != "on_card")'
check "hidden: the rest says why it is not there" holds "$work/hidden.json" \
    'all("not visible" in r["reason"] for r in p if r["outcome"] == "skipped")'

link same mpirun -np 2 "$linkperf" -b 8 -e 64M --timing graph,pipelined,isolated --only default -J "$work/same.json"
check "same: every collective beside the exchange of its size, in its mode, all right" holds "$work/same.json" \
    'all(r["outcome"] == "ok" and r["checked"] > 0 for r in p if r["path"] == "sm_exchange") and all(r["link_same_gbps"] > 0 for r in d["collectives"])'
python3 - "$work/same.json" <<'PYTHON'
import json, sys
for r in json.load(open(sys.argv[1], encoding="utf-8"))["p2p"]:
    if r["path"] == "sm_exchange":
        print(f'     exchange {r["timing"]} {r["size_bytes"]}: {r["time_us"]["median"]:.2f} us, {r["gbps"]:.1f} GB/s per direction')
PYTHON
exit "$failed"
