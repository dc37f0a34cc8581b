#!/usr/bin/env python3
"""Ratios between linkperf's results and what its peers printed, from the folder that compare_peers.sh filled.

linkperf is read from its JSON; the peers print text for people, so theirs is read by its columns. Medians of all runs of
each program; a ratio above 1 means that linkperf reports the higher bandwidth.
"""
import glob
import json
import os
import re
import statistics
import sys

PLACEMENTS = ("out_of_place", "in_place")
NCCL_TESTS_BUSBW = {"out_of_place": 7, "in_place": 11}  # columns of a row, counted from 0
SMALLEST = 16 << 20  # below it process-to-process spread is larger than the bound


def linkperf_runs(folder):
    runs = []
    for path in sorted(glob.glob(os.path.join(folder, "linkperf-*.json"))):
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    return runs


def linkperf_busbw(runs, collective, placement, size):
    """Medians over runs of default's first crew, pipelined."""
    found = [
        record["busbw_gbps"]
        for run in runs
        for record in run["collectives"]
        if record["collective"] == collective
        and record["variant"] == "default"
        and record["repeat"] == 0
        and record["timing"] == "pipelined"
        and record["placement"] == placement
        and record["requested_bytes"] == size
        and record["outcome"] == "ok"
    ]
    return statistics.median(found) if found else None


def linkperf_copy(runs, path, pattern):
    """Medians over runs of the mean over edges; pairs of one machine are alike, and nvbandwidth's sum is used as such."""
    found = []
    for run in runs:
        values = [r["gbps"] for r in run["p2p"] if r["path"] == path and r["pattern"] == pattern and r["outcome"] == "ok"]
        if values:
            found.append(sum(values) / len(values))
    return statistics.median(found) if found else None


def nccl_tests_busbw(folder, collective, placement, size):
    found = []
    for path in glob.glob(os.path.join(folder, f"{collective}-*.txt")):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if len(words) >= 13 and words[0] == str(size):
                    found.append(float(words[NCCL_TESTS_BUSBW[placement]]))
    return statistics.median(found) if found else None


def nvbandwidth_mean(folder, test):
    """Mean over pairs, from the SUM line: a sum over the directed pairs of the machine."""
    found = []
    for path in glob.glob(os.path.join(folder, "nvbandwidth-*.txt")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        total = re.search(rf"^SUM {test} ([0-9.]+)", text, re.MULTILINE)
        gpus = len(re.findall(r"^Device \d+:", text, re.MULTILINE))
        if total and gpus > 1:
            found.append(float(total.group(1)) / (gpus * (gpus - 1)))
    return statistics.median(found) if found else None


def walls(folder):
    """Seconds of each run, by program."""
    found = {}
    for path in glob.glob(os.path.join(folder, "*.txt")):
        with open(path, encoding="utf-8", errors="replace") as file:
            wall = re.findall(r"^# command: .* wall ([0-9.]+) s", file.read(), re.MULTILINE)
        if wall:
            found[os.path.basename(path)[: -len(".txt")]] = float(wall[-1])
    return found


def row(name, ours, theirs, bound):
    if ours is None or theirs is None:
        print(f"{name:52} {'missing':>10}")
        return False
    ratio = ours / theirs
    good = abs(ratio - 1.0) <= bound
    print(f"{name:52} {ours:10.2f} {theirs:10.2f} {ratio:8.4f}  {'within' if good else 'OUTSIDE'} {bound:.0%}")
    return good


def main():
    folder = sys.argv[1]
    runs = linkperf_runs(folder)
    good = True
    print(f"{len(runs)} runs of linkperf; medians, GB/s")
    print(f"{'':52} {'linkperf':>10} {'peer':>10} {'ratio':>8}")
    good &= row("copy engine write, one way (nvbandwidth)", linkperf_copy(runs, "ce_write", "one_way"),
                nvbandwidth_mean(folder, "device_to_device_memcpy_write_ce"), 0.01)
    row("SM write, one way (nvbandwidth; for information)", linkperf_copy(runs, "sm_write", "one_way"),
        nvbandwidth_mean(folder, "device_to_device_memcpy_write_sm"), 0.01)
    row("SM write, ring, one process per GPU (both ways)", linkperf_copy(runs, "sm_write", "ring"),
        nvbandwidth_mean(folder, "device_to_device_bidirectional_memcpy_write_sm_write1"), 0.02)
    for collective in ("allreduce", "allgather"):
        for placement in PLACEMENTS:
            size = SMALLEST
            while size <= 1 << 30:
                good &= row(f"{collective} {placement} {size >> 20} MiB, pipelined (nccl-tests)",
                            linkperf_busbw(runs, collective, placement, size),
                            nccl_tests_busbw(folder, collective, placement, size), 0.02)
                size *= 2
    seconds = walls(folder)
    peers = sum(v for k, v in seconds.items() if k in ("allreduce-1", "allgather-1"))
    print(f"wall: linkperf's full matrix {seconds.get('linkperf-full', float('nan')):.1f} s; default alone, pipelined, with link "
          f"{seconds.get('linkperf-2', float('nan')):.1f} s; nccl-tests for default's cells {peers:.1f} s")
    wrong = sum(1 for run in runs for r in run["collectives"] + run["p2p"] if r["outcome"] == "wrong")
    print(f"wrong data: {wrong} cells")
    sys.exit(0 if good and wrong == 0 else 1)


if __name__ == "__main__":
    main()
