# What the scripts for GPU machines share: checks, waiting, finding workers, counting records.
# shellcheck shell=bash disable=SC2012,SC2034
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
slowness=${LINKPERF_SLOWNESS:-1}

need_gpus() { # N
    [ "$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')" -ge "$1" ] && return
    echo "skip: needs $1 GPUs"
    exit 77
}

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; failed=1; fi
}

# Waits until COMMAND is true, at most 60 s.
until_true() {
    local i
    for ((i = 0; i < 600 * slowness; i++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    return 1
}

# Processes of ours that live; zombies that pid 1 must reap do not count.
living() { ps -eo stat=,comm= | awk '$1 !~ /^Z/ && ($2 == "linkperf" || $2 == "linkperf-worker")' | wc -l; }
nothing_left() { [ "$(living)" -eq 0 ]; }

# Has rank RANK's worker of variant VARIANT in run NAME come to TEXT? Run NAME keeps its logs in $work/NAME.
at_step() { grep -qs -- "$4" "$work/$1"/crew[0-9]*[0-9]-"$2"-rank"$3".log; } # NAME VARIANT RANK TEXT

worker_pid() { # NAME VARIANT RANK
    local log crew
    log=$(ls "$work/$1"/crew[0-9]*[0-9]-"$2"-rank"$3".log | tail -n 1)
    crew=$(basename "$log" | sed 's/crew0*\([0-9]*\).*/\1/')
    pgrep -f "linkperf-worker --crew $crew --rank $3\$"
}

# How many collective records r of the file make EXPRESSION true. A journal counts as far as it got.
count() { # FILE EXPRESSION
    python3 - "$1" "$2" <<'PYTHON'
import json
import sys

text = open(sys.argv[1], encoding="utf-8").read()
try:
    records = json.loads(text)["collectives"]
except (json.JSONDecodeError, KeyError):
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    records = [line["collective"] for line in lines if "collective" in line]
print(sum(1 for r in records if eval(sys.argv[2])))
PYTHON
}
