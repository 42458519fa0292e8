"""Bad records of 12 kinds among a million: all found where they are, what they cost, and their replay after a fix."""

import json
import sqlite3
from collections import Counter
from pathlib import Path

from . import reject_data, series, tools
from .contenders import checked
from .measure import measure, stop

MENDED_CHECK = """
DROP TRIGGER unlucky;
INSERT INTO parents VALUES (77);
ALTER TABLE feed RENAME TO old;
CREATE TABLE feed (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, n INTEGER CHECK (n < 10000),
  parent INTEGER REFERENCES parents(id), c BLOB) STRICT;
INSERT INTO feed SELECT * FROM old ORDER BY rowid;
DROP TABLE old;
"""


def add_arguments(parser):
    series.add_arguments(parser)
    parser.add_argument("--bad", type=int, default=1_000, help="bad records among the rows (1000)")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    files = reject_data.generated(folder, arguments.rows, arguments.bad, arguments.seed)
    database, rejects = folder / "rejects.db", folder / "rejects.ndjson"
    options = [*reject_data.OPTIONS, *arguments.upsurge_options.split()]

    def load(path, target):
        prepare(database)
        done, summary = load_with_upsurge(database, path, options, target)
        found = [] if target is None else from_table(database) if target == "table" else from_file(rejects)
        check(summary, found, files.places if path == files.dirty else [], arguments)
        return {"seconds": done.seconds, "own s": summary["seconds"], "store s": summary["stages"]["store"]}

    runs = series.interleave(
        {"without bad records": lambda: load(files.clean, None),
         "rejects to a file": lambda: load(files.dirty, str(rejects)),
         "rejects to a table": lambda: load(files.dirty, "table")}, arguments.rounds)
    series.header(f"{arguments.rows:,} records, {arguments.bad:,} of them bad, seed {arguments.seed}")
    series.print_runs(runs, arguments.rows)
    print(f"all {arguments.bad:,} found with their line and byte: {kinds(files.places)}")
    ratios = {}
    for name in ("rejects to a file", "rejects to a table"):
        ratios[name] = series.ratio(runs, "without bad records", name, "seconds")
        series.print_ratio(f"throughput with {name} / without bad records", ratios[name], bar=0.85)
    for target in (str(rejects), "table"):
        prepare(database)
        load_with_upsurge(database, files.dirty, options, target)
        replay(database, None if target == "table" else rejects, files.places, arguments)
    tools.remove_database(database)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"runs": runs, "ratios": ratios}, indent=2), encoding="utf-8")


def prepare(database):
    tools.remove_database(database)
    with_sql(database, "PRAGMA page_size=16384; PRAGMA journal_mode=WAL;" + reject_data.SCHEMA)


def with_sql(database, script):
    connection = sqlite3.connect(database, isolation_level=None)
    connection.executescript(script)
    connection.close()


def load_with_upsurge(database, path, options, target):
    summary = Path(str(database) + ".summary.json")
    command = [tools.upsurge(), "load", str(database), "feed", str(path), "--summary", str(summary), *options]
    if target is None:
        done = checked("upsurge", command)
    else:
        done = measure([*command, "--rejects", target])
        if done.exit_code != 2:
            stop(f"upsurge ended with {done.exit_code}: {done.stderr.strip()[-2000:]}")
    report = json.loads(summary.read_text())
    summary.unlink()
    return done, report


def from_file(path):
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [place(line) for line in lines if "upsurge_rejects" not in line]


def from_table(database):
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    rows = [place(row) for row in connection.execute("SELECT record, line, byte, code FROM upsurge_rejects ORDER BY id")]
    connection.close()
    return rows


def place(entry):
    return tuple(entry[key] for key in ("record", "line", "byte", "code"))


def check(summary, found, places, arguments):
    if found != [place(entry) for entry in places]:
        wrong = next((pair for pair in zip(found, map(place, places)) if pair[0] != pair[1]), (len(found), len(places)))
        stop(f"not all rejects are where they should be: {wrong}")
    if summary["ledger"]["inserted"] != arguments.rows - arguments.bad or summary["ledger"]["rejected"] != len(places):
        stop(f"not all rows are stored: {summary['ledger']}")


def kinds(places):
    return ", ".join(f"{count} {code}" for code, count in sorted(Counter(entry["code"] for entry in places).items()))


def replay(database, rejects, places, arguments):
    """Mends the table, the parents and the raw bytes, and replays twice: what can be stored is there once."""
    with_sql(database, MENDED_CHECK)
    mended = {entry["record"]: entry["mended"] for entry in places if entry["mended"]}
    fixable = sum(entry["mend"] != "never" for entry in places)
    if rejects:
        lines = [json.loads(line) for line in rejects.read_bytes().splitlines()]
        for line in lines:
            if line.get("record") in mended:
                line["raw"] = mended[line["record"]]
                line.pop("raw_base64", None)
        rejects.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    else:
        connection = sqlite3.connect(database)
        connection.executemany(
            "UPDATE upsurge_rejects SET raw = ? WHERE record = ?", [(raw, record) for record, raw in mended.items()])
        connection.commit()
        connection.close()
    command = [tools.upsurge(), "replay", str(database), *([str(rejects)] if rejects else [])]
    first, second = measure(command), measure(command)
    rows, distinct = counts(database)
    left = len(from_file(rejects) if rejects else from_table(database))
    wanted = arguments.rows - arguments.bad + fixable
    if (rows, distinct, left) != (wanted, wanted, len(places) - fixable) or {first.exit_code, second.exit_code} != {2}:
        stop(f"{rows} rows, {distinct} of them different, {left} rejects: {first.stderr}{second.stderr}")
    print(f"replay of the {'file' if rejects else 'table'} after the fix: {fixable:,} stored once in {first.seconds:.2f} s, "
          f"{left} stay; a second one stores none")


def counts(database):
    connection = sqlite3.connect(database)
    result = connection.execute("SELECT count(*), count(DISTINCT id) FROM feed").fetchone()
    connection.close()
    return result
