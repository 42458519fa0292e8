"""Peak memory of loads into PostgreSQL, for N and for ten times N rows: within --memory and 32 MiB."""

import json
from pathlib import Path

from .. import tools
from ..measure import machine, measure, stop
from .data import Deliveries
from .server import Server

DATABASE = "memory"
MARGIN = 32  # MiB
# Each finds the table that the one before has left: its title, delivery, and the word of the ledger that counts all.
STEPS = (
    ("a new table", "first", "inserted"), ("the same rows again", "first", "unchanged"),
    ("all rows changed", "all changed", "updated"))


def add_arguments(parser):
    parser.add_argument("--memory", type=int, default=64, metavar="MIB", help="with --postgres: --memory of the loads, in MiB (64)")
    parser.add_argument("--server", metavar="FOLDER", help="with --postgres: where initdb and postgres are (Debian's PostgreSQL 15)")


def run(arguments, rows):
    folder, limit = tools.scratch(arguments.scratch), arguments.memory + MARGIN
    results = []
    # What a client holds does not depend on the server's disk.
    with Server(arguments.server, "off") as server:
        print(f"peak memory of loads into PostgreSQL {server.version()}, --memory {arguments.memory}MiB; machine: {machine()}")
        for count in (rows, 10 * rows):
            deliveries = Deliveries(folder, count, arguments.seed)
            server.sql("postgres", f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
            for title, delivery, word in STEPS:
                done = load(arguments, server, folder, deliveries.file(delivery), count, word)
                peak = done.peak_kib / 1024
                verdict = "reached" if peak <= limit else "MISSED"
                results.append({"load": title, "rows": count, "peak_mib": peak, "asked_mib": limit, "seconds": done.seconds})
                print(f"{title:20} {count:12,} rows {done.seconds:8.2f} s  {peak:7.1f} MiB, asked <= {limit} MiB: {verdict}", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2), encoding="utf-8")
    if any(one["peak_mib"] > limit for one in results):
        raise SystemExit(1)


def load(arguments, server, folder, path, rows, word):
    """Runs the load; its ledger has to have all rows under a word."""
    told = folder / "memory-postgres.summary.json"
    done = measure([
        tools.upsurge(), "load", server.url(DATABASE), "narrow", path, "--key", "id", "--quiet", "--summary", told,
        "--memory", f"{arguments.memory}MiB", *arguments.upsurge_options.split()])
    if done.exit_code != 0:
        stop(f"{path.name}: exit code {done.exit_code}: {done.stderr.strip()[-500:]}")
    ledger = json.loads(told.read_text(encoding="utf-8"))["ledger"]
    if ledger[word] != rows:
        stop(f"{path.name}: the ledger is {ledger}, not {word} {rows:,}")
    server.wait_for_clients(DATABASE)
    return done
