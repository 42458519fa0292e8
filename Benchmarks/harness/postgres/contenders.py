"""The programs that load into PostgreSQL: how the table is that each finds, and the command that is timed."""

import json
import shutil

from .. import tools
from . import data


class Contender:
    """One program. What it has not is None: a command for an operation, a table of its own."""

    is_slow = False  # runs in about half of the rounds
    is_peer = True  # where only the script is tried, it runs in two scenarios
    operations = ("insert", "upsert")
    scenarios = None  # in which it runs; None for all of its operations
    table = "narrow"
    new_table = f"CREATE TABLE narrow ({data.KEYED})"  # before an insert; "" where it makes it

    def __init__(self, server, folder, installed):
        self.server = server
        self.folder = folder
        self.installed = installed

    def prepare(self, operation):
        """What is to be done before each run, beside the database."""

    def command(self, operation, database, path):
        raise NotImplementedError

    def ledger(self):
        """What it counted in its last run, by word, where it counts."""
        return None


class UnloggedFloor(Contender):
    """COPY in the binary format into an unlogged table without an index: what PostgreSQL costs when nothing else does."""

    name = "unlogged floor"
    is_peer = False
    operations = ("insert",)
    new_table = f"CREATE UNLOGGED TABLE narrow ({data.DEFINITION})"

    def command(self, operation, database, path):
        return [tools.build("copyfloor"), "narrow", path, self.server.url(database), "narrow"]


class KeyedFloor(UnloggedFloor):
    """The same COPY into the table that is asked for: logged, with its key."""

    name = "keyed floor"
    new_table = Contender.new_table


class Upsurge(Contender):
    """`upsurge load`, by the path that it chooses. It makes the new table."""

    name = "upsurge"
    is_peer = False
    new_table = ""
    options = ()

    def command(self, operation, database, path):
        self.summary.unlink(missing_ok=True)
        return [tools.upsurge(), "load", self.server.url(database), "narrow", path, "--key", "id", "--quiet", "--summary",
                self.summary, *self.options]

    @property
    def summary(self):
        return self.folder / "postgres.summary.json"

    def ledger(self):
        return json.loads(self.summary.read_text(encoding="utf-8"))["ledger"]


class UpsurgeDelta(Upsurge):
    """upsurge without the walk: the server compares all rows. By itself upsurge leaves that to it where rows are not read in the
    order of their keys, or few are the same."""

    name = "upsurge by delta"
    scenarios = ("same",)

    def command(self, operation, database, path):
        return [*super().command(operation, database, path), "--without-walk"]


class Psql(Contender):
    """psql: \\copy into the table; an upsert by a temporary table and ON CONFLICT DO UPDATE, as people do."""

    name = "psql"
    is_peer = False  # the bars compare with it everywhere

    def command(self, operation, database, path):
        table = "narrow" if operation == "insert" else "staging"
        quoted = str(path).replace("'", "''")
        statements = [f"\\copy {table} ({data.NAMES}) FROM '{quoted}' WITH (FORMAT csv, HEADER)"]
        if operation == "upsert":
            statements = [f"CREATE TEMP TABLE staging ({data.DEFINITION})", *statements, data.UPSERT]
        return [*self.server.psql(database), *(word for statement in statements for word in ("-c", statement))]


class Script(Contender):
    """A few lines of Python: `program` of the folder programs."""

    program = ""

    def command(self, operation, database, path):
        return [*self.installed.script(self.program), operation, self.server.url(database), path]


class ADBC(Script):
    name = "ADBC"
    program = "adbc_ingest"


class DuckDB(Script):
    name = "DuckDB"
    program = "duckdb_postgres"


class Psycopg(Script):
    name = "psycopg"
    program = "psycopg_copy"


class Dlt(Script):
    """dlt makes its own table, without a key, and keeps what it knows of it in a folder."""

    name = "dlt"
    program = "dlt_merge"
    is_slow = True
    table = "dl.narrow"
    new_table = ""

    def prepare(self, operation):
        shutil.rmtree(self.pipelines, ignore_errors=True)
        if operation == "upsert":
            shutil.copytree(self.kept_pipelines, self.pipelines)

    def keep(self):
        """What it knows after its first load is where each upsert begins."""
        shutil.rmtree(self.kept_pipelines, ignore_errors=True)
        self.pipelines.rename(self.kept_pipelines)

    def command(self, operation, database, path):
        return ["env", "RUNTIME__DLTHUB_TELEMETRY=false", "RUNTIME__LOG_LEVEL=ERROR", f"DLT_PIPELINES={self.pipelines}",
                *super().command(operation, database, path)]

    @property
    def pipelines(self):
        return self.folder / "postgres-dlt"

    @property
    def kept_pipelines(self):
        return self.folder / "postgres-dlt-kept"


class Sling(Contender):
    """Sling's incremental mode by primary key."""

    name = "Sling"
    is_slow = True

    def command(self, operation, database, path):
        url = self.server.url(database, "postgres", "?sslmode=disable")
        return ["env", f"BENCH={url}", "SLING_DISABLE_TELEMETRY=true", f"SLING_HOME_DIR={self.folder / 'postgres-sling'}",
                self.installed.sling(), "run", "--src-stream", f"file://{path}", "--tgt-conn", "BENCH",
                "--tgt-object", "public.narrow", "--mode", "incremental", "--primary-key", "id",
                "--columns", json.dumps({"updated_at": "text"})]


class Pgloader(Contender):
    """pgloader has no upsert that changes rows."""

    name = "pgloader"
    is_slow = True
    operations = ("insert",)

    def command(self, operation, database, path):
        url = self.server.url(database)
        script = self.folder / "postgres.load"
        script.write_text(
            f"LOAD CSV FROM '{path}' ({data.NAMES}) INTO {url}?tablename=narrow ({data.NAMES})\n"
            "WITH skip header = 1, fields optionally enclosed by '\"', fields terminated by ',', batch rows = 25000,\n"
            "prefetch rows = 100000;\n", encoding="utf-8")
        script.chmod(0o600)
        return ["pgloader", "-q", script]


EVERY = (UnloggedFloor, KeyedFloor, Upsurge, UpsurgeDelta, Psql, ADBC, DuckDB, Psycopg, Pgloader, Dlt, Sling)
