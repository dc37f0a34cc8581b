#!/usr/bin/env python3
"""What came of scripts/compare_runs.sh: how far runs are from each other, and their wall times.

    compare_runs.py OUT            all that is there
    compare_runs.py OUT variants   name and variables of every variant that the matrix ran, a line each, for the script

Medians are those of crews: a figure of a run is the median of its crews' medians. nccl-tests print text for people, so theirs is
read by its shape.
"""
import glob
import json
import os
import re
import statistics
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def usable(record):
    return record["outcome"] == "ok" and record["checked"] > 0 and record["wrong_elements"] == 0


def times_us(result):
    """Of default, by size: the median of its crews."""
    crews = {}
    for record in result["collectives"]:
        if record["variant"] == "default" and usable(record):
            crews.setdefault(record["size_bytes"], []).append(record["time_us"]["median"])
    return {size: statistics.median(found) for size, found in crews.items()}


def crews_us(result):
    """The same for each crew by itself."""
    crews = {}
    for record in result["collectives"]:
        if record["variant"] == "default" and usable(record):
            crews.setdefault(record["crew"], {})[record["size_bytes"]] = record["time_us"]["median"]
    return list(crews.values())


def peer_times_us(text):
    """Out of place, by size: the sixth column of an nccl-tests row."""
    rows = re.findall(r"^ +(\d+) +\d+ +\w+ +\w+ +-?\d+ +([\d.]+) ", text, re.M)
    return {int(size): float(time) for size, time in rows}


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def print_five(out):
    ours = [times_us(load(path)) for path in sorted(glob.glob(os.path.join(out, "five-[1-5].json")))]
    peers = [peer_times_us(read(path)) for path in sorted(glob.glob(os.path.join(out, "five-nccl-[1-5].txt")))]
    if len(ours) < 2 or len(peers) < 2:
        return
    print(f"AllReduce as graphs, out of place, {len(ours)} runs of linkperf and {len(peers)} of nccl-tests: median, and (max - min) / median")
    print(f"{'bytes':>10} {'linkperf us':>12} {'spread %':>9} {'nccl-tests us':>14} {'spread %':>9} {'ratio':>7}")
    worst = [0.0, 0.0]
    for size in sorted(set.intersection(*(set(run) for run in ours + peers))):
        mine, theirs = [run[size] for run in ours], [run[size] for run in peers]
        spreads = [spread(mine), spread(theirs)]
        worst = [max(a, b) for a, b in zip(worst, spreads)]
        print(f"{size:10d} {statistics.median(mine):12.2f} {spreads[0] * 100:9.2f} {statistics.median(theirs):14.2f} {spreads[1] * 100:9.2f}"
              f" {statistics.median(mine) / statistics.median(theirs):7.3f}")
    print(f"largest spread: linkperf {worst[0] * 100:.2f} %, nccl-tests {worst[1] * 100:.2f} %")


def wall_s(path):
    found = re.findall(r"^# command: .* ; exit (\d+) ; wall ([\d.]+) s$", read(path), re.M)
    if not found or found[-1][0] != "0":
        print(f"{os.path.basename(path)}: exit code {found[-1][0] if found else 'unknown'}: its wall time counts all the same")
    return float(found[-1][1]) if found else 0.0


def print_walls(out):
    peers = [wall_s(path) for path in sorted(glob.glob(os.path.join(out, "peers-*.txt")))]
    for path in sorted(glob.glob(os.path.join(out, "twice-[12].json"))):
        result = load(path)
        seconds, rounds = result["seconds"], max(r["round"] for r in result["collectives"])
        crews = seconds["start"] + seconds["init"] + seconds["measure"] + seconds["check"] + seconds["wait"]
        # of one round: what comes once, and a round's share of what comes in each
        one = seconds["total"] - crews + crews / rounds
        print(f"{os.path.basename(path)}: {seconds['total']:.1f} s, of which one round with survey, link and evidence {one:.1f} s")
        print("   " + ", ".join(f"{name} {seconds[name]:.1f}" for name in seconds))
        if peers:
            print(f"   nccl-tests for the cells of a round: {len(peers)} runs, {sum(peers):.1f} s; ratio {one / sum(peers):.2f}")


CLAIMS = ("better", "worse")


def verdicts(result):
    """By cell and variant."""
    found = {}
    for cell in (result["judgement"] or {}).get("cells", []):
        key = tuple((name, str(value)) for name, value in cell.items() if name != "sizes")
        for size in cell["sizes"]:
            for verdict in size["verdicts"]:
                found[key, size["requested_bytes"], verdict["variant"]] = verdict
    return found


def print_claims(out):
    """Does each run confirm what the other claims? By its own verdict; the rest says what became of it."""
    runs = [load(path) for path in sorted(glob.glob(os.path.join(out, "twice-[12].json")))]
    if len(runs) < 2:
        return
    for first, second in ((0, 1), (1, 0)):
        claims = {key: verdict for key, verdict in verdicts(runs[first]).items() if verdict["verdict"] in CLAIMS}
        other = verdicts(runs[second])
        if not claims:
            print(f"run {first + 1} claims nothing")
            continue
        same = [key for key in claims if other[key]["verdict"] == claims[key]["verdict"]]
        against = [key for key in claims if other[key]["verdict"] in CLAIMS and key not in same]
        print(f"run {first + 1} claims {len(claims)} differences to default; run {second + 1} confirms {len(same)} "
              f"({100 * len(same) / len(claims):.1f} %) and contradicts {len(against)}")
        for key in claims:
            if key not in same:
                cell, size, variant = key
                print(f"   not confirmed: {dict(cell)['collective']} {dict(cell)['placement']} {size} {variant}: {claims[key]['verdict']} "
                      f"{claims[key]['ratio']:.4f}; {other[key]['verdict']} {other[key]['ratio']:.4f}")
    for number, run in enumerate(runs, 1):
        for crossover in run["judgement"]["crossovers"]:
            print(f"run {number}: {crossover['collective']} {crossover['placement']}: {crossover['below']} below {crossover['bytes']} bytes, "
                  f"{crossover['above']} above ({crossover['low_bytes']} to {crossover['high_bytes']})")


def print_small(out):
    """Eager calls back to back, where a call costs more than its data."""
    ours = [load(path) for path in sorted(glob.glob(os.path.join(out, "small-[1-5].json")))]
    peers = [peer_times_us(read(path)) for path in sorted(glob.glob(os.path.join(out, "small-nccl-[1-5].txt")))]
    if not ours or not peers:
        return
    print(f"AllReduce back to back, out of place, {len(ours)} runs of linkperf (two crews each) and {len(peers)} of nccl-tests: median of the "
          "processes, and the quickest of them")
    mine = [run for pair in ours for run in crews_us(pair)]
    ratios = [[], []]
    for size in sorted(set.intersection(*(set(run) for run in mine + peers))):
        words = f"{size:10d}"
        for which, pick in enumerate((statistics.median, min)):
            us = [pick([run[size] for run in runs]) for runs in (mine, peers)]
            ratios[which].append(us[0] / us[1])
            words += f" {us[0]:8.2f} us {us[1]:8.2f} us  ratio {us[0] / us[1]:.3f} "
        print(words)
    print("geometric mean of the ratios: " + ", ".join(f"{statistics.geometric_mean(found):.3f}" for found in ratios))


def print_variants(out):
    result = load(os.path.join(out, "twice-1.json"))
    for variant in result["variants"]:
        if variant["repeat"] == 0 and variant["outcome"] != "skipped" or variant["repeat"]:
            print(variant["name"] + ("-again" if variant["repeat"] else ""))
            print(" ".join(f"{name}={value}" for name, value in (variant["env"] or {}).items() if value is not None))


if __name__ == "__main__":
    if sys.argv[2:] == ["variants"]:
        print_variants(sys.argv[1])
    else:
        print_five(sys.argv[1])
        print_small(sys.argv[1])
        print_walls(sys.argv[1])
        print_claims(sys.argv[1])
