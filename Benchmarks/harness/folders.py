"""A drop folder of many small files, mirrored, against one load of all of them by a glob: the same rows in the same table."""

import json
import os
import shutil

from . import results, series, tools
from .contenders import checked
from .measure import stop

# A mirror may take this many times as long as the load.
LIMIT = 2.0


def add_arguments(parser):
    series.add_arguments(parser, rows=200)
    parser.add_argument("--files", type=int, default=2_000, help="files in the folder (2000)")
    parser.add_argument("--save", action="store_true", help="write all results to Benchmarks/results too, for `run report`")


def run(arguments):
    """--rows is the number of rows of each file."""
    folder = tools.scratch(arguments.scratch)
    feed = folder / "folders-in"
    shutil.rmtree(feed, ignore_errors=True)
    feed.mkdir()
    for number in range(arguments.files):
        write(feed / f"{number:05}.csv", number, arguments.rows)
    database, summary = folder / "folders.db", folder / "folders.summary.json"
    jobs = {}
    for name, words in (("delta", "kind: delta"), ("snapshot", "kind: snapshot, sweep: none"),
                        ("snapshot, swept", "kind: snapshot, sweep: hard, guards: { max-delete: 100% }")):
        path = folder / f"folders-{name.replace(', ', '-')}.yaml"
        path.write_text(f"tables:\n  t: {{ source: {feed}/, key: id, {words} }}\n", encoding="utf-8")
        jobs[name] = path
    options = arguments.upsurge_options.split()

    def contender(words, ledger):
        def once():
            tools.remove_database(database)
            os.sync()
            done = checked("upsurge", [tools.upsurge(), *words, *options, "-q", "--summary", str(summary)])
            found = json.loads(summary.read_text(encoding="utf-8"))["ledger"]
            wrong = {word: found[word] for word, count in ledger.items() if found[word] != count}
            if wrong:
                stop(f"the ledger says {wrong}, and {ledger} was expected")
            return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}
        return once

    # Each file has one row of the one before it.
    rows = arguments.files * arguments.rows
    new = rows - arguments.files + 1
    ledger = {"read": rows, "inserted": new, "updated": arguments.files - 1}
    contenders = {"load, glob": contender(["load", str(database), "t", f"{feed}/*.csv", "--key", "id"], ledger)}
    for name, path in jobs.items():
        contenders[name] = contender(["mirror", str(database), str(path)], ledger if name != "snapshot, swept" else {"read": rows})
    runs = series.interleave(contenders, arguments.rounds)
    series.header(f"{arguments.files:,} files of {arguments.rows:,} rows")
    series.print_runs(runs, rows)
    ratios = {}
    for name in jobs:
        ratios[name] = series.ratio(runs, name, "load, glob", "seconds")
        series.print_ratio(f"{name} / load, glob", ratios[name])
    tools.remove_database(database)
    results.keep(arguments, "folders", {"files": arguments.files, "rows": arguments.rows, "runs": runs, "ratios": ratios})
    if any(ratio["of_medians"] > LIMIT for ratio in ratios.values()):
        raise SystemExit(1)


def write(path, number, rows):
    first = number * (rows - 1)
    lines = ["id,name,place,amount"]
    for row in range(first, first + rows):
        lines.append(f"{row},name {row % 977},place {row % 31},{row % 1000}.{number % 10}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
