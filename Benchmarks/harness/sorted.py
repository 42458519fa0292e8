"""Random text keys: sorted before they are stored, against cached single-row statements in the order of arrival."""

import json
from pathlib import Path

from . import series, tools
from .contenders import Input, digest, load_with_upsurge
from .measure import stop

MEMORIES = {"512MiB": ["--memory", "512MiB"], "default": []}
SINGLE = ["--rows-per-statement", "1", "--input-order"]


def add_arguments(parser):
    series.add_arguments(parser, rows=500_000, rounds=3)
    parser.add_argument("--existing", type=int, default=2_000_000, help="rows of the table that has some (2000000)")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    filled = folder / "sorted-filled.db"
    path = tools.generated(folder, "wide", "csv", arguments.rows, arguments.seed)
    before = tools.generated(folder, "wide", "csv", arguments.existing, arguments.seed + 1)
    tools.remove_database(filled)
    load_with_upsurge(before, Input("wide", before, "key"), filled, ["--memory", "512MiB"])
    results = {}
    for title, start, bar in (("a new table", None, 2.0), (f"a table of {arguments.existing:,} rows", filled, 2.5)):
        results[title] = measure(arguments, folder, path, start, title, bar)
    tools.remove_database(filled)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2), encoding="utf-8")


def measure(arguments, folder, path, start, title, bar):
    database = folder / "sorted.db"
    options = arguments.upsurge_options.split()
    digests, details = set(), {}

    def load(name, more):
        if start:
            series.fresh_copy(start, database)
        else:
            tools.remove_database(database)
        done, summary = load_with_upsurge(path, Input("wide", path, "key"), database, [*options, *more])
        digests.add(digest(database, "wide")["digest"])
        tools.remove_database(database)
        details[name] = (summary["settings"], summary["peak_memory_bytes"])
        return {"seconds": done.seconds, "store s": summary["stages"]["store"],
                "sort s": summary["stages"].get("sort", 0), "commit s": summary["stages"]["commit"],
                "check s": summary["stages"]["checkpoint"]}

    contenders = {}
    for memory, given in MEMORIES.items():
        contenders[f"single rows, {memory}"] = lambda g=given, m=memory: load(f"single rows, {m}", [*g, *SINGLE])
        contenders[f"sorted, {memory}"] = lambda g=given, m=memory: load(f"sorted, {m}", g)
    runs = series.interleave(contenders, arguments.rounds)
    if len(digests) != 1:
        stop("the contenders made different tables")
    series.header(f"wide, {arguments.rows:,} rows with random text keys into {title}, seed {arguments.seed}")
    series.print_runs(runs, arguments.rows)
    ratios = {}
    for memory in MEMORIES:
        ratios[memory] = series.ratio(runs, f"single rows, {memory}", f"sorted, {memory}", "seconds")
        series.print_ratio(
            f"single rows in order of arrival / sorted, --memory {memory}", ratios[memory],
            bar if memory == "512MiB" else None)
        settings, peak = details[f"sorted, {memory}"]
        print(f"  sorted {settings.get('sorted_records', 0):,} records, at most {settings.get('sorted_at_once', 0):,} at"
              f" once; peak memory {peak / 2**20:.0f} MiB")
    return {"runs": runs, "ratios": ratios}
