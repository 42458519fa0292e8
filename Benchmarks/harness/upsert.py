"""Upserts of rows that exist and all change: many rows a statement against cached single-row statements."""

import json
from pathlib import Path

from . import series, tools
from .contenders import Input, digest, load_with_upsurge, run_floor, settings_of
from .measure import stop
from .unchanged import check


def add_arguments(parser):
    series.add_arguments(parser)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    options = arguments.upsurge_options.split()
    filled, work = folder / "filled.db", folder / "upsert.db"
    before, after = (
        tools.generated(folder, "narrow", "csv", arguments.rows, arguments.seed, percent) for percent in (0, 100))
    tools.remove_database(filled)
    _, summary = load_with_upsurge(before, Input("narrow", before, "id"), filled, options)
    settings = settings_of(summary)
    digests = set()

    def engine(*more):
        database = series.fresh_copy(filled, work)
        done, summary = load_with_upsurge(after, Input("narrow", after, "id"), database, [*options, *more])
        check(summary, "updated", arguments.rows)
        digests.add(digest(database, "narrow")["digest"])
        tools.remove_database(database)
        return {"seconds": done.seconds, "store s": summary["stages"]["store"]}

    def floor(way):
        tools.remove_database(work)
        done = run_floor(Input("narrow", after, "id", existing=before), work, settings, way)
        digests.add(digest(work, "narrow")["digest"])
        tools.remove_database(work)
        return {"seconds": done.seconds, "store s": done.seconds}

    runs = series.interleave({
        "upsurge, many rows": engine,
        "upsurge, single rows": lambda: engine("--rows-per-statement", "1"),
        "C, many rows": lambda: floor("multi"),
        "C, single rows": lambda: floor("single")}, arguments.rounds)
    if len(digests) != 1:
        stop("the contenders made different tables")
    series.header(f"narrow, {arguments.rows:,} rows by key onto a table that has them, all changed, seed {arguments.seed}")
    series.print_runs(runs, arguments.rows)
    ratios = {
        "upsurge: single / many rows, whole process": ("upsurge, single rows", "upsurge, many rows", "seconds", 1.6),
        "upsurge: single / many rows, store stage": ("upsurge, single rows", "upsurge, many rows", "store s", None),
        "C: single / many rows, open to close": ("C, single rows", "C, many rows", "seconds", None),
        "C single rows / upsurge many rows": ("C, single rows", "upsurge, many rows", "seconds", None)}
    results = {}
    for title, (slow, fast, measure, bar) in ratios.items():
        results[title] = series.ratio(runs, slow, fast, measure)
        series.print_ratio(title, results[title], bar)
    print("both of each pair are the same program with the same settings, but for the rows a statement (--rows-per-"
          "statement 1); C has the rows in memory before its clock starts")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"runs": runs, "ratios": results}, indent=2), encoding="utf-8")
