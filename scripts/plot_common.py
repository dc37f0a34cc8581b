"""What the figures of plot.py share: words, numbers and sizes as linkperf prints them, lines over size, titles.

What is drawn from which records is for plot_link.py and plot_collectives.py.
"""
import math
import textwrap

from matplotlib import rcdefaults, rcParams
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

# .title of p2p/*.c (tests/cmd/plot.bats compares them); a path that is not here goes by its name
PATHS = {
    "ce_write": "copy engine write, P2P on",
    "ce_read": "copy engine read, P2P on",
    "memcpy": "plain cudaMemcpy, P2P on",
    "sm_write": "SM write, P2P on",
    "sm_read": "SM read, P2P on",
    "ce_staged": "driver-staged copy, P2P off",
    "pinned_staged": "through pinned host memory, pipelined",
    "pinned_plain": "through pinned host memory, one half after the other",
    "pinned_to_gpu": "pinned host memory to GPU",
    "gpu_to_pinned": "GPU to pinned host memory",
    "pageable_to_gpu": "pageable host memory to GPU",
    "gpu_to_pageable": "GPU to pageable host memory",
    "on_card": "on-card copy, bytes counted once",
    "load_latency": "load latency, P2P on",
    "flag_latency": "one-way flag latency, P2P on",
    "cpu_write": "CPU write, direct",
    "cpu_bounce": "CPU copy through a bounce buffer",
    "cpu_flag": "one-way flag latency between processes",
}

COLOURS = [f"C{i}" for i in range(10) if i != 7]  # without grey, which is for what stands beside
MARKERS = "os^vDP*X"  # eight: with nine colours no two of seventy-two lines look the same
GREY = "0.5"


def set_up():
    """Figures do not depend on the user's matplotlibrc; text in SVG stays text."""
    rcdefaults()
    rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8})
    rcParams["hatch.linewidth"] = 0.6


# ---- words and numbers ----


def number(value):
    """The value if it is a finite number, else None."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if good else None


def number_text(value):
    """As linkperf's tables have it: three digits or more, never more than two decimals above 1."""
    if abs(value) >= 100:
        return f"{value:.1f}"
    if 0 < abs(value) < 1:
        return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"
    return f"{value:.2f}"


def size_text(size):
    for shift, unit in ((30, "G"), (20, "M"), (10, "K")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def outcome_word(outcome):
    return "wrong!" if outcome == "wrong" else outcome


def path_title(path):
    return PATHS.get(path, path)


def plain(text):
    """matplotlib reads text between dollar signs as mathematics, and hides what begins with an underscore from legends."""
    text = text.replace("$", r"\$")
    return " " + text if text.startswith("_") else text


def on_host(result):
    return result.get("device") == "host"


def title(result, *lines):
    head = "host memory: " if on_host(result) else ""
    tail = "" if result.get("complete", True) else " (incomplete run)"
    return plain("\n".join([head + lines[0] + tail, *(line for line in lines[1:] if line)]))


# ---- lines over size ----


def new_chart(panels=1):
    """A figure with so many panels, one below the other, that share their size axis."""
    figure = Figure(figsize=(9, 1.2 + 3.8 * panels))
    figure.subplots_adjust(hspace=0.08)
    return figure, figure.subplots(panels, sharex=True, squeeze=False)[:, 0]


def style(i):
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4.5, "linewidth": 1.3}


def troubles(outcomes):
    """What became of the cells that are not ok, by a list of (size, outcome): "hang at 4M, 16M; skipped at 12 sizes"."""
    sizes = {}
    for size, outcome in sorted(outcomes):
        if outcome != "ok":
            sizes.setdefault(outcome_word(outcome), []).append(size_text(size))
    whole = len({size for size, _ in outcomes})
    words = []
    for word, where in sizes.items():
        where = list(dict.fromkeys(where))
        if len(where) == whole:
            words.append(word)
        else:
            words.append(f"{word} at " + (", ".join(where) if len(where) <= 3 else f"{len(where)} sizes"))
    return "; ".join(words)


def over_size(points):
    """Sizes and values of {size: number or None}, NaN for None: a gap in the line."""
    sizes = sorted(points)
    return sizes, [math.nan if points[size] is None else points[size] for size in sizes]


def draw_line(axes, points, outcomes, label, **look):
    """points: {size: number or None}; of outcomes, a list of (size, outcome), the label tells those that are not ok."""
    note = troubles(outcomes)
    label = textwrap.fill(plain(f"{label}: {note}" if note else label), 42, subsequent_indent="  ")
    if any(value is not None for value in points.values()):
        axes.plot(*over_size(points), label=label, **look)
    else:
        axes.plot([], [], " ", label=label)


def draw_level(axes, level, label):
    label = textwrap.fill(plain(label), 42, subsequent_indent="  ")
    axes.axhline(level, color="black", linestyle=(0, (1, 1.5)), linewidth=1.5, label=label)


def size_axis(axes, sizes):
    """Powers of two with their names, as many as fit; 1K, 1M and 1G are among them."""
    low, high = math.floor(math.log2(min(sizes))), math.ceil(math.log2(max(sizes)))
    step = math.ceil((high - low + 1) / 15)
    ticks = [1 << power for power in range(low, high + 1) if power % step == 0]
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [size_text(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("size, bytes (K, M, G: powers of 1024)")


def log_scale(axes):
    """Of values, once they are drawn; with enough labels also where no power of ten is among them."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    decades = math.log10(high / low)
    axes.yaxis.set_major_locator(MaxNLocator(6) if decades < 1 else LogLocator(subs=(1, 2, 5) if decades < 4 else (1,)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def finish_chart(axes, text):
    """Title, grid and legend, given all panels of a chart; the first one's lines are in the legend."""
    for panel in axes:
        panel.grid(True, color="0.88", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.label_outer()
    axes[0].set_title(text, loc="left")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, frameon=False,
                   ncol=1 + len(handles) // 40)
