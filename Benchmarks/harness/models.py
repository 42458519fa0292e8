"""Models of a program upserted in one call: against the same rows from a CSV file, GRDB's records in one transaction, and one
statement and transaction a row; or what such a call allocates."""

import json
import subprocess
import sys

from . import callgrind, gates, results, series, tools
from .contenders import Input, checked, create_table, digest, load_with_upsurge
from .measure import stop

# What is asked of one call: so many times the rows a second of each other way.
BARS = {"CSV": 0.85, "GRDB records": 4.0, "row by row": 10.0}
# Rows of the way that is so slow that fewer must do.
FEW = 20


def add_arguments(parser):
    series.add_arguments(parser, rows=1_000_000)
    parser.add_argument("--save", action="store_true", help="write all results to Benchmarks/results too")
    parser.add_argument("--allocations", action="store_true", help="count calls of the allocator instead, with valgrind")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    options = ["--direct", "never", *arguments.upsurge_options.split()]
    program = built()
    if arguments.allocations:
        return count_allocations(program, folder)
    work, filled = folder / "models.db", folder / "models-filled.db"
    before, after, few = (
        tools.generated(folder, "narrow", "csv", rows, arguments.seed, percent)
        for rows, percent in ((arguments.rows, 0), (arguments.rows, 100), (arguments.rows // FEW, 100)))
    made(filled)
    load_with_upsurge(before, Input("narrow", before, "id"), filled, options)
    digests = {}

    def contender(way, path, is_new, rows):
        def once():
            if is_new:
                made(work)
            else:
                series.fresh_copy(filled, work)
            tools.settle()
            if way == "csv":
                done, summary = load_with_upsurge(path, Input("narrow", path, "id"), work, options)
                seconds = done.seconds
            else:
                done = checked("models", [program, way, str(work), str(path)])
                seconds = json.loads(done.stdout)["seconds"]
            if rows == arguments.rows:
                digests.setdefault(is_new, set()).add(digest(work, "narrow")["digest"])
            tools.remove_database(work)
            return {"seconds": seconds, "rows/s": rows / seconds, "peak MiB": done.peak_kib / 1024}
        return once

    runs = series.interleave({
        "one call, new": contender("call", before, True, arguments.rows),
        "CSV, new": contender("csv", before, True, arguments.rows),
        "GRDB records, new": contender("records", before, True, arguments.rows),
        "one call, changed": contender("call", after, False, arguments.rows),
        "CSV, changed": contender("csv", after, False, arguments.rows),
        "GRDB records, changed": contender("records", after, False, arguments.rows),
        "row by row, changed": contender("single", few, False, arguments.rows // FEW)}, arguments.rounds)
    if any(len(found) != 1 for found in digests.values()):
        stop("the contenders made different tables")
    series.header(f"narrow, {arguments.rows:,} models by key (row by row {arguments.rows // FEW:,}), seed {arguments.seed}")
    slow = "row by row, changed"
    series.print_runs({name: found for name, found in runs.items() if name != slow}, arguments.rows)
    series.print_runs({slow: runs[slow]}, arguments.rows // FEW)
    ratios = []
    for state in ("new", "changed"):
        for other, bar in BARS.items():
            if f"{other}, {state}" not in runs:
                continue
            ratio = series.ratio(runs, f"one call, {state}", f"{other}, {state}", "rows/s")
            series.print_ratio(f"rows/s of one call / {other}, {state}", ratio, bar=bar)
            ratios.append({"fast": f"one call, {state}", "slow": f"{other}, {state}", "asked": bar, **ratio})
    results.keep(arguments, "models", {"rows": arguments.rows, "rounds": arguments.rounds, "runs": runs, "ratios": ratios})
    if any(ratio["of_medians"] < ratio["asked"] for ratio in ratios):
        raise SystemExit(1)


def count_allocations(program, folder):
    """What lies between a call of few rows and one of many, whose texts are literals, so that rows themselves need no memory."""
    database = folder / "models.db"
    profiles = []
    for rows in (gates.FEW, gates.MANY):
        made(database)
        profiles.append(callgrind.profile(
            [gates.stripped(program, folder, "models"), "literals", database, rows], folder / "models.callgrind"))
        tools.remove_database(database)
    figures = gates.figures(*profiles)
    rows = gates.MANY - gates.FEW
    print(f"valgrind's counts of one call, {gates.FEW:,} to {gates.MANY:,} models")
    for key, (words, _) in gates.FIGURES.items():
        print(f"  {figures[key]:>12,} {words}")
    print(f"  {figures['allocations'] / rows:>12.6f} allocations a model outside SQLite")
    if figures["allocations"] > gates.HANDFUL:
        print("\n".join(gates.growth(*profiles)))
    if figures["allocations"] >= rows // 1_000:
        raise SystemExit(1)


def built():
    """The program of `models/`, which needs the macros' and GRDB's sources."""
    folder = tools.FOLDER / "models"
    print("building Benchmarks/models (ten minutes, the first time)", file=sys.stderr)
    subprocess.run(["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", str(folder)], check=True, stdout=sys.stderr)
    return str(folder / ".build/release/models")


def made(database):
    """A database with the empty table, and pages as large as the engine makes them."""
    tools.remove_database(database)
    script = "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; " + create_table("narrow")
    checked("sqlite3", [tools.program("sqlite3", "sqlite3"), str(database)], script.encode())
