"""upsurge and the other programs that load CSV into SQLite, in turn, on the same rows with the same durability."""

import sqlite3
import statistics
import time

from . import peer_tools, results, series, tools
from .contenders import Input, Run, checked, create_table, digest, load_with_upsurge, run_floor, run_import, settings_of
from .features import Features
from .measure import stop

# Peer: the operations it has. Those behind are scripts of peer_programs.
PEERS = {
    "C floor from file": ("insert", "upsert"), "upsurge": ("insert", "upsert"),
    "upsurge .zst": ("insert", "upsert"), "upsurge INSERT": ("insert",),
    "sqlite3 .import": ("insert", "upsert"), "ADBC": ("insert", "upsert"), "apsw executemany": ("insert", "upsert"),
    "DuckDB sqlite": ("insert",), "Python executemany": ("insert", "upsert"), "GRDB records": ("insert", "upsert"),
    "GRDB statement": ("insert", "upsert"),
    "pandas": ("insert", "upsert"), "csvs-to-sqlite": ("insert",), "sqlite-utils": ("insert", "upsert")}
SCRIPTS = {
    "ADBC": "adbc", "apsw executemany": "apsw_executemany", "DuckDB sqlite": "duckdb_sqlite",
    "Python executemany": "executemany", "pandas": "pandas_to_sql", "csvs-to-sqlite": "csvs_to_sqlite_cli",
    "sqlite-utils": "sqlite_utils_cli"}


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=500_000, help="narrow rows to load (500000)")
    tools.add_seed(parser)
    parser.add_argument("--rounds", type=int, default=5, help="times each runs (5)")
    parser.add_argument("--only", metavar="A,B", help=f"of {'; '.join(PEERS)} (all)")
    parser.add_argument(
        "--operations", default="insert,upsert", metavar="A,B",
        help="insert: into a new table; upsert: all rows exist and change (insert,upsert)")
    tools.add_scratch(parser)
    results.add_arguments(parser)


def run(arguments):
    bench = Peers(tools.scratch(arguments.scratch), arguments.rows, arguments.seed)
    names = arguments.only.split(",") if arguments.only else list(PEERS)
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        stop(f"there is no peer {unknown[0]}; see --help")
    found = {}
    for operation in arguments.operations.split(","):
        contenders = bench.contenders(names, operation)
        reference = "C floor from file" if "C floor from file" in contenders else next(iter(contenders))
        best = series.settled(contenders, arguments.rounds, reference)
        print_operation(operation, arguments, best)
        found[operation] = best
    results.keep(arguments, "peers", {
        "rows": arguments.rows, "versions": peer_tools.versions(bench.folder), **found})


class Peers:
    """Makes contenders: functions that load once, check the table, and say what it took."""

    def __init__(self, folder, rows, seed):
        self.folder = folder
        self.rows = rows
        peer_tools.debian(["sqlite3", "zstd"])
        self.python = peer_tools.python(folder)
        self.files = {percent: tools.generated(folder, "narrow", "csv", rows, seed, percent) for percent in (0, 100)}
        self.database = folder / "peers.db"
        self.filled = folder / "peers-filled.db"
        self.features = Features()
        self.expected = {}
        self.settings = None
        self.grdb = None

    def contenders(self, names, operation):
        if any(name.startswith("GRDB") for name in names):
            self.grdb = self.grdb or peer_tools.grdb()
            names = [name for name in names if not name.startswith("GRDB") or self.grdb]
        if not self.features.has_direct:
            names = [name for name in names if name != "upsurge INSERT"]
        if self.settings is None:
            tools.remove_database(self.database)
            source = Input("narrow", self.files[0], "id")
            self.settings = settings_of(load_with_upsurge(self.files[0], source, self.database, [])[1])
        if operation == "upsert":
            self.fill()
        return {
            name: lambda name=name: self.load(name, operation) for name in names if operation in PEERS[name]}

    def fill(self):
        """The table that upserts find: with SQLite's own page size, made by its shell."""
        tools.remove_database(self.filled)
        run_import(Input("narrow", self.files[0], "id"), self.filled)

    def load(self, name, operation):
        self.prepare(name, operation)
        tools.settle()
        done = self.program(name, operation)
        done.seconds += self.checkpoint()
        self.check(name, operation)
        tools.remove_database(self.database)
        return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}

    def prepare(self, name, operation):
        """A new database in WAL mode with the table, or a copy of the filled one. The C floor, upsurge and .import
        make theirs, and csvs-to-sqlite its table, because they do in use."""
        tools.remove_database(self.database)
        if operation == "upsert":
            if name != "C floor from file":
                series.fresh_copy(self.filled, self.database)
        elif name.startswith("GRDB") or name in SCRIPTS:
            connection = sqlite3.connect(self.database)
            connection.execute("PRAGMA journal_mode=WAL")
            if name != "csvs-to-sqlite":
                connection.execute(create_table("narrow"))
            connection.close()

    def program(self, name, operation):
        file = self.files[100 if operation == "upsert" else 0]
        source = Input("narrow", file, "id")
        if name == "C floor from file":
            if operation == "upsert":
                source.existing = self.files[0]
            return run_floor(source, self.database, self.settings, "file-virtual")
        if name.startswith("upsurge"):
            path = tools.compressed(file) if name.endswith(".zst") else file
            options = self.features.insert_path if name.endswith("INSERT") else []
            done, _ = load_with_upsurge(path, source, self.database, options)
            return Run(done.seconds, done.peak_kib, done.cpu_seconds)
        if name == "sqlite3 .import":
            return run_import(source, self.database) if operation == "insert" else self.import_staged(source)
        if name.startswith("GRDB"):
            command = [self.grdb, name.split()[1], operation, str(self.database), str(file)]
        else:
            script = peer_tools.PROGRAMS / f"{SCRIPTS[name]}.py"
            command = [self.python, str(script), operation, str(self.database), str(file)]
        done = checked(name, command)
        return Run(done.seconds, done.peak_kib, done.cpu_seconds)

    def import_staged(self, source):
        """Into a staging table, then one upsert statement."""
        return run_import(source, self.database, is_filled=True)

    def checkpoint(self):
        """The time of the checkpoint that a program has left to the next one; of most it is 0."""
        log = self.database.with_name(self.database.name + "-wal")
        if not log.is_file() or log.stat().st_size == 0:
            return 0
        start = time.monotonic()
        connection = sqlite3.connect(self.database)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return time.monotonic() - start

    def check(self, name, operation):
        """A time counts only for the right table."""
        found = digest(self.database, "narrow")
        del found["columns"]
        expected = self.expected.setdefault(operation, found)
        if found["rows"] != self.rows or found != expected:
            stop(f"{name} made another table by {operation}: {found}, not {expected}\nsee {self.database}")
        mode = sqlite3.connect(self.database).execute("PRAGMA journal_mode").fetchone()[0]
        if mode != "wal":
            print(f"{name}: the journal mode is {mode}", file=sys.stderr)


def print_operation(operation, arguments, best):
    what = "into a new table" if operation == "insert" else "by key onto a table that has them, all changed"
    print()
    series.header(f"narrow, {arguments.rows:,} rows {what}, seed {arguments.seed}")
    series.print_runs(best["runs"], arguments.rows)
    medians = {name: statistics.median(one["seconds"] for one in runs) for name, runs in best["runs"].items()}
    ours = medians.get("upsurge")
    for name, seconds in sorted(medians.items(), key=lambda pair: pair[1]):
        if ours:
            print(f"{name:24} {seconds / ours:6.2f} times the time of upsurge")
    print("all tables are equal; times are of whole processes with the last checkpoint")
