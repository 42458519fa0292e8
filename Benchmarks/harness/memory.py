"""Peak memory of `upsurge load` for N and for ten times N rows."""

import json
from pathlib import Path

from . import tools
from .contenders import Input, run_upsurge
from .measure import machine
from .postgres import memory as postgres_memory


def add_arguments(parser):
    parser.add_argument("--postgres", action="store_true", help="into a private PostgreSQL: a new table, the same rows, all changed")
    parser.add_argument("--rows", type=int, help="of the smaller input (1000000; with --postgres 2000000)")
    parser.add_argument("--shape", choices=["narrow", "wide"], default="narrow", help="the table (narrow)")
    tools.add_seed(parser)
    parser.add_argument("--upsurge-options", default="", metavar="OPTIONS", help="more options of upsurge load")
    tools.add_scratch(parser)
    parser.add_argument("--json", metavar="FILE", help="write all results there")
    postgres_memory.add_arguments(parser)


def run(arguments):
    if arguments.postgres:
        return postgres_memory.run(arguments, arguments.rows or 2_000_000)
    arguments.rows = arguments.rows or 1_000_000
    folder = tools.scratch(arguments.scratch)
    results = []
    print(f"peak memory, {arguments.shape}; machine: {machine()}")
    for kind in ("csv", "csv.zst", "ndjson"):
        peaks = [peak(arguments, folder, kind, rows) for rows in (arguments.rows, 10 * arguments.rows)]
        results.append({"input": kind, "rows": arguments.rows, "peak_kib": peaks[0], "peak_kib_of_ten_times": peaks[1]})
        print(
            f"{kind:8} {arguments.rows:,} rows {peaks[0] / 1024:.1f} MiB, ten times as many "
            f"{peaks[1] / 1024:.1f} MiB, ratio {peaks[1] / peaks[0]:.3f}", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2), encoding="utf-8")


def peak(arguments, folder, kind, rows):
    path = tools.generated(folder, arguments.shape, kind.split(".")[0], rows, arguments.seed)
    if kind.endswith(".zst"):
        path = tools.compressed(path)
    database = folder / "memory.db"
    tools.remove_database(database)
    source = Input(arguments.shape, path, "id" if arguments.shape == "narrow" else "key")
    done = run_upsurge(source, database, arguments.upsurge_options.split())
    tools.remove_database(database)
    return done.peak_kib
