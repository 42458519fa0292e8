"""Secondary indexes and FTS5 tables: kept up with every row against built after the rows."""

import json
from pathlib import Path

from . import series, tools
from .contenders import Input, create_table, digest, load_with_upsurge
from .measure import measure, stop

INDEXES = ["--index", "price", "--index", "updated_at"]
FULL_TEXT = """
PRAGMA page_size=16384; PRAGMA journal_mode=WAL;
{create};
CREATE VIRTUAL TABLE ft USING fts5(name, category, content='narrow', content_rowid='id');
CREATE TRIGGER narrow_ai AFTER INSERT ON narrow BEGIN
  INSERT INTO ft(rowid, name, category) VALUES (new.id, new.name, new.category);
END;
CREATE TRIGGER narrow_ad AFTER DELETE ON narrow BEGIN
  INSERT INTO ft(ft, rowid, name, category) VALUES ('delete', old.id, old.name, old.category);
END;
CREATE TRIGGER narrow_au AFTER UPDATE ON narrow BEGIN
  INSERT INTO ft(ft, rowid, name, category) VALUES ('delete', old.id, old.name, old.category);
  INSERT INTO ft(rowid, name, category) VALUES (new.id, new.name, new.category);
END;
"""
SEARCHES = ["ada", "ada fischer", "b*", "books OR music", "name: garcia NOT books", "category: garden", "hiro zhang"]


def add_arguments(parser):
    series.add_arguments(parser)
    parser.add_argument("--without-fts", action="store_true", help="leave the FTS5 part out")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    bench = Bench(arguments, folder)
    results = {"indexes": bench.indexes()}
    if not arguments.without_fts:
        results["fts"] = bench.full_text()
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2), encoding="utf-8")


class Bench:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.options = arguments.upsurge_options.split()
        self.folder = folder
        self.database = folder / "indexes.db"
        self.source = tools.generated(folder, "narrow", "csv", arguments.rows, arguments.seed)
        self.found = {}

    def indexes(self):
        """Into a new table with two indexes on columns in random order."""
        def load(upkeep):
            tools.remove_database(self.database)
            return self.load([*INDEXES, "--indexes", upkeep], f"indexes {upkeep}", self.look_at_indexes)

        runs = series.interleave(
            {f"--indexes {upkeep}": lambda upkeep=upkeep: load(upkeep) for upkeep in ("keep", "defer")},
            self.arguments.rounds)
        self.compare()
        series.header(f"narrow, {self.arguments.rows:,} rows into a new table with indexes on price and updated_at")
        series.print_runs(runs, self.arguments.rows)
        result = series.ratio(runs, "--indexes keep", "--indexes defer", "seconds")
        series.print_ratio("keep / defer", result, bar=3.0)
        print("tables, index definitions and integrity checks are equal")
        return {"runs": runs, "ratio": result}

    def full_text(self):
        """Into an empty table with an external-content FTS5 table on two columns."""
        def load(upkeep):
            tools.remove_database(self.database)
            sql = FULL_TEXT.format(create=create_table("narrow"))
            self.shell(sql)
            return self.load(["--fts", upkeep], f"fts {upkeep}", self.look_at_searches)

        runs = series.interleave(
            {f"--fts {upkeep}": lambda upkeep=upkeep: load(upkeep) for upkeep in ("keep", "defer")},
            self.arguments.rounds)
        self.compare()
        series.header(f"\nnarrow, {self.arguments.rows:,} rows into an empty table with FTS5 on name and category")
        series.print_runs(runs, self.arguments.rows)
        result = series.ratio(runs, "--fts keep", "--fts defer", "seconds")
        series.print_ratio("keep / defer", result)
        print("search results and FTS5's integrity checks are equal")
        return {"runs": runs, "ratio": result}

    def load(self, options, name, look):
        done, summary = load_with_upsurge(
            self.source, Input("narrow", self.source, "id"), self.database, [*self.options, *options])
        stages = summary["stages"]
        if name not in self.found:
            self.found[name] = look()
        tools.remove_database(self.database)
        return {
            "seconds": done.seconds, "store s": stages["store"], "build s": stages.get("index", 0) + stages.get("fts", 0),
            "peak MiB": summary["peak_memory_bytes"] / (1 << 20), "WAL MiB": summary["wal_bytes_peak"] / (1 << 20)}

    def look_at_indexes(self):
        definitions = self.shell(
            "PRAGMA integrity_check; SELECT name, sql FROM sqlite_schema WHERE name <> 'sqlite_stat1' ORDER BY name;")
        return [digest(self.database, "narrow"), definitions]

    def look_at_searches(self):
        sql = "INSERT INTO ft(ft, rank) VALUES ('integrity-check', 1); PRAGMA integrity_check;"
        for search in SEARCHES:
            sql += f"SELECT '{search}', count(*), sum(rowid), min(rowid) FROM ft('{search}');"
            sql += f"SELECT rowid, rank FROM ft('{search}') ORDER BY rank, rowid LIMIT 20;"
        return [digest(self.database, "narrow"), self.shell(sql)]

    def compare(self):
        found = list(self.found.values())
        if any(one != found[0] for one in found):
            stop(f"the ways made different databases: {self.found}")
        self.found = {}

    def shell(self, sql):
        done = measure([tools.program("sqlite3", "sqlite3"), "-bail", str(self.database)], sql.encode())
        if done.exit_code != 0:
            stop(f"sqlite3 failed: {done.stderr}")
        return done.stdout
