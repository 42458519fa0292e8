"""A database of 20 tables moved to PostgreSQL and back: undisturbed, and killed at random moments until it is done. The digests of
both sides must be equal, and those of all moves the same."""

import json
import random
import signal
import sqlite3
import subprocess
import time

from . import tools
from .measure import machine, stop
from .postgres.server import Server

SCHEMA = """
CREATE TABLE departments(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER REFERENCES employees(id));
CREATE TABLE employees(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, department INTEGER NOT NULL REFERENCES departments(id),
  boss INTEGER REFERENCES employees(id));
CREATE TABLE products(id INTEGER PRIMARY KEY, title VARCHAR(40) NOT NULL, price DECIMAL(10,2), weight REAL, active BOOLEAN);
CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT NOT NULL, born DATE, extra JSON);
CREATE UNIQUE INDEX customers_email ON customers(lower(email));
CREATE TABLE orders(id INTEGER PRIMARY KEY AUTOINCREMENT, customer INTEGER NOT NULL REFERENCES customers(id), state TEXT NOT NULL,
  placed DATETIME, total INTEGER NOT NULL, tax INTEGER GENERATED ALWAYS AS (total * 19) STORED, CHECK (total >= 0));
CREATE INDEX orders_open ON orders(customer) WHERE state <> 'sent';
CREATE TABLE lines("order" INTEGER REFERENCES orders(id), line INTEGER, product INTEGER REFERENCES products(id), amount INTEGER,
  PRIMARY KEY ("order", line)) WITHOUT ROWID;
CREATE TABLE photos(id INTEGER PRIMARY KEY, content BLOB);
CREATE TABLE log(at INTEGER, what TEXT);
"""

COUNTED = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=5_000_000, help="of all tables together (5000000)")
    parser.add_argument("--kills", type=int, default=50, help="SIGKILLs of the move there, and of the move back (50)")
    tools.add_seed(parser, 1, "the moments")
    parser.add_argument("--server", metavar="FOLDER", help="where initdb and postgres are (Debian's PostgreSQL 15)")
    tools.add_scratch(parser)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    source, back = folder / "move.db", folder / "move-back.db"
    make(source, arguments.rows)
    print(f"20 tables of {arguments.rows:,} rows, seed {arguments.seed}; machine: {machine()}", flush=True)
    moments = random.Random(arguments.seed)
    with Server(arguments.server) as server:
        there = Moves(folder, source, server, server.url("shop", scheme="postgres"), lambda: fresh(server, "shop"))
        whole = there.undisturbed("to PostgreSQL")
        there.killed("to PostgreSQL", arguments.kills, moments, whole)
        home = Moves(folder, server.url("shop", scheme="postgres"), server, back, lambda: tools.remove_database(back))
        whole = home.undisturbed("back to SQLite")
        home.killed("back to SQLite", arguments.kills, moments, whole)
    check(source, back)


class Moves:
    """Moves of one database to one place."""

    def __init__(self, folder, source, server, target, reset):
        self.summary = folder / "move.summary"
        self.words = [tools.upsurge(), "move", str(source), str(target), "-q", "--summary", str(self.summary)]
        self.hidden = server.password
        self.reset = reset
        self.digests = None

    def undisturbed(self, name):
        self.reset()
        began = time.monotonic()
        self.finish(name)
        seconds = time.monotonic() - began
        told = json.loads(self.summary.read_text())
        self.digests = digests(told)
        for table, one in told["tables"].items():
            print(f"  {table:14} {one['rows']:>10,} rows  {one['seconds']:7.2f} s  {one['digest']}")
        print(f"{name}: {sum(one['rows'] for one in told['tables'].values()):,} rows in {seconds:.1f} s, equal on both sides", flush=True)
        return seconds

    def killed(self, name, kills, moments, whole):
        self.reset()
        done = again = 0
        while done < kills:
            child = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                code = child.wait(moments.uniform(0, whole))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
                done += 1
                continue
            if code != 0:
                stop(f"{name}: exit code {code} after {done} kills")
            self.compare(name)
            self.reset()
            again += 1
        self.finish(name)
        self.compare(name)
        print(f"{name}: killed at {kills} moments, {again + 1} moves ended, all digests as undisturbed", flush=True)

    def finish(self, name):
        done = subprocess.run(self.words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            stop(f"{name}: exit code {done.returncode}: {done.stderr.replace(self.hidden, '***')}")

    def compare(self, name):
        found = digests(json.loads(self.summary.read_text()))
        if found != self.digests:
            stop(f"{name}: other digests after kills: {found}")


def digests(told):
    if not told["equal"]:
        stop("the summary does not say that both sides are equal")
    return {table: one["digest"] for table, one in told["tables"].items()}


def fresh(server, database):
    server.sql("postgres", f"DROP DATABASE IF EXISTS {database} WITH (FORCE)", f"CREATE DATABASE {database}")


def make(path, rows):
    """20 tables: those of the schema, and 12 with a foreign key to the one before them; the first of these refers to the last."""
    tools.remove_database(path)
    database = sqlite3.connect(path)
    names = [f"ring_{number:02}" for number in range(12)]
    rings = [f"CREATE TABLE {name}(id INTEGER PRIMARY KEY, other INTEGER REFERENCES {names[place - 1]}(id), r REAL, t TEXT);"
             for place, name in enumerate(names)]
    database.executescript("PRAGMA journal_mode=WAL; PRAGMA foreign_keys=OFF;" + SCHEMA + "".join(rings))
    part = max(rows // 20, 10)
    fill = {
        "departments": ("SELECT i, 'D' || i, i FROM n", 10), "employees": ("SELECT i, 'E' || i, 1 + i % 10, max(i - 1, 1) FROM n", part),
        "products": ("SELECT i, 'P' || i, i / 4.0, i * 0.1, i % 2 FROM n", part),
        "customers": ("SELECT i, 'Person' || i || '@example.org', date('2000-01-01', (i % 9000) || ' days'), json_object('i', i) FROM n", 2 * part),
        "orders(id, customer, state, placed, total)": (
            "SELECT i, 1 + i % ?2, CASE i % 3 WHEN 0 THEN 'new' ELSE 'sent' END, datetime('2024-01-01', i || ' seconds'), i FROM n", 5 * part),
        'lines': ("SELECT i, 1, 1 + i % ?2, i % 9 FROM n", 4 * part),
        "photos": ("SELECT i, randomblob(i % 300) FROM n", part), "log": ("SELECT i, 'line ' || i FROM n", part),
    }
    for table, (select, count) in fill.items():
        others = 2 * part if table.startswith("orders") else part
        database.execute(f"INSERT INTO {table} {COUNTED}{select}", (count, others) if "?2" in select else (count,))
    for name in names:
        database.execute(f"INSERT INTO {name} {COUNTED}SELECT i, i, i / 3.0, 'text ' || i FROM n", (max(rows // 60, 10),))
    database.commit()
    database.close()


def check(source, back):
    """What came back, value by value."""
    database = sqlite3.connect(source)
    database.execute("ATTACH ? AS back", (str(back),))
    for (table,) in database.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").fetchall():
        columns = [row[1] for row in database.execute(f'PRAGMA main.table_xinfo("{table}")')]
        # Decimals come back as their texts.
        names = ", ".join(f'CAST("{name}" AS REAL)' if name == "price" else f'"{name}"' for name in columns)
        count = database.execute(f'SELECT count(*) FROM (SELECT {names} FROM main."{table}" EXCEPT SELECT {names} FROM back."{table}")').fetchone()[0]
        if count:
            stop(f"{table}: {count} rows did not come back as they were")
    print("all rows came back as they were")
