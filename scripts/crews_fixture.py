#!/usr/bin/env python3
"""The crews of a run whose variants change nothing, compactly, for tests/unit/test_judge_real.c.

    scripts/crews_fixture.py RESULT.json > tests/data/default-crews-h200x2.json

Every crew of such a run is a default crew. Of each cell all samples are kept, in nanoseconds, a list a crew, in the order in which
crews ran. A cell that some crew lacks is left out, with a word on stderr.
"""
import json
import sys


def crew_order(result):
    """(variant, repeat) in the order of the records, which is that of time."""
    order = []
    for record in result["collectives"]:
        crew = (record["variant"], record["repeat"], record["round"])
        if crew not in order:
            order.append(crew)
    return order


def cells_of(result):
    """(collective, placement, timing, bytes): {crew: samples in ns}, of cells that are ok."""
    cells = {}
    for record in result["collectives"]:
        key = (record["collective"], record["placement"], record["timing"], record["requested_bytes"])
        crew = (record["variant"], record["repeat"], record["round"])
        crews = cells.setdefault(key, {})
        if record["outcome"] == "ok" and record["samples_us"]:
            crews[crew] = [round(1000 * sample) for sample in record["samples_us"]]
    return cells


def about(result, crews):
    versions = result.get("versions", {})
    gpus = [(rank.get("gpu") or {}).get("name", "host memory") for rank in result.get("ranks", [])]
    return {
        "what": f"{crews} default crews; samples in nanoseconds, one list a crew in the order of time",
        "command": " ".join(result.get("command", [])),
        "started": result.get("started"),
        "gpus": gpus,
        "driver": versions.get("driver"),
        "nccl": versions.get("nccl_loaded"),
        "datatype": result["collectives"][0]["datatype"],
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    changed = [variant["name"] for variant in result["variants"] if variant.get("env")]
    if changed:
        print(f"crews_fixture: these variants change something: {', '.join(changed)}", file=sys.stderr)
        return 2
    order = crew_order(result)
    lines = []
    for key, crews in cells_of(result).items():
        if len(crews) < len(order):
            print(f"crews_fixture: left out: {key}: only {len(crews)} of {len(order)} crews", file=sys.stderr)
            continue
        cell = dict(zip(("collective", "placement", "timing", "bytes"), key))
        cell["crews"] = [crews[crew] for crew in order]
        lines.append(json.dumps(cell, separators=(",", ":")))
    print('{"about":' + json.dumps(about(result, len(order)), separators=(",", ":")) + ',\n"cells":[')
    print(",\n".join(lines) + "\n]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
