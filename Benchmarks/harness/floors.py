"""What each part of a load costs alone, in C: rows in memory by three ways, file to table, the scan, zstd."""

import json

from . import results, series, tools
from .contenders import Input, checked, digest, load_with_upsurge, run_floor, settings_of
from .measure import stop

WAYS = {
    "rows in memory: single-row": "single", "rows in memory: multi-row": "multi",
    "rows in memory: virtual table": "virtual", "file to table: multi-row": "file-multi",
    "file to table: virtual table": "file-virtual"}


def add_arguments(parser):
    parser.add_argument("--shape", choices=["narrow", "wide"], default="narrow", help="the table (narrow)")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows to load (2000000)")
    tools.add_seed(parser)
    parser.add_argument("--rounds", type=int, default=5, help="times each runs (5)")
    tools.add_scratch(parser)
    results.add_arguments(parser)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    database = folder / "floors.db"
    shape = arguments.shape
    csv = tools.generated(folder, shape, "csv", arguments.rows, arguments.seed)
    source = Input(shape, csv, "id" if shape == "narrow" else "key")
    tools.remove_database(database)
    settings = settings_of(load_with_upsurge(csv, source, database, [])[1])
    expected = digest(database, shape)
    floor = tools.build("floor")

    def write(way):
        tools.remove_database(database)
        done = run_floor(source, database, settings, way, conflict="fail")
        found = digest(database, shape)
        if (found["rows"], found["digest"]) != (expected["rows"], expected["digest"]):
            stop(f"{way} made another table than upsurge: {found}, not {expected}")
        tools.remove_database(database)
        return {"seconds": done.seconds, "peak MiB": done.peak_kib / 1024}

    def part(*command):
        done = checked("floor", [floor, *command])
        report = json.loads(done.stdout)
        return {"seconds": report["seconds"], "peak MiB": done.peak_kib / 1024}

    compressed = tools.compressed(csv)
    tools.remove_database(database)
    contenders = {name: lambda way=way: write(way) for name, way in WAYS.items()}
    contenders["scan and convert alone"] = lambda: part("scan", "--shape", shape, "--csv", str(csv))
    contenders["zstd alone"] = lambda: part("decompress", "--zstd", str(compressed))
    best = series.settled(contenders, arguments.rounds, [name for name in WAYS if name.startswith("file")])
    series.header(f"floors in C, {shape}, {arguments.rows:,} rows, seed {arguments.seed}, new database")
    series.print_runs(best["runs"], arguments.rows)
    size = csv.stat().st_size / 1e6
    print(f"the file: {size:.1f} MB, {compressed.stat().st_size / 1e6:.1f} MB as .zst; all tables are equal to upsurge's")
    print("rows in memory: from opening the database to its close; its peak holds the whole input")
    results.keep(arguments, f"floors-{shape}", {"rows": arguments.rows, "settings": settings, "file_mb": size, **best})
