"""Bad records of 12 kinds among a million: all found where they are, what they cost, and their replay after a fix."""

import base64
import itertools
import json
import sqlite3
from collections import Counter
from pathlib import Path

from . import reject_data, series, tools
from .contenders import checked
from .measure import measure, stop

BAR = 0.85


def add_arguments(parser):
    series.add_arguments(parser)
    parser.add_argument("--bad", type=int, default=1_000, help="bad records among the rows (1000)")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    files = reject_data.generated(folder, arguments.rows, arguments.bad, arguments.seed)
    feed = Feed(folder, files, arguments)
    runs = series.interleave(
        {"without bad records": lambda: feed.load("keyed", files.clean, None),
         "rejects to a file": lambda: feed.load("keyed", files.dirty, str(feed.rejects)),
         "rejects to a table": lambda: feed.load("keyed", files.dirty, "table")}, arguments.rounds)
    series.header(f"{arguments.rows:,} records, {arguments.bad:,} of them bad, seed {arguments.seed}")
    series.print_runs(runs, arguments.rows)
    print(f"all {arguments.bad:,} found with line, byte, column, code and bytes: {kinds(files.places)}")
    ratios = {}
    for name in ("rejects to a file", "rejects to a table"):
        ratios[name] = series.ratio(runs, "without bad records", name, "seconds")
        series.print_ratio(f"throughput with {name} / without bad records", ratios[name], bar=BAR)
    for table in reject_data.TABLES:
        for target in (str(feed.rejects), "table"):
            feed.load(table, files.dirty, target)
            feed.check_rows(table, is_mended=False)
            feed.replay(table, target)
    tools.remove_database(feed.database)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"runs": runs, "ratios": ratios}, indent=2), encoding="utf-8")
    missed = [name for name, ratio in ratios.items() if ratio["of_medians"] < BAR]
    if missed:
        stop(f"{' and '.join(missed)}: less than {BAR:g} of the throughput without bad records")


class Feed:
    """The files, and the database that they are loaded into."""

    def __init__(self, folder, files, arguments):
        self.files = files
        self.arguments = arguments
        self.database = folder / "rejects.db"
        self.rejects = folder / "rejects.ndjson"

    def load(self, table, path, target):
        """Loads into a new database, checks what was rejected, and says what it took."""
        tools.remove_database(self.database)
        self.rejects.unlink(missing_ok=True)
        with_sql(self.database, "PRAGMA page_size=16384; PRAGMA journal_mode=WAL;" + reject_data.schema(table))
        options = [*reject_data.OPTIONS, *(("--key", "id") if table == "keyed" else ("--mode", "insert")),
                   *self.arguments.upsurge_options.split()]
        done, summary = load_with_upsurge(self.database, path, options, target)
        places = reject_data.places_in(table, self.files.places) if path == self.files.dirty else []
        good = self.arguments.rows - len(self.files.places if path == self.files.clean else places)
        ledger = summary["ledger"]
        if (ledger["inserted"], ledger["rejected"], ledger["read"]) != (good, len(places), good + len(places)):
            stop(f"{table}: not all rows are stored or rejected: {ledger}")
        if summary.get("rejects_by_reason", {}) != dict(Counter(place["code"] for place in places)):
            stop(f"{table}: counted {summary.get('rejects_by_reason')}")
        self.check_rejects([] if target is None else self.found(target), places)
        return {"seconds": done.seconds, "own s": summary["seconds"], "store s": summary["stages"]["store"]}

    def found(self, target):
        return from_table(self.database) if target == "table" else from_file(self.rejects)

    def check_rejects(self, found, places):
        wanted = [tuple(place[key] for key in KEYS) for place in places]
        if found != wanted:
            wrong = next((pair for pair in zip(found, wanted) if pair[0] != pair[1]), (len(found), len(wanted)))
            stop(f"not all rejects are what they should be, found and wanted: {wrong}")

    def check_rows(self, table, is_mended):
        """Compares every value with what the records say."""
        connection = sqlite3.connect(self.database)
        stored = connection.execute("SELECT id, name, n, parent, lower(hex(c)) FROM feed ORDER BY CAST(id AS INT), rowid")
        wanted = reject_data.rows_in(table, self.arguments.rows, self.files.places, is_mended)
        for one, other in itertools.zip_longest(stored, wanted):
            if one != other:
                stop(f"{table}{', replayed' if is_mended else ''}: stored is {one}, expected is {other}")
        connection.close()

    def replay(self, table, target):
        """Mends the table, the parents and the raw bytes, and replays twice: what can be stored is there once."""
        with_sql(self.database, reject_data.mend(table))
        places = reject_data.places_in(table, self.files.places)
        mended = {place["record"]: reject_data.text(reject_data.row(place["record"]))
                  for place in places if place["mend"] == "text"}
        stays = [place for place in places if place["mend"] == "never"]
        if target == "table":
            mend_table(self.database, mended)
        else:
            mend_file(self.rejects, mended)
        command = [tools.upsurge(), "replay", str(self.database), *([] if target == "table" else [target])]
        took = []
        for turn in ("the first", "the second"):
            done = measure(command)
            if done.exit_code != 2:
                stop(f"{table}, {turn} replay ended with {done.exit_code}: {done.stderr}")
            self.check_rows(table, is_mended=True)
            self.check_rejects(self.found(target), stays)
            took.append(done.seconds)
        print(f"replay of the {'table' if target == 'table' else 'file'} into a {table} table after the fix: "
              f"{len(places) - len(stays):,} stored once in {took[0]:.2f} s, {len(stays)} stay; a second one stores none")


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


KEYS = ("record", "line", "byte", "column", "code", "raw")


def from_file(path):
    """The rejects in a file as tuples of KEYS."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [reject(line, base64.b64decode(line["raw_base64"]) if "raw_base64" in line else line["raw"].encode())
            for line in lines if "upsurge_rejects" not in line]


def from_table(database):
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    rows = [reject(row, bytes(row["bytes"])) for row in connection.execute(
        'SELECT record, line, byte, "column", code, reason, CAST(raw AS BLOB) AS bytes FROM upsurge_rejects ORDER BY id')]
    connection.close()
    return rows


def reject(entry, raw):
    entry = dict(entry)
    if not entry["reason"]:
        stop(f"a reject without a reason: {entry}")
    return *(entry.get(key) for key in KEYS[:-1]), raw.decode("latin-1")


def mend_file(path, mended):
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        if line.get("record") in mended:
            line["raw"] = mended[line["record"]]
            line.pop("raw_base64", None)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def mend_table(database, mended):
    connection = sqlite3.connect(database)
    connection.executemany(
        "UPDATE upsurge_rejects SET raw = ? WHERE record = ?", [(raw, record) for record, raw in mended.items()])
    connection.commit()
    connection.close()


def kinds(places):
    return ", ".join(f"{count} {code}" for code, count in sorted(Counter(entry["code"] for entry in places).items()))
