"""The loads that are killed: one for each path of a load into PostgreSQL, and what stands when nothing disturbs it."""

import hashlib
import json
import random
import subprocess
import time
from dataclasses import dataclass

from .. import tools
from ..measure import stop

DATABASE = "kills"
BUSY = 75  # the exit code of a load that may be tried again
PARTS = 10  # transactions of a load, but for the small ones
TABLE = "CREATE TABLE {} (id bigint PRIMARY KEY, n bigint CHECK (n < 1000000000), a text)"
KEYLESS = TABLE.replace(" PRIMARY KEY", "")
TRIGGER = (
    "CREATE OR REPLACE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION keep()")
UPSERT, INSERT = ("--key", "id"), ("--mode", "insert")
# What is stored twice shows in a sum.
SUM = (*UPSERT, "--set", "n=sum")


EVERY, SECOND = "generate_series(1, {count}) i", "generate_series(1, {count}, 2) i"


@dataclass(frozen=True)
class Kind:
    """A path, the table that it finds, and the order of the records."""

    name: str
    options: tuple
    table: str = ""  # "" where the load makes it
    rows: str = ""  # a SELECT of what is in it, for so many keys
    more: tuple = ()  # SQL after the table is there
    is_shuffled: bool = False
    is_small: bool = False  # transactions of so few records that they take another path
    repeats: int = 1  # how often each key comes

    @property
    def is_new(self):
        return not self.table

    @property
    def is_atomic(self):
        return "--atomic" in self.options


SOME = f"SELECT i, 5, 'old' FROM {SECOND}"
KINDS = [
    Kind("new table", UPSERT),
    Kind("new without key", INSERT),
    Kind("append", UPSERT, TABLE),
    Kind("append keyless", INSERT, KEYLESS),
    Kind("walk", UPSERT, TABLE, f"SELECT i, CASE WHEN i % 100 = 0 THEN -1 ELSE i % 97 END, 'name ' || i FROM {EVERY}"),
    Kind("delta", UPSERT, TABLE, f"SELECT i, -1, 'name ' || i FROM {EVERY}", is_shuffled=True),
    Kind("ordered", SUM, TABLE, SOME, TRIGGER, repeats=2),
    Kind("unnest", SUM, TABLE, SOME, is_small=True, repeats=2),
    Kind("several", (*UPSERT, "--connections", "4"), TABLE),
    Kind("several sums", (*SUM, "--connections", "4"), TABLE, SOME, repeats=2),
    Kind("atomic", (*SUM, "--atomic"), TABLE, SOME, repeats=2),
    Kind("atomic new", (*UPSERT, "--atomic")),
]


@dataclass
class Wrong:
    """How a table, a ledger and a file of rejects differ from those of the undisturbed load."""

    lost: int = 0
    doubled: int = 0
    ledgers: int = 0
    rejects: int = 0

    def add(self, other):
        for word in vars(self):
            setattr(self, word, getattr(self, word) + getattr(other, word))

    def __bool__(self):
        return any(vars(self).values())


class Load:
    """One kind of load, what it leaves behind undisturbed, and how long it takes."""

    def __init__(self, server, folder, kind, rows, seed):
        self.server, self.kind, self.rows = server, kind, rows
        self.rejects = folder / "kills-postgres-rejects.ndjson"
        self.told = folder / "kills-postgres.summary.json"
        self.source = write_input(folder, kind, rows, seed)
        self.prepare()
        self.reset()
        self.seconds, self.summary = self.undisturbed()
        self.sql("DROP TABLE IF EXISTS expected", "ALTER TABLE t RENAME TO expected")
        self.digest = self.digest_of("expected")
        self.digest_of_rejects = self.rejects_digest()
        counted = self.summary["ledger"]
        if counted["read"] != rows or counted["rejected"] == 0:
            stop(f"{kind.name}: undisturbed, the ledger is {counted}")

    def undisturbed(self):
        # The first one warms up, and makes the table of runs.
        self.finish()
        self.reset()
        began = time.monotonic()
        summary = self.finish()
        return time.monotonic() - began, summary

    def sql(self, *statements):
        return self.server.sql(DATABASE, *statements)

    def prepare(self):
        """The table that each load finds, under another name."""
        self.sql("DROP TABLE IF EXISTS t, upsurge_new_t, start, expected")
        if self.kind.is_new:
            return
        fill = [f"INSERT INTO start {self.kind.rows.format(count=self.rows // self.kind.repeats)}"] if self.kind.rows else []
        self.sql(self.kind.table.format("start"), *fill)

    def reset(self):
        """The state before the load."""
        self.server.wait_for_clients(DATABASE)
        runs = "DO $$ BEGIN IF to_regclass('upsurge_runs') IS NOT NULL THEN DELETE FROM upsurge_runs; END IF; END $$"
        self.sql("SET client_min_messages = warning", "DROP TABLE IF EXISTS t, upsurge_new_t", runs)
        if not self.kind.is_new:
            self.sql("CREATE TABLE t (LIKE start INCLUDING ALL)", "INSERT INTO t SELECT * FROM start", *self.kind.more,
                     "ANALYZE t")
        self.rejects.unlink(missing_ok=True)

    def start(self):
        """Starts the command; what it says goes to a pipe."""
        self.told.unlink(missing_ok=True)
        size = max(1, self.rows // (PARTS * 5 if self.kind.is_small else PARTS))
        command = [
            tools.upsurge(), "load", self.server.url(DATABASE), "t", str(self.source), *self.kind.options, "--quiet",
            "--on-error", "reject", "--rejects", str(self.rejects), "--summary", str(self.told)]
        if not self.kind.is_atomic:
            command += ["--commit-every", str(size)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def finish(self):
        """Runs the load to its end; the summary. What a killed one has left on the server may hold it up for a while."""
        for _ in range(5):
            child = self.start()
            _, talk = child.communicate()
            if child.returncode != BUSY:
                break
        if child.returncode not in (0, 2):
            stop(f"{self.kind.name}: exit code {child.returncode}: {talk}")
        return self.summary_told()

    def summary_told(self):
        """What the last process has said, or None where it is not whole."""
        text = self.told.read_text(encoding="utf-8") if self.told.exists() else ""
        return json.loads(text) if text.endswith("}\n") else None

    def is_listed(self):
        """Whether the database holds the position of a load that has not ended."""
        found = self.sql("SELECT to_regclass('upsurge_runs') IS NOT NULL")
        return found == "t" and self.sql("SELECT count(*) FROM upsurge_runs") != "0"

    def is_made(self):
        """Whether the load that makes the table has its rows in one of another name."""
        return self.sql("SELECT to_regclass('upsurge_new_t') IS NOT NULL") == "t"

    def wrong(self, summary):
        """What differs from the undisturbed load."""
        found = Wrong()
        parts = ("ledger", "rejects_by_reason", "warnings", "committed_records", "exit_code")
        found.ledgers = any(summary[part] != self.summary[part] for part in parts)
        found.rejects = self.rejects_digest() != self.digest_of_rejects
        if self.digest_of("t") != self.digest:
            found.lost, found.doubled = self.difference("expected", "t"), self.difference("t", "expected")
        found.ledgers += self.is_listed() or self.is_made()
        return found

    def difference(self, one, other):
        return int(self.sql(
            f"SELECT count(*) FROM (SELECT id, n, a FROM {one} EXCEPT ALL SELECT id, n, a FROM {other}) d"))

    def digest_of(self, table):
        return self.sql(f"SELECT count(*), md5(string_agg(ROW(id, n, a)::text, '' ORDER BY id, n, a)) FROM {table}")

    def rejects_digest(self):
        return hashlib.sha256(self.rejects.read_bytes()).hexdigest() if self.rejects.exists() else ""


def lines(kind, rows, seed):
    """The records: some have a field too many, and into a table that is there some have a value of no number, and one
    that its CHECK refuses."""
    numbers = list(range(1, rows + 1))
    if kind.is_shuffled:
        random.Random(seed).shuffle(numbers)
    yield "id,n,a\n"
    for place, number in enumerate(numbers, 1):
        number = (number - 1) % (rows // kind.repeats) + 1
        value, surplus = str(number % 97), ""
        match place % 4_999:
            case 17:
                surplus = ",surplus"
            case 1_017 if not kind.is_new:
                value = "many"
            case 2_017 if not kind.is_new:
                value = "1000000001"
        yield f"{number},{value},name {number}{surplus}\n"


def write_input(folder, kind, rows, seed):
    path = folder / "kills-postgres.csv"
    path.write_text("".join(lines(kind, rows, seed)), encoding="utf-8")
    return path
