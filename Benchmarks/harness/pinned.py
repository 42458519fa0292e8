"""The write-ahead log while another program reads: within its limit without a reader, explained and cut back with one."""

import json
import os
import sqlite3
import subprocess
import time
from pathlib import Path

from . import tools
from .measure import stop


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=16, help="--wal-limit in MiB (default 16)")
    parser.add_argument("--release", type=float, default=3, help="the reader ends at so many times the limit (default 3)")
    parser.add_argument("--scratch", help="folder for data and databases")
    parser.add_argument("--json", help="write the figures to this file")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    source = tools.generated(folder, "narrow", "csv", arguments.rows, arguments.seed)
    figures = {}
    for name in ("no reader", "short readers", "pinned, then released"):
        figures[name] = load(folder, source, arguments, name)
        report(name, figures[name])
    limit = arguments.limit << 20
    for name in ("no reader", "short readers"):
        if highest(figures[name]) > limit:
            stop(f"{name}: the log grew to {highest(figures[name])} bytes, past {limit}")
        if figures[name]["summary"] is not None:
            stop(f"{name}: the summary tells of a reader: {figures[name]['summary']}")
    check_pinned(figures["pinned, then released"], limit)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2), encoding="utf-8")


def highest(figures):
    """The log's largest size, as seen every 10 ms and as the command says itself."""
    return max(figures["log peak"], figures["wal_bytes_peak"])


def check_pinned(figures, limit):
    """The reader has to have held the log past its limit, to have been named, and to have ended during the load; then
    the log has to have come under its limit and to have stayed there."""
    if figures["released after"] is None:
        stop("pinned: the log did not get so large that the reader ended; more --rows or a smaller --release do that")
    if figures["under the limit after"] is None:
        stop("pinned: the log was not under its limit again before the load ended; more --rows show whether it would be")
    if figures["log after release"] > limit:
        stop(f"pinned: the log grew to {figures['log after release']} bytes after the reader's end, past {limit}")
    summary = figures["summary"]
    if not summary:
        stop("pinned: the summary has no wal_pinned")
    if str(os.getpid()) not in summary["cause"] or summary["seconds"] <= 0:
        stop(f"pinned: the summary does not name this reader and its time: {summary}")
    if not limit < summary["bytes_peak"] <= highest(figures) or summary["bytes_left"] > limit:
        stop(f"pinned: the summary's sizes are not what was seen ({highest(figures)} bytes): {summary}")
    if not any(f"process {os.getpid()} " in line and "--wal-limit" in line for line in figures["said"]):
        stop(f"pinned: the run did not say who held the log past which limit: {figures['said']}")


def load(folder, source, arguments, name):
    database = folder / "pinned.db"
    log = Path(str(database) + "-wal")
    summary = folder / "pinned.summary.json"
    limit = arguments.limit << 20
    tools.remove_database(database)
    with sqlite3.connect(database) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE other(a)")
        made.execute("INSERT INTO other VALUES (1)")
    made.close()
    reader = sqlite3.connect(database, isolation_level=None)
    is_pinned = name.startswith("pinned")
    if is_pinned:
        read(reader)
    command = [
        tools.upsurge(), "load", str(database), "narrow", str(source), "--key", "id",
        "--wal-limit", f"{arguments.limit}MiB", "--summary", str(summary)]
    start = time.monotonic()
    talk = folder / "pinned.talk"
    peak, released, under, after = 0, None, None, 0
    with open(talk, "wb") as output:
        child = subprocess.Popen(command, stderr=output)
        turn = 0
        while child.poll() is None:
            size = log.stat().st_size if log.exists() else 0
            peak = max(peak, size)
            now = time.monotonic() - start
            if is_pinned and released is None and size > arguments.release * limit:
                reader.execute("COMMIT")
                released = now
            elif released is not None and under is None and size <= limit:
                under = now
            elif under is not None:
                after = max(after, size)
            turn += 1
            if name == "short readers" and turn % 10 == 0:
                if reader.in_transaction:
                    reader.execute("COMMIT")
                else:
                    read(reader)
            time.sleep(0.01)
    seconds = time.monotonic() - start
    if child.returncode != 0:
        stop(f"upsurge ended with {child.returncode}:\n{talk.read_text()}")
    if reader.in_transaction:
        reader.execute("COMMIT")
    report = json.loads(summary.read_text())
    reader.close()
    check = sqlite3.connect(database)
    if check.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        stop("the database is damaged")
    if check.execute("SELECT count(*) FROM narrow").fetchone() != (arguments.rows,):
        stop("rows are missing")
    check.close()
    tools.remove_database(database)
    said = [line for line in talk.read_text().splitlines() if "write-ahead log" in line]
    return {
        "seconds": seconds, "log peak": peak, "released after": released, "under the limit after": under,
        "log after release": after, "said": said, "summary": report.get("wal_pinned"),
        "wal_bytes_peak": report["wal_bytes_peak"]}


def read(reader):
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM other").fetchall()


def report(name, figures):
    print(f"{name}: {figures['seconds']:.1f} s, log at most {figures['log peak'] / (1 << 20):.1f} MiB")
    if figures["under the limit after"] is not None:
        print(
            f"  the reader ended after {figures['released after']:.1f} s; the log was under its limit "
            f"{figures['under the limit after'] - figures['released after']:.2f} s later, and at most "
            f"{figures['log after release'] / (1 << 20):.1f} MiB from then on")
    for line in figures["said"]:
        print("  " + line)
    if figures["summary"]:
        print("  wal_pinned: " + json.dumps(figures["summary"]))
