"""Rows that already say what the records say: nothing is written, and how much faster that is than changing all."""

import json
import sqlite3
from pathlib import Path

from . import series, tools
from .contenders import Input, load_with_upsurge
from .measure import stop


def add_arguments(parser):
    series.add_arguments(parser)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    options = arguments.upsurge_options.split()
    filled, work = folder / "filled.db", folder / "unchanged.db"
    files = {
        percent: tools.generated(folder, "narrow", "csv", arguments.rows, arguments.seed, percent)
        for percent in (0, 100)}
    tools.remove_database(filled)
    load_with_upsurge(files[0], Input("narrow", files[0], "id"), filled, options)

    def load(percent, word):
        database = series.fresh_copy(filled, work)
        holder = hold_open(database)
        log = Path(str(database) + "-wal")
        before = log.read_bytes()
        done, summary = load_with_upsurge(files[percent], Input("narrow", files[percent], "id"), database, options)
        after = log.read_bytes()
        holder.close()
        check(summary, word, arguments.rows)
        if word == "unchanged" and (after != before or summary["wal_bytes_written"] != 0):
            stop(f"{summary['wal_bytes_written']} bytes were written to the log, {len(after) - len(before)} are new")
        tools.remove_database(database)
        return {
            "seconds": done.seconds, "own s": summary["seconds"], "store s": summary["stages"]["store"],
            "WAL MB": wal_megabytes(summary)}

    runs = series.interleave(
        {"all unchanged": lambda: load(0, "unchanged"), "all changed": lambda: load(100, "updated")},
        arguments.rounds)
    result = series.ratio(runs, "all changed", "all unchanged", "seconds")
    series.header(f"narrow, {arguments.rows:,} rows by key onto a table that has them, seed {arguments.seed}")
    series.print_runs(runs, arguments.rows)
    print("all unchanged: 0 bytes written to the log, which a second connection held open: its bytes are the same")
    series.print_ratio("all changed / all unchanged", result, bar=2.0)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"runs": runs, "ratio": result}, indent=2), encoding="utf-8")


def hold_open(database):
    """A second connection, so that no close removes the log, in which a few frames of its own lie."""
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("PRAGMA wal_autocheckpoint=0")
    holder.execute("CREATE TABLE IF NOT EXISTS holder(a)")
    holder.execute("INSERT INTO holder VALUES (1)")
    return holder


def wal_megabytes(summary):
    return summary["wal_bytes_written"] / 1e6


def check(summary, word, rows):
    if summary["ledger"][word] != rows:
        stop(f"not all rows are {word}: {summary['ledger']}")
