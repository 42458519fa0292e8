"""What shaping costs: a date, a decimal comma, an expression and a filter, each against the same load without it."""

import json
from pathlib import Path

from . import series, tools
from .contenders import Input, load_with_upsurge
from .measure import stop


def add_arguments(parser):
    series.add_arguments(parser, rows=2_000_000)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    database = folder / "shaping.db"
    plain = tools.generated(folder, "narrow", "csv", arguments.rows, arguments.seed)
    local = written_locally(plain)
    half = {"inserted": arguments.rows // 2, "filtered": arguments.rows - arguments.rows // 2}
    every = {"inserted": arguments.rows}

    def load(path, options, ledger):
        def once():
            tools.remove_database(database)
            given = [*arguments.upsurge_options.split(), *options]
            done, summary = load_with_upsurge(path, Input("narrow", path, "id"), database, given)
            if any(summary["ledger"][word] != count for word, count in ledger.items()):
                stop(f"{' '.join(options)}: the ledger should have {ledger}: {summary['ledger']}")
            return {"seconds": done.seconds, "own s": summary["seconds"]}
        return once

    runs = series.interleave({
        "as it stands": load(plain, [], every),
        "--let with arithmetic": load(plain, ["--let", "total=price*quantity"], every),
        "--where, half": load(plain, ["--where", "id % 2 = 0"], half),
        "local spelling, as texts": load(local, [], every),
        "--date": load(local, ["--date", "updated_at=%d/%m/%Y %H.%M.%S"], every),
        "--decimal comma": load(local, ["--decimal", "comma"], every),
    }, arguments.rounds)
    tools.remove_database(database)
    series.header(f"narrow, {arguments.rows:,} rows into a new table with a key, seed {arguments.seed}")
    series.print_runs(runs, arguments.rows)
    results = {}
    for name, base, limit in (
            ("--let with arithmetic", "as it stands", 1.6), ("--where, half", "as it stands", 1.0),
            ("--date", "local spelling, as texts", 1.1), ("--decimal comma", "local spelling, as texts", 1.1)):
        found = results[name] = series.ratio(runs, name, base, "seconds")
        verdict = "reached" if found["of_medians"] <= limit else "MISSED"
        print(f"{name} / {base}: {found['of_medians']:.2f} (by round {found['min']:.2f}-{found['max']:.2f}),"
              f" at most {limit:g}: {verdict}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"runs": runs, "ratios": results}, indent=2), encoding="utf-8")


def written_locally(plain):
    """The same rows with `;` between fields, a comma in prices, and dates as 31/12/2024 23.59.59; made once."""
    path = plain.with_name(plain.stem + "-local.csv")
    if path.is_file() and path.stat().st_mtime >= plain.stat().st_mtime:
        return path
    partial = path.with_suffix(".partial")
    with open(plain, encoding="utf-8") as source, open(partial, "w", encoding="utf-8") as output:
        output.write(next(source).replace(",", ";"))
        for line in source:
            number, name, category, quantity, price, stamp = line.rstrip("\n").split(",")
            date, time = stamp.split("T")
            year, month, day = date.split("-")
            stamp = f"{day}/{month}/{year} {time.replace(':', '.')}"
            output.write(";".join((number, name, category, quantity, price.replace(".", ","), stamp)) + "\n")
    partial.rename(path)
    return path
