"""Bars 4 and 5: random keys, and secondary indexes."""

from . import series, tools
from .contenders import Input, load_with_upsurge
from .indexes import INDEXES
from .measure import measure, stop

MEMORY = ["--memory", "512MiB"]


def wide(context):
    """Bar 4: wide rows with a random text key, into a new table and into one of 2,000,000 rows."""
    rows, existing_rows = context.rows(500_000), context.rows(2_000_000)
    path = context.generated("wide", "csv", rows)
    source = Input("wide", path, "key")
    features = context.features
    ways = {
        "upsurge, 512 MiB": [*features.insert_path, *MEMORY],
        "single rows in arrival order, 512 MiB": [*features.single_rows, *MEMORY],
        "upsurge, default memory": features.insert_path,
        "single rows in arrival order, default memory": features.single_rows}

    def into(filled, total, name, options):
        tools.remove_database(context.database)
        if filled:
            series.fresh_copy(filled, context.database)
            tools.settle()
        done, summary = load_with_upsurge(path, source, context.database, options)
        context.check_table(f"wide {total}", "wide", total, name)
        tools.remove_database(context.database)
        return {"seconds": done.seconds, "store s": summary["stages"]["store"], "peak MiB": done.peak_kib / 1024}

    def contenders(filled, total, ways):
        return {
            name: lambda name=name, options=options: into(filled, total, name, options)
            for name, options in ways.items()}

    new_ways = dict(ways)
    if features.has_direct:
        new_ways |= {"upsurge, direct path, 512 MiB": [*features.direct_path, *MEMORY],
                     "upsurge, direct path, default memory": features.direct_path}
    runs = context.compare(
        f"wide, {rows:,} rows, random text key, into a new table", contenders(None, rows, new_ways),
        "single rows in arrival order, 512 MiB", rows)
    judge_wide(context, runs, "new table", 2.0)
    for memory in ("512 MiB", "default memory"):
        if features.has_direct:
            context.ratio(
                4, f"new table, {memory}: single rows / upsurge, direct path", runs,
                f"single rows in arrival order, {memory}", f"upsurge, direct path, {memory}")

    filled = context.folder / "bars-wide.db"
    tools.remove_database(filled)
    older = context.generated("wide", "csv", existing_rows, seed=1)
    load_with_upsurge(older, Input("wide", older, "key"), filled, MEMORY)
    runs = context.compare(
        f"wide, {rows:,} rows, random text key, into a table of {existing_rows:,}",
        contenders(filled, rows + existing_rows, ways), "single rows in arrival order, 512 MiB", rows)
    judge_wide(context, runs, "table of 2M", 2.5)
    tools.remove_database(filled)


def judge_wide(context, runs, table, bar):
    context.ratio(
        4, f"{table}, 512 MiB: single rows in arrival order / upsurge", runs, "single rows in arrival order, 512 MiB",
        "upsurge, 512 MiB", at_least=bar)
    context.ratio(
        4, f"{table}, default memory: single rows / upsurge", runs, "single rows in arrival order, default memory",
        "upsurge, default memory")


def indexed(context):
    """Bar 5: a new table with two indexes on columns in random order."""
    rows = context.rows(1_000_000)
    path = context.generated("narrow", "csv", rows)
    insert_path = context.features.insert_path
    ways = {
        "--indexes keep": [*insert_path, "--indexes", "keep"], "--indexes defer": [*insert_path, "--indexes", "defer"],
        "upsurge as it chooses": []}
    schemas = {}

    def load(name):
        tools.remove_database(context.database)
        done, summary = load_with_upsurge(
            path, Input("narrow", path, "id"), context.database, [*INDEXES, *ways[name]])
        if name not in schemas:
            schemas[name] = look(context.database)
            context.check_table("indexed", "narrow", rows, name)
        tools.remove_database(context.database)
        return {"seconds": done.seconds, "store s": summary["stages"]["store"], "peak MiB": done.peak_kib / 1024}

    runs = context.compare(
        f"narrow, {rows:,} rows into a new table with two indexes", {name: lambda name=name: load(name) for name in ways},
        "--indexes keep", rows)
    if len(set(schemas.values())) != 1:
        stop(f"the ways made different indexes: {schemas}")
    context.ratio(5, "indexed: --indexes keep / defer, by INSERT", runs, "--indexes keep", "--indexes defer", at_least=3.0)
    context.ratio(5, "indexed: --indexes keep / upsurge as it chooses", runs, "--indexes keep", "upsurge as it chooses")


def look(database):
    """Whether all is well with the database, and the definitions of its indexes."""
    sql = b"PRAGMA integrity_check; SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name;"
    done = measure([tools.program("sqlite3", "sqlite3"), "-bail", str(database)], sql)
    if done.exit_code != 0 or not done.stdout.startswith("ok"):
        stop(f"{database}: {done.stdout[:200]}{done.stderr}")
    return done.stdout
