"""Every bar of the project's performance programme in one run: what is asked, what was measured, reached or missed."""

import sys

from . import bar_loads, bar_tables, bar_upserts, results, tools
from .bar_checks import Context
from .measure import machine, stop

# In the order they run: the bars that a comparison answers, and the function that runs it.
COMPARISONS = [
    ({1, 2, 3, 10}, bar_loads.narrow), ({4}, bar_tables.wide), ({5}, bar_tables.indexed), ({6}, bar_upserts.narrow),
    ({7}, bar_upserts.sqlite_utils), ({8}, bar_upserts.babynames), ({9}, bar_loads.large)]


def add_arguments(parser):
    parser.add_argument("--only", metavar="1,4,6", help="these bars (all ten)")
    parser.add_argument("--rounds", type=int, default=5, help="times each contender runs (5)")
    parser.add_argument(
        "--rows-scale", type=float, default=1.0, metavar="X",
        help="a share of the rows that the bars name: to try the script, not the bars (1.0)")
    parser.add_argument(
        "--tries", type=int, default=3,
        help="so often a comparison runs at most, as long as its reference is not calm (3)")
    tools.add_seed(parser)
    tools.add_scratch(parser)
    results.add_arguments(parser)


def run(arguments):
    every = set().union(*(bars for bars, _ in COMPARISONS))
    try:
        only = {int(number) for number in arguments.only.split(",")} if arguments.only else every
    except ValueError:
        only = {0}
    if not only <= every:
        stop(f"--only {arguments.only}: give numbers of 1 to {max(every)}, as in --only 1,4,6")
    context = Context(arguments, tools.scratch(arguments.scratch), only)
    for bars, comparison in COMPARISONS:
        if bars & only:
            print(f"bars {', '.join(map(str, sorted(bars & only)))}: {comparison.__name__}", file=sys.stderr)
            comparison(context)
    checks = sorted((check for check in context.checks if check.bar in only), key=lambda check: check.bar)
    print_checks(checks, context)
    results.keep(arguments, "bars", {
        "rounds": arguments.rounds, "rows_scale": arguments.rows_scale, "features": vars(context.features),
        "checks": [vars(check) for check in checks], "comparisons": context.comparisons})


def print_checks(checks, context):
    print(f"\nbars, medians of {context.rounds} rounds; machine: {machine()}")
    if context.scale != 1:
        print(f"with {context.scale:g} of the rows: this tries the script, the figures say nothing")
    for option, known in (("--direct", context.features.has_direct), ("--input-order", context.features.has_input_order)):
        if not known:
            print(f"this upsurge has no {option}")
    width = max(len(check.what) for check in checks)
    print(f"\n{'bar':>3}  {'what':{width}} {'asked':>14} {'measured':>10}  {'by round':>15}")
    for check in checks:
        by_round = f"{check.low:.2f}-{check.high:.2f}" if check.low is not None else ""
        print(f"{check.bar:3}  {check.what:{width}} {check.asked:>14} {check.shown():>10}  {by_round:>15}  {check.verdict()}")
        if check.note:
            print(f"     {check.note}")
