"""Contenders in turn, A B A B …, so that all see the same machine; medians, ranges and ratios of their times."""

import os
import shutil
import statistics
import sys

from . import tools
from .measure import machine, spread

NOISY = 0.10


def add_arguments(parser, rows=1_000_000, rounds=5):
    parser.add_argument("--rows", type=int, default=rows, help=f"rows to load ({rows})")
    tools.add_seed(parser)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"times each contender runs ({rounds})")
    parser.add_argument("--upsurge-options", default="", metavar="OPTIONS", help="more options of upsurge load")
    tools.add_scratch(parser)
    parser.add_argument("--json", metavar="FILE", help="write all results there")


def interleave(contenders, rounds):
    """Runs each contender, a function without arguments that returns seconds by what they are, `rounds` times.

    The first round warms up and does not count."""
    runs = {name: [] for name in contenders}
    for number in range(rounds + 1):
        print("warming up" if number == 0 else f"round {number} of {rounds}", file=sys.stderr)
        for name, contender in contenders.items():
            os.sync()  # what the run before left to be written is not this one's
            seconds = contender()
            if number > 0:
                runs[name].append(seconds)
    return runs


def settled(contenders, rounds, reference, tries=3):
    """`interleave`, again as long as the reference spreads over 10 %: the runs of the calmest try, how many tries it
    took, and the reference's spread. `reference` is a name, or several of which the fastest counts."""
    names = [reference] if isinstance(reference, str) else reference
    best = None
    for number in range(1, tries + 1):
        runs = interleave(contenders, rounds)
        times = min(([one["seconds"] for one in runs[name]] for name in names), key=statistics.median)
        if best is None or spread(times) < best["spread"]:
            best = {"runs": runs, "spread": spread(times)}
        best["tries"] = number
        if best["spread"] <= NOISY:
            break
        print(f"try {number} of {tries}: the reference spreads over {spread(times):.0%}", file=sys.stderr)
    return best


def print_runs(runs, rows):
    """`rows`: a number, or one by name."""
    measures = list(next(iter(runs.values()))[0])
    width = max(22, *(len(name) for name in runs))
    print(f"{'':{width}} {'median s':>9} {'min-max s':>15} {'rows/s':>11}   " + " ".join(f"{m:>9}" for m in measures[1:]))
    for name, done in runs.items():
        times = [one[measures[0]] for one in done]
        middle = statistics.median(times)
        count = rows[name] if isinstance(rows, dict) else rows
        others = " ".join(f"{statistics.median(one[m] for one in done):9.3f}" for m in measures[1:])
        print(f"{name:{width}} {middle:9.3f} {min(times):7.3f}-{max(times):.3f} {count / middle:11,.0f}   {others}")
        if spread(times) > NOISY:
            print(f"  noisy: it spreads over {spread(times):.0%} of its median; let the machine rest")


def ratio(runs, slow, fast, measure):
    """How many times `fast` is faster: of the medians, with the range by round."""
    pairs = list(zip((one[measure] for one in runs[slow]), (one[measure] for one in runs[fast])))
    rounds = [one / other for one, other in pairs if other > 0]
    medians = [statistics.median(values) for values in zip(*pairs)]
    return {"of_medians": medians[0] / medians[1], "min": min(rounds), "max": max(rounds)}


def print_ratio(title, value, bar=None):
    verdict = "" if bar is None else f", bar {bar:g}: {'reached' if value['of_medians'] >= bar else 'MISSED'}"
    print(f"{title}: {value['of_medians']:.2f} (by round {value['min']:.2f}-{value['max']:.2f}){verdict}")


def header(what):
    print(f"{what}; WAL, synchronous=NORMAL\nmachine: {machine()}")


def fresh_copy(source, target):
    """A copy of a closed database, as the contender's own."""
    tools.remove_database(target)
    shutil.copyfile(source, target)
    return target
