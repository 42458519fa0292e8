"""Bars 6, 7 and 8: rows that exist."""

from . import series, tools
from .bar_checks import Check
from .contenders import Input, checked, load_with_upsurge, to_script
from .measure import stop
from .peers import Peers
from .unchanged import check

BABYNAMES = "year INTEGER, name TEXT, sex TEXT, births INTEGER"


def narrow(context):
    """Bar 6: many rows a statement against single rows, and rows that all say so already."""
    rows = context.rows(1_000_000)
    files = {percent: context.generated("narrow", "csv", rows, changed=percent) for percent in (0, 100)}
    filled = context.folder / "bars-filled.db"
    tools.remove_database(filled)
    load_with_upsurge(files[0], Input("narrow", files[0], "id"), filled, [])

    def load(name, percent, options):
        series.fresh_copy(filled, context.database)
        tools.settle()
        done, summary = load_with_upsurge(files[percent], Input("narrow", files[percent], "id"), context.database, options)
        check(summary, "updated" if percent else "unchanged", rows)
        context.check_table(f"upsert {percent}", "narrow", rows, name)
        tools.remove_database(context.database)
        return {
            "seconds": done.seconds, "cpu s": done.cpu_seconds, "store s": summary["stages"]["store"],
            "peak MiB": done.peak_kib / 1024}

    single = context.features.single_rows
    ways = {"all changed": (100, []), "all changed, single rows": (100, single), "none changed": (0, [])}
    runs = context.compare(
        f"narrow, {rows:,} rows by key onto a table that has them",
        {name: lambda name=name, way=way: load(name, *way) for name, way in ways.items()}, "all changed, single rows",
        rows)
    tools.remove_database(filled)
    context.ratio(
        6, "upsert, all changed: single rows / upsurge", runs, "all changed, single rows", "all changed", at_least=1.7)
    context.ratio(6, "upsert: all changed / none changed", runs, "all changed", "none changed", at_least=2.0)


def sqlite_utils(context):
    """Bar 7: the command sqlite-utils."""
    rows = context.rows(250_000)
    bench = Peers(context.folder, rows, context.seed)
    for operation, bar in (("insert", 50), ("upsert", 15)):
        contenders = bench.contenders(["upsurge", "sqlite-utils"], operation)
        what = "into a new table" if operation == "insert" else "by key onto a table that has them, all changed"
        runs = context.compare(f"narrow, {rows:,} rows {what}: sqlite-utils", contenders, "sqlite-utils", rows)
        context.ratio(
            7, f"sqlite-utils {operation} CSV / upsurge", runs, "sqlite-utils", "upsurge", at_least=bar)


def babynames(context):
    """Bar 8: a real later release onto the earlier one."""
    releases = [
        tools.shared_data(f"large/babynames_release{years}.csv.zst") for years in ("2010_1880-2010", "2023_1880-2023")]
    what = "babynames 2023 over 2010: sqlite3 staging table / upsurge from .zst"
    if None in releases:
        context.add(Check(8, what, ">= 3.00", note="the data is not in ../shared/data: name its folder by UPSURGE_DATA"))
        return
    older, newer = (tools.unpacked(release, context.folder) for release in releases)
    filled = context.folder / "bars-names.db"
    tools.remove_database(filled)
    shell = tools.program("sqlite3", "sqlite3")
    settings = ["PRAGMA journal_mode=WAL;", "PRAGMA synchronous=NORMAL;", ".mode csv"]
    checked("sqlite3", [shell, str(filled)], to_script([
        *settings, f"CREATE TABLE babynames({BABYNAMES}, PRIMARY KEY(year, name, sex));",
        f".import --skip 1 {older} babynames"]))
    ledgers = []

    def staged():
        return checked("sqlite3", [shell, str(context.database)], to_script([
            *settings, f"CREATE TEMP TABLE staging({BABYNAMES});", f".import --skip 1 --schema temp {newer} staging",
            "INSERT INTO babynames SELECT * FROM staging WHERE true ON CONFLICT(year, name, sex) DO UPDATE SET "
            "births=excluded.births WHERE births IS NOT excluded.births;"]))

    def ours():
        done, summary = load_with_upsurge(
            releases[1], Input("babynames", releases[1], "year,name,sex"), context.database, [])
        ledgers.append(summary["ledger"])
        return done

    def load(name, program):
        series.fresh_copy(filled, context.database)
        tools.settle()
        done = program()
        found = context.expected.get("babynames", {}).get("rows")
        context.check_table("babynames", "babynames", found or count(context.database), name)
        tools.remove_database(context.database)
        return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}

    runs = context.compare(
        "babynames, 2,117,219 records of 2023 by key onto the 1,690,784 of 2010",
        {"sqlite3, staging table": lambda: load("sqlite3", staged), "upsurge from .zst": lambda: load("upsurge", ours)},
        "sqlite3, staging table", 2_117_219)
    tools.remove_database(filled)
    if any(ledger != ledgers[0] for ledger in ledgers):
        stop(f"the ledgers differ: {ledgers}")
    words = {word: number for word, number in ledgers[0].items() if number}
    context.ratio(
        8, what, runs, "sqlite3, staging table", "upsurge from .zst", at_least=3.0,
        note=", ".join(f"{number:,} {word}" for word, number in words.items()))


def count(database):
    done = checked("sqlite3", [tools.program("sqlite3", "sqlite3"), str(database), "SELECT count(*) FROM babynames"])
    return int(done.stdout)
