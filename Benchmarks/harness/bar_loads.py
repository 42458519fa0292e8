"""Bars 1, 2, 3, 9 and 10: narrow rows into a new table, against the C floors and the sqlite3 shell."""

import sqlite3

from . import tools
from .bar_checks import Check, fastest, median
from .contenders import Input, load_with_upsurge, run_floor, run_import, settings_of
from .measure import stop

FILE_FLOORS = {"C, file to table, multi-row": "file-multi", "C, file to table, virtual table": "file-virtual"}
MEMORY_FLOORS = {
    "C, rows in memory, single-row": "single", "C, rows in memory, multi-row": "multi",
    "C, rows in memory, virtual table": "virtual"}
QUOTED_ROWS_PER_SECOND = 50_000


def narrow(context):
    """Bars 1, 2, 3 and 10, in one comparison."""
    rows = context.rows(2_000_000)
    files = {"csv": context.generated("narrow", "csv", rows)}
    if 3 in context.only:
        files["ndjson"] = context.generated("narrow", "ndjson", rows)
        files["csv.zst"] = tools.compressed(files["csv"])
        files["ndjson.gz"] = tools.compressed(files["ndjson"], "gz")
    source = Input("narrow", files["csv"], "id")
    insert_path, direct_path = context.features.insert_path, context.features.direct_path
    tools.remove_database(context.database)
    _, summary = load_with_upsurge(files["csv"], source, context.database, insert_path)
    settings = settings_of(summary)

    def loaded(name, load):
        tools.remove_database(context.database)
        done = load()
        context.check_table("narrow", "narrow", rows, name)
        tools.remove_database(context.database)
        return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}

    def ours(kind, options):
        return lambda: load_with_upsurge(files[kind], source, context.database, options)[0]

    def floor(way):
        return lambda: run_floor(source, context.database, settings, way, conflict="fail")

    wanted = {"upsurge, INSERT path": ours("csv", insert_path)}
    if context.only & {1, 2}:
        wanted |= {name: floor(way) for name, way in FILE_FLOORS.items()}
        wanted["sqlite3 .import"] = lambda: run_import(source, context.database)
    if 2 in context.only:
        wanted |= {name: floor(way) for name, way in MEMORY_FLOORS.items()}
        if context.features.has_direct:
            wanted["upsurge, direct path"] = ours("csv", direct_path)
    if 3 in context.only:
        wanted |= {f"upsurge, .{kind}": ours(kind, insert_path) for kind in ("csv.zst", "ndjson", "ndjson.gz")}
    contenders = {name: lambda name=name, load=load: loaded(name, load) for name, load in wanted.items()}
    reference = [name for name in FILE_FLOORS if name in contenders] or "upsurge, INSERT path"
    runs = context.compare(f"narrow, {rows:,} rows into a new table", contenders, reference, rows)
    judge(context, runs, rows)


def judge(context, runs, rows):
    ours, direct = "upsurge, INSERT path", "upsurge, direct path"
    file_floor = fastest(runs, FILE_FLOORS)
    if 1 in context.only:
        context.ratio(
            1, "C file-to-table floor / upsurge by INSERT", runs, file_floor, ours, at_least=0.90,
            note=f"the floor: {file_floor}")
        context.ratio(1, "sqlite3 .import / upsurge by INSERT", runs, "sqlite3 .import", ours, at_least=2.4)
    if 2 in context.only:
        note = "" if context.features.has_direct else "this upsurge has no direct path"
        context.ratio(
            2, "sqlite3 .import / upsurge by the direct path", runs, "sqlite3 .import", direct, at_least=4.0, note=note)
        context.ratio(
            2, "C file-to-table floor / upsurge by the direct path", runs, file_floor, direct, at_least=1.0)
        memory_floor = fastest(runs, MEMORY_FLOORS)
        context.ratio(
            2, "C floor with rows in memory / upsurge by the direct path", runs, memory_floor, direct,
            note=f"beside it: {memory_floor}, which reads no file")
    if 3 in context.only:
        for kind, limit in (("csv.zst", 1.05), ("ndjson", 1.10), ("ndjson.gz", 1.25)):
            context.ratio(3, f"time from .{kind} / from plain CSV", runs, f"upsurge, .{kind}", ours, at_most=limit)
    if 10 in context.only:
        times = [rows / one["seconds"] / QUOTED_ROWS_PER_SECOND for one in runs[ours]]
        value = rows / median(runs, ours) / QUOTED_ROWS_PER_SECOND
        context.add(Check(
            10, "rows/s by INSERT / 50,000 rows/s", ">= 20.00", value, value >= 20, min(times), max(times)))
        context.add(Check(10, "rows/s by INSERT", value=rows / median(runs, ours), unit="rows/s"))


def large(context):
    """Bar 9: ten times the rows of bar 1."""
    counts = {"2M": context.rows(2_000_000), "20M": context.rows(20_000_000)}
    ways = {"INSERT path": context.features.insert_path}
    if context.features.has_direct:
        ways["direct path"] = context.features.direct_path
    files = {name: context.generated("narrow", "csv", rows) for name, rows in counts.items()}
    checked = set()

    def load(name, way):
        tools.remove_database(context.database)
        done, summary = load_with_upsurge(files[name], Input("narrow", files[name], "id"), context.database, ways[way])
        if (name, way) not in checked:  # reading 20,000,000 rows takes longer than writing them
            context.check_table(f"large {name}", "narrow", counts[name], f"upsurge, {way}")
            checked.add((name, way))
        check_count(context.database, counts[name])
        tools.remove_database(context.database)
        peak = summary["peak_memory_bytes"] / (1 << 20)
        return {"seconds": done.seconds, "peak MiB": peak, "us/row": done.seconds * 1e6 / counts[name],
                "cpu s": done.cpu_seconds}

    contenders = {
        f"{name}, {way}": lambda name=name, way=way: load(name, way) for way in ways for name in counts}
    runs = context.compare(
        f"narrow, {counts['2M']:,} and {counts['20M']:,} rows into a new table", contenders, "2M, INSERT path",
        {f"{name}, {way}": counts[name] for way in ways for name in counts})
    for way in ways:
        small, big = f"2M, {way}", f"20M, {way}"
        rates = [one["us/row"] / other["us/row"] for one, other in zip(runs[small], runs[big])]
        value = median(runs, small, "us/row") / median(runs, big, "us/row")
        context.add(Check(
            9, f"rows/s of 20M / of 2M, {way}", ">= 0.85", value, value >= 0.85, min(rates), max(rates)))
        peak = median(runs, big, "peak MiB") / median(runs, small, "peak MiB")
        context.add(Check(9, f"peak memory of 20M / of 2M, {way}", "<= 1.05", peak, peak <= 1.05))


def check_count(database, rows):
    connection = sqlite3.connect(database)
    found = connection.execute("SELECT count(*), max(id) FROM narrow").fetchone()
    connection.close()
    if found != (rows, rows):
        stop(f"{found} rows and last key, not {rows}")
