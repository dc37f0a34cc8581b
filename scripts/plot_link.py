"""Figures of the link: a matrix for each way to copy, and for pairs that were measured at several sizes lines over size."""
import math
from collections import Counter

from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import plot_common as common

HOST = -1  # an end of an edge that is not a GPU

# titles of p2p/patterns.c, and what a cell of a matrix then is
PATTERNS = {
    "one_way": ("one way", ""),
    "both_ways": ("both ways at once", "each cell: source -> destination while destination -> source runs too"),
    "ring": ("every rank to its next in the ring at once", "all cells at once"),
    "one_to_all": ("one to all others at once", "the cells of a row at once"),
    "all_to_one": ("all others to one at once", "the cells of a column at once"),
    "all_pairs": ("every rank to every other at once", "all cells at once"),
}
SMALL = 1024  # bytes; queued copies up to here are timed back to back, and their rate says nothing
LATENCY_PATHS = ("load_latency", "flag_latency", "cpu_flag")  # their figure is a time, whatever their timing is called
CELLS = ((4, 1.1, 10), (8, 0.85, 8.5), (16, 0.65, 6.5), (math.inf, 0.5, 5))  # most GPUs, inches of a cell, points of its text
ROUND_TRIPS = ("flag_latency", "cpu_flag")
NANOSECONDS = ("load_latency",)  # of these paths; others have microseconds


def end_text(end):
    return "host" if end == HOST else str(end)


def is_of_link(record):
    """Rings in the modes of collectives stand beside those: an edge of them has no rate of its own."""
    return record.get("timing", "queued") == "queued" or (record["timing"] == "isolated" and len(record["edges"]) == 1)


def is_latency(record):
    return record["path"] in LATENCY_PATHS or record.get("timing") == "isolated"


def processes_text(result, processes):
    if processes == "one":
        return "one process"
    return "a process per rank" if common.on_host(result) else "a process per GPU, CUDA IPC"


def way_text(result, path, pattern, processes):
    return f"{common.path_title(path)}: {PATTERNS.get(pattern, (pattern,))[0]}, {processes_text(result, processes)}"


# ---- matrices ----


def edge_rates(record):
    """GB/s of each edge; None where it is not known."""
    if len(record["edges"]) == 1:
        return [record.get("gbps")]
    return record.get("edge_gbps") or [None] * len(record["edges"])


def latency_of(record):
    time = record.get("time_us") or {}
    value = common.number(record.get("latency_us"))
    return common.number(time.get("median")) if value is None else value


def p99_of(record):
    return (record.get("time_us") or {}).get("p99")


def edge_latencies(record):
    scale = 1000.0 if record["path"] in NANOSECONDS else 1.0
    value = latency_of(record)
    return [None if value is None else value * scale] * len(record["edges"])


def cells_of(records, values):
    """{(src, dst): a number, or the word of an outcome other than ok, which no number replaces}, GPU to GPU."""
    found = {}
    for record in records:
        for edge, value in zip(record["edges"], values(record)):
            if HOST in edge:
                continue
            if record["outcome"] != "ok":
                found[tuple(edge)] = common.outcome_word(record["outcome"])
            elif common.number(value) is not None:
                found.setdefault(tuple(edge), value)
    return found


def gpus_of(copies):
    return sorted({end for record in copies for edge in record["edges"] for end in edge if end != HOST})


def ink_on(colour):
    red, green, blue = colour[:3]
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def matrix_axes(result, gpus, cell):
    """A figure whose axes have cells of so many inches, and room for a colour bar."""
    side = cell * len(gpus)
    width = side + 0.5
    figure = Figure(figsize=(width, side))
    axes = figure.add_axes([0, 0, side / width, 1])
    bar = figure.add_axes([(side + 0.2) / width, 0, 0.2 / width, 1])
    axes.set(xlim=(-0.5, len(gpus) - 0.5), ylim=(len(gpus) - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(len(gpus)), gpus)
    axes.set_yticks(range(len(gpus)), gpus)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    what = "rank" if common.on_host(result) else "GPU"
    axes.set(xlabel=f"destination {what}", ylabel=f"source {what}")
    return figure, axes, bar


def heat_map(result, gpus, cells, text, unit, colours):
    cell, font = next((inches, points) for most, inches, points in CELLS if len(gpus) <= most)
    figure, axes, bar = matrix_axes(result, gpus, cell)
    numbers = [value for value in cells.values() if not isinstance(value, str)]
    scale = Normalize(0, max(numbers, default=1.0) or 1.0)
    colours = colormaps[colours]
    for (src, dst), value in cells.items():
        x, y = gpus.index(dst), gpus.index(src)
        if isinstance(value, str):
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="0.9", edgecolor="0.7", hatch="////", linewidth=0))
            axes.text(x, y, value, ha="center", va="center", fontsize=font, color="black",
                      bbox={"facecolor": "0.95", "edgecolor": "none", "pad": 1.5})
        else:
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colours(scale(value)), linewidth=0))
            axes.text(x, y, common.number_text(value), ha="center", va="center", fontsize=font,
                      color=ink_on(colours(scale(value))))
    for i in range(1, len(gpus)):
        axes.axhline(i - 0.5, color="white", linewidth=1)
        axes.axvline(i - 0.5, color="white", linewidth=1)
    axes.set_title(text, loc="left", pad=8)
    if numbers:
        figure.colorbar(ScalarMappable(scale, colours), cax=bar, label=unit)
    else:
        bar.remove()
    return figure


def by_way(records):
    groups = {}
    for record in records:
        groups.setdefault((record["path"], record["pattern"], record["processes"]), []).append(record)
    return groups


def at_one_size(records, sign):
    """The size at which most pairs were measured, of those the largest (sign 1) or smallest (-1), and its records."""
    pairs = Counter()
    for record in records:
        pairs[record["requested_bytes"]] += len(record["edges"])
    size = max(pairs, key=lambda size: (pairs[size], sign * size))
    return size, [record for record in records if record["requested_bytes"] == size]


def overlap_text(records):
    """Rates of copies at once are only that while all of them run."""
    shares = [common.number(record.get("overlap")) for record in records if record["outcome"] == "ok"]
    shares = [share for share in shares if share is not None]
    return f"; all run for at least {math.floor(100 * min(shares))} % of the time" if shares else ""


def rate_matrices(result, copies):
    for way, records in by_way(r for r in copies if not is_latency(r)).items():
        size, records = at_one_size(records, 1)
        cells = cells_of(records, edge_rates)
        if cells:
            note = PATTERNS.get(way[1], ("", ""))[1]
            text = common.title(result, way_text(result, *way),
                                f"source (down) -> destination (across), GB/s (10^9 bytes/s), {common.size_text(size)} bytes",
                                note + overlap_text(records) if note else "")
            yield "link-" + "-".join(way), heat_map(result, gpus_of(copies), cells, text, "GB/s (10^9 bytes/s)", "viridis")


def latency_matrices(result, copies):
    for way, records in by_way(r for r in copies if is_latency(r)).items():
        size, records = at_one_size(records, -1)
        cells = cells_of(records, edge_latencies)
        if cells:
            unit = "ns" if way[0] in NANOSECONDS else "us"
            what = "latency" if way[0] in LATENCY_PATHS else f"latency of a copy of {common.size_text(size)} bytes"
            text = common.title(result, way_text(result, *way), f"source (down) -> destination (across), {what}, {unit}",
                                "half of a round trip, so the same in both directions" if way[0] in ROUND_TRIPS else "")
            yield "latency-" + "-".join(way), heat_map(result, gpus_of(copies), cells, text, f"{what}, {unit}", "viridis_r")


# ---- over size ----


def by_pair(records):
    """{(src, dst): {(path, processes): {size: record}}} of one-way copies that were tried at three sizes or more."""
    pairs = {}
    for record in records:
        if record["pattern"] == "one_way" and record["requested_bytes"] > 0 and record["path"] not in LATENCY_PATHS:
            ways = pairs.setdefault(tuple(record["edges"][0]), {})
            ways.setdefault((record["path"], record["processes"]), {})[record["requested_bytes"]] = record
    for pair in sorted(pairs):
        ways = {way: sizes for way, sizes in pairs[pair].items() if len(sizes) >= 3}
        if any(record["outcome"] == "ok" for sizes in ways.values() for record in sizes.values()):
            yield pair, ways


def way_look(path, processes, place):
    """A path looks the same in every figure; one that common.PATHS does not have takes what is left."""
    known = list(common.PATHS)
    place = known.index(path) if path in known else len(known) + place
    return {**common.style(place), "linestyle": "-" if processes == "one" else (0, (5, 1.5))}


def points_of(sizes, value):
    return {size: common.number(value(record)) if record["outcome"] == "ok" else None for size, record in sizes.items()}


def line_rate(result, src, dst):
    """GB/s of one direction and the pair's kind; None where it is not known."""
    topology = result.get("topology") or {}
    for pair in topology.get("pairs") or []:
        if pair.get("src") == src and pair.get("dst") == dst:
            if "line_gbps" in pair:
                return common.number(pair["line_gbps"]), pair.get("kind") or ""
            line = topology.get("line") or {}  # of results in which all pairs were of one kind
            return common.number(line.get("gbps")), line.get("kind") or ""
    return None, ""


def draw_ways(panel, result, ways, value):
    for place, ((path, processes), sizes) in enumerate(ways.items()):
        outcomes = [(size, record["outcome"]) for size, record in sizes.items()]
        between = "between processes" if common.on_host(result) else "CUDA IPC"
        label = common.path_title(path) + ("" if processes == "one" else f", {between}")
        common.draw_line(panel, points_of(sizes, value), outcomes, label, **way_look(path, processes, place))


def draw_p99(panel, ways):
    """In the colours of the medians, which have the names; only cells with enough samples have one."""
    label = "p99, of 100 samples or more"
    for place, ((path, processes), sizes) in enumerate(ways.items()):
        points = points_of(sizes, p99_of)
        if any(value is not None for value in points.values()):
            look = way_look(path, processes, place)
            look.update(linestyle=":", linewidth=1, markerfacecolor="white")
            panel.plot(*common.over_size(points), label=label, **look)
            label = None


def pair_text(result, *ends):
    what = "rank" if common.on_host(result) else "GPU"
    return " -> ".join("host" if end == HOST else f"{what} {end}" for end in ends)


def rate_curves(result, copies):
    for (src, dst), ways in by_pair(r for r in copies if not is_latency(r) and r["requested_bytes"] > SMALL):
        figure, axes = common.new_chart()
        draw_ways(axes[0], result, ways, lambda record: record.get("gbps"))
        rate, kind = line_rate(result, src, dst)
        if rate is not None:
            common.draw_level(axes[0], rate, f"line rate {kind}, {common.number_text(rate)} GB/s per direction")
        axes[0].set_ylim(bottom=0)
        axes[0].set_ylabel("GB/s (10^9 bytes/s)")
        common.size_axis(axes[0], [size for sizes in ways.values() for size in sizes])
        common.finish_chart(axes, common.title(result, f"{pair_text(result, src, dst)}: one way, GB/s (10^9 bytes/s) over size"))
        yield f"curve-{end_text(src)}-{end_text(dst)}", figure


def latency_curves(result, copies):
    for (src, dst), ways in by_pair(r for r in copies if is_latency(r)):
        figure, axes = common.new_chart()
        draw_ways(axes[0], result, ways, latency_of)
        draw_p99(axes[0], ways)
        common.log_scale(axes[0])
        axes[0].set_ylabel("us")
        common.size_axis(axes[0], [size for sizes in ways.values() for size in sizes])
        common.finish_chart(axes, common.title(result, f"{pair_text(result, src, dst)}: latency in us over size, median and p99",
                                               "isolated: one copy, then wait, by the host's clock"))
        yield f"latency-curve-{end_text(src)}-{end_text(dst)}", figure


def figures(result):
    """Yields (name without ending, figure)."""
    copies = [record for record in result["p2p"] if is_of_link(record)]
    for kind in (rate_matrices, latency_matrices, rate_curves, latency_curves):
        yield from kind(result, copies)
