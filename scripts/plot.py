#!/usr/bin/env python3
"""Draws a linkperf result (the JSON of -J, never the printed tables) with matplotlib; says one line per file.

plot_link.py has the figures of the link, plot_collectives.py those of collectives. Exit: 2 usage or no linkperf result,
3 matplotlib is missing or a figure cannot be written.
"""
import argparse
import itertools
import json
import logging
import os
import sys

sys.dont_write_bytecode = True  # no __pycache__ next to the scripts

SCHEMA = "linkperf/1"
SYSTEM_PYTHON = "/usr/bin/python3"  # whose modules come from the system's packages
NEEDED = {  # of a record: what says what it is
    "p2p": {"path": str, "pattern": str, "processes": str, "edges": list, "outcome": str, "requested_bytes": int},
    "collectives": {"collective": str, "placement": str, "timing": str, "variant": str, "outcome": str, "requested_bytes": int},
}


def give_up(code, text):
    print(f"plot: {' '.join(str(text).split())}", file=sys.stderr)
    sys.exit(code)


def arguments():
    parser = argparse.ArgumentParser(description="Draws a linkperf result: link matrices, curves over size, collectives.")
    parser.error = lambda text: give_up(2, f"{text}; see --help")
    parser.add_argument("result", metavar="RESULT.json", help="what linkperf -J wrote")
    parser.add_argument("-o", metavar="DIR", dest="folder", help="folder for the figures; RESULT-plots by default")
    parser.add_argument("--format", choices=("png", "svg"), default="png", help="png by default")
    args = parser.parse_args()
    args.folder = args.folder or os.path.splitext(args.result)[0] + "-plots"
    return args


def is_edge(edge):
    return isinstance(edge, list) and len(edge) == 2 and all(isinstance(end, int) for end in edge)


def complaint(result):
    """Why this is no result that can be drawn; None if it is one."""
    if not isinstance(result, dict) or "schema" not in result:
        return "not a linkperf result"
    if result["schema"] != SCHEMA:
        return f"schema is '{result['schema']}', and this reads '{SCHEMA}'"
    for part in ("topology", "baseline"):
        if not isinstance(result.get(part) or {}, dict):
            return f"not a linkperf result: {part} is not an object"
    for part, needed in NEEDED.items():
        if not isinstance(result.setdefault(part, []), list):
            return f"not a linkperf result: {part} is not a list"
        for i, record in enumerate(result[part]):
            odd = [key for key, kind in needed.items() if not isinstance(record, dict) or not isinstance(record.get(key), kind)]
            if odd:
                return f"not a linkperf result: {odd[0]} of {part}[{i}] is missing or odd"
            if part == "p2p" and not (record["edges"] and all(is_edge(edge) for edge in record["edges"])):
                return f"not a linkperf result: edges of p2p[{i}] are odd"
    return None


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    except OSError as error:
        give_up(2, f"{path}: {error.strerror}")
    except (ValueError, RecursionError) as error:
        give_up(2, f"{path}: not a linkperf result: {error}")
    why = complaint(result)
    if why:
        give_up(2, f"{path}: {why}")
    return result


def need_matplotlib():
    """A python that comes first on the PATH (pyenv, conda) may lack what the system's has; then that one goes on."""
    os.environ["MPLBACKEND"] = "Agg"
    try:
        import matplotlib
    except ImportError as error:
        if sys.executable != SYSTEM_PYTHON and os.access(SYSTEM_PYTHON, os.X_OK):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
        give_up(3, f"matplotlib is missing, run scripts/setup.sh plot ({error})")
    matplotlib.use("Agg")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # "building the font cache"


def save(figure, folder, name):
    path = os.path.join(folder, name.replace("/", "-"))
    try:
        os.makedirs(folder, exist_ok=True)
        figure.savefig(path, dpi=130, bbox_inches="tight", pad_inches=0.15)
    except OSError as error:
        give_up(3, f"{error.filename or path}: {error.strerror}")
    print(path)


def main():
    args = arguments()
    result = load(args.result)
    need_matplotlib()
    import plot_collectives
    import plot_common
    import plot_link

    plot_common.set_up()
    drawn = 0
    for name, figure in itertools.chain(plot_link.figures(result), plot_collectives.figures(result)):
        save(figure, args.folder, f"{name}.{args.format}")
        drawn += 1
    if drawn == 0:
        print(f"{args.result}: nothing to draw")


if __name__ == "__main__":
    main()
