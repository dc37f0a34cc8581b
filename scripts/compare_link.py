#!/usr/bin/env python3
"""Ratios between `linkperf p2p` and what nvbandwidth and p2pBandwidthLatencyTest printed, from the folder of compare_link.sh.

linkperf is read from its JSON; the peers print text for people, so theirs is read by its shape. Medians of all runs of each
program, of the mean over pairs or GPUs; a ratio above 1 means that linkperf reports the larger figure.
"""
import glob
import json
import os
import re
import statistics
import sys


def texts(folder, program):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, f"{program}-*.txt"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            found.append(file.read())
    return found


def linkperf_runs(folder):
    runs = []
    for path in sorted(glob.glob(os.path.join(folder, "linkperf-*.json"))):
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    return runs


def median(values):
    return statistics.median(values) if values else None


def linkperf(runs, path, pattern, figure):
    """figure: of a record; the mean over the records of the largest size, then the median over runs."""
    found = []
    for run in runs:
        records = [r for r in run["p2p"] if r["path"] == path and r["pattern"] == pattern and r["timing"] == "queued"
                   and r["processes"] == "one" and r["outcome"] == "ok"]
        largest = max((r["size_bytes"] for r in records), default=0)
        values = [figure(r) for r in records if r["size_bytes"] == largest]
        if values:
            found.append(statistics.mean(values))
    return median(found)


def rate(record):
    return record["gbps"]


def edge_rate(record):
    return statistics.mean(record["edge_gbps"])


def both(record):
    return record["sum_gbps"]


def load_ns(record):
    return record["latency_us"] * 1e3


def nvbandwidth(folder, test, per_gpu=False):
    """Mean over directed pairs, or over GPUs, from the SUM line."""
    found = []
    for text in texts(folder, "nvbandwidth"):
        total = re.search(rf"^SUM {test} ([0-9.]+)", text, re.MULTILINE)
        gpus = len(re.findall(r"^Device \d+:", text, re.MULTILINE))
        if total and gpus > 1:
            found.append(float(total.group(1)) / (gpus if per_gpu else gpus * (gpus - 1)))
    return median(found)


def p2pbandwidth(folder, title):
    """Mean of what is off the diagonal in the matrix of that title."""
    found = []
    for text in texts(folder, "p2pbandwidth"):
        lines = text.split("\n")
        start = next((i for i, line in enumerate(lines) if line.startswith(title)), None)
        if start is None:
            continue
        columns = len(lines[start + 1].split()) - 1
        rows = [[float(word) for word in line.split()[1:]] for line in lines[start + 2:start + 2 + columns]]
        found.append(statistics.mean(value for a, row in enumerate(rows) for b, value in enumerate(row) if a != b))
    return median(found)


def wall(folder, program):
    found = []
    for text in texts(folder, program):
        seconds = re.findall(r"^# command: .* wall ([0-9.]+) s", text, re.MULTILINE)
        if seconds:
            found.append(float(seconds[-1]))
    return median(found)


def row(name, ours, theirs, least, most=None):
    """True where the ratio is from least to most."""
    if ours is None or theirs is None:
        print(f"{name:66} {'missing':>10}")
        return False
    ratio = ours / theirs
    good = ratio >= least and (most is None or ratio <= most)
    bound = f"at least {least:.2f}" if most is None else f"{least:.2f} to {most:.2f}"
    print(f"{name:66} {ours:10.2f} {theirs:10.2f} {ratio:8.4f}  {'good' if good else 'NOT GOOD'}: {bound}")
    return good


def main():
    folder = sys.argv[1]
    runs = linkperf_runs(folder)
    good = True
    print(f"{len(runs)} runs of linkperf p2p; medians over runs of means over pairs or GPUs; GB/s where nothing else is said")
    print(f"{'':66} {'linkperf':>10} {'peer':>10} {'ratio':>8}")
    for engine in ("ce", "sm"):
        for way in ("write", "read"):
            title = f"{'copy engine' if engine == 'ce' else 'SM'} {way}"
            good &= row(f"{title}, one way (nvbandwidth)", linkperf(runs, f"{engine}_{way}", "one_way", rate),
                        nvbandwidth(folder, f"device_to_device_memcpy_{way}_{engine}"), 0.99)
            good &= row(f"{title}, each direction while both run (nvbandwidth)", linkperf(runs, f"{engine}_{way}", "both_ways", edge_rate),
                        nvbandwidth(folder, f"device_to_device_bidirectional_memcpy_{way}_{engine}_{way}1"), 0.99)
    good &= row("pinned host memory to GPU (nvbandwidth)", linkperf(runs, "pinned_to_gpu", "one_way", rate),
                nvbandwidth(folder, "host_to_device_memcpy_ce", per_gpu=True), 0.99)
    good &= row("GPU to pinned host memory (nvbandwidth)", linkperf(runs, "gpu_to_pinned", "one_way", rate),
                nvbandwidth(folder, "device_to_host_memcpy_ce", per_gpu=True), 0.99)
    good &= row("on-card copy, bytes counted once (nvbandwidth)", linkperf(runs, "on_card", "one_way", rate),
                nvbandwidth(folder, "device_local_copy", per_gpu=True), 0.99)
    good &= row("load latency, ns (nvbandwidth)", linkperf(runs, "load_latency", "one_way", load_ns),
                nvbandwidth(folder, "device_to_device_latency_sm"), 0.97, 1.03)
    good &= row("driver-staged, one way (p2pBandwidthLatencyTest)", linkperf(runs, "ce_staged", "one_way", rate),
                p2pbandwidth(folder, "Unidirectional P2P=Disabled Bandwidth"), 0.95, 1.05)
    good &= row("driver-staged, sum of both ways, one thread (p2pBandwidthLatencyTest)", linkperf(runs, "ce_staged_turns", "both_ways", both),
                p2pbandwidth(folder, "Bidirectional P2P=Disabled Bandwidth"), 0.95, 1.05)
    good &= row("pinned and pipelined / driver-staged, one way", linkperf(runs, "pinned_staged", "one_way", rate),
                linkperf(runs, "ce_staged", "one_way", rate), 1.0)
    good &= row("pinned and pipelined / driver-staged, sum of both ways", linkperf(runs, "pinned_staged", "both_ways", both),
                linkperf(runs, "ce_staged", "both_ways", both), 1.0)
    good &= row("wall time of all of linkperf p2p / of these cases of nvbandwidth, s", wall(folder, "linkperf"), wall(folder, "nvbandwidth"),
                0.0, 0.5)
    bad = sum(1 for run in runs for r in run["p2p"] if r["outcome"] != "ok")
    print(f"copies that are not ok: {bad} of {sum(len(run['p2p']) for run in runs)}")
    sys.exit(0 if good and bad == 0 else 1)


if __name__ == "__main__":
    main()
