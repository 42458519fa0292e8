"""Bars 4 and 5: random keys, and secondary indexes."""

from . import series, tools
from .contenders import Input, load_with_upsurge
from .indexes import INDEXES
from .measure import measure, stop

# What the bar names, and the default, whose figure is printed beside it.
MEMORIES = {"512 MiB": ["--memory", "512MiB"], "default memory": []}


def wide(context):
    """Bar 4: wide rows with a random text key, into a new table and into one of 2,000,000 rows."""
    rows, existing_rows = context.rows(500_000), context.rows(2_000_000)
    new = Wide(context, rows, "a new table")
    new.compare(2.0, with_direct=True)
    older = context.generated("wide", "csv", existing_rows, seed=1)
    filled = context.folder / "bars-wide.db"
    tools.remove_database(filled)
    load_with_upsurge(older, Input("wide", older, "key"), filled, MEMORIES["512 MiB"])
    Wide(context, rows, f"a table of {existing_rows:,}", filled, existing_rows).compare(2.5)
    tools.remove_database(filled)


class Wide:
    """upsurge beside single rows in arrival order, into one kind of table."""

    def __init__(self, context, rows, where, filled=None, existing_rows=0):
        self.context = context
        self.rows = rows
        self.where = where
        self.filled = filled
        self.total = rows + existing_rows
        self.path = context.generated("wide", "csv", rows)

    def compare(self, bar, with_direct=False):
        features = self.context.features
        ways = {"upsurge": features.insert_path, "single rows in arrival order": features.single_rows}
        if with_direct and features.has_direct:
            ways["upsurge, direct path"] = features.direct_path
        for memory, options in MEMORIES.items():
            is_asked = memory == "512 MiB"
            runs = self.context.compare(
                f"wide, {self.rows:,} rows, random text key, into {self.where}, {memory}",
                {name: lambda name=name, way=way: self.load(name, [*way, *options]) for name, way in ways.items()},
                "single rows in arrival order", self.rows,
                # The figures beside take twice as long and more, so they get fewer rounds.
                **({} if is_asked else {"rounds": (self.context.rounds + 1) // 2, "tries": 1}))
            # What it does without options counts: into a new table, the direct path.
            chosen = "upsurge, direct path" if "upsurge, direct path" in ways else "upsurge"
            self.context.ratio(
                4, f"{self.where}, {memory}: single rows in arrival order / {chosen}", runs,
                "single rows in arrival order", chosen, at_least=bar if is_asked else None)
            if chosen != "upsurge":
                self.context.ratio(
                    4, f"{self.where}, {memory}: single rows / upsurge by INSERT", runs,
                    "single rows in arrival order", "upsurge")

    def load(self, name, options):
        context = self.context
        tools.remove_database(context.database)
        if self.filled:
            series.fresh_copy(self.filled, context.database)
            tools.settle()
        done, summary = load_with_upsurge(self.path, Input("wide", self.path, "key"), context.database, options)
        context.check_table(f"wide {self.total}", "wide", self.total, name)
        tools.remove_database(context.database)
        return {
            "seconds": done.seconds, "cpu s": done.cpu_seconds, "store s": summary["stages"]["store"],
            "peak MiB": done.peak_kib / 1024}


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
        return {
            "seconds": done.seconds, "cpu s": done.cpu_seconds, "store s": summary["stages"]["store"],
            "peak MiB": done.peak_kib / 1024}

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
