"""Figures of collectives: busbw over size, a line for each variant, with the link baseline across."""
import statistics

import plot_common as common

TITLES = {"allreduce": "AllReduce", "allgather": "AllGather"}  # .title of collectives/*.c, else the name


def grouped(records):
    """{file name: records of one chart}; what tells charts apart is in the name where place and timing do not."""
    groups = {}
    for record in records:
        name = tuple(record[key] for key in ("collective", "placement", "timing"))
        rest = tuple(str(record.get(key)) for key in ("datatype", "redop", "root"))
        groups.setdefault(name, {}).setdefault(rest, []).append(record)
    for name, parts in groups.items():
        for rest, found in parts.items():
            yield "-".join(name if len(parts) == 1 else name + rest), found


def by_variant(records):
    """{(variant, repeat): {size: records of all rounds}}, in the order of the run."""
    variants = {}
    for record in records:
        key = (record["variant"], record.get("repeat", 0))
        variants.setdefault(key, {}).setdefault(record["requested_bytes"], []).append(record)
    return variants


def quantity(records):
    """One rank has no busbw: nothing crosses a link."""
    return "busbw" if any(common.number(record.get("busbw_gbps")) is not None for record in records) else "algbw"


def middle(records, key):
    """Median over rounds of those that are ok."""
    values = [common.number(record.get(key)) for record in records if record["outcome"] == "ok"]
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def look(variant, place):
    """What others are held against is black, whatever else there is."""
    if variant == ("default", 0):
        return {"color": "black", "marker": "o", "markersize": 4, "linewidth": 2.2, "zorder": 2.5}
    if variant[0] == "default":
        return {"color": common.GREY, "marker": "o", "markersize": 4, "linestyle": "--", "linewidth": 1.5, "zorder": 2.4}
    return common.style(place)


def chart_title(result, records):
    like = records[0]
    words = [TITLES.get(like["collective"], like["collective"]), like.get("datatype")]
    if like["collective"] != "allgather":
        words.append(like.get("redop"))
    if (like.get("root") or 0) > 0:
        words.append(f"root {like['root']}")
    ranks = len(result.get("ranks") or [])
    words += [like["placement"].replace("_", " "), f"{like['timing']} timing"]
    if ranks:
        words.append(f"{ranks} rank{'s' if ranks != 1 else ''}")
    what = "busbw in GB/s per direction (10^9 bytes/s)" if quantity(records) == "busbw" else "algbw in GB/s (10^9 bytes/s)"
    return common.title(result, ", ".join(word for word in words if word),
                        f"{what} over size; linear scale above, logarithmic below")


def chart(result, records):
    """Two panels of the same lines: differences between large sizes show on the linear scale, small sizes on the other."""
    figure, axes = common.new_chart(panels=2)
    key = quantity(records) + "_gbps"
    baseline = result.get("baseline") or {}
    for panel in axes:
        for place, (variant, sizes) in enumerate(by_variant(records).items()):
            common.draw_line(panel, {size: middle(found, key) for size, found in sizes.items()},
                             [(size, record["outcome"]) for size, found in sizes.items() for record in found],
                             variant[0] + (" again" if variant[1] else ""), **look(variant, place - 1))
        if common.number(baseline.get("gbps")) is not None and key == "busbw_gbps":
            common.draw_level(panel, baseline["gbps"],
                              f"link baseline, {common.number_text(baseline['gbps'])} GB/s: {baseline.get('name')}")
        panel.set_ylabel("GB/s (10^9 bytes/s)")
        common.size_axis(panel, [record["requested_bytes"] for record in records])
    axes[0].set_ylim(bottom=0)
    common.log_scale(axes[1])
    common.finish_chart(axes, chart_title(result, records))
    return figure


def figures(result):
    """Yields (name without ending, figure)."""
    for name, records in grouped(r for r in result["collectives"] if r["requested_bytes"] > 0):
        if any(middle([record], quantity(records) + "_gbps") is not None for record in records):
            yield name, chart(result, records)
