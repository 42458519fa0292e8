"""SIGKILL at random moments of a load, which is then resumed until it is done: nothing lost, nothing doubled."""

import hashlib
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import time

from . import tools
from .measure import machine, stop

KINDS = ("csv.zst", "ndjson.gz")


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=1_000_000, help="of each input (1000000)")
    parser.add_argument("--moments", type=int, default=300, help="kills of each kind of load (300)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (1)")
    parser.add_argument("--commit-every", type=int, help="rows in a transaction (the command's default)")
    parser.add_argument("--scratch", metavar="FOLDER", help="for data and databases (upsurge-benchmarks in $TMPDIR)")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    print(f"kills at {arguments.moments} random moments a load of {arguments.rows:,} rows; machine: {machine()}")
    for kind in KINDS:
        source = write_input(folder, kind, arguments.rows)
        for is_keyed in (True, False):
            loop(Loop(folder, source, is_keyed, arguments), arguments.moments, random.Random(arguments.seed))


class Loop:
    """One kind of load, its undisturbed result, and how long it takes."""

    def __init__(self, folder, source, is_keyed, arguments):
        self.database = folder / "kills.db"
        self.start = folder / "kills-start.db"
        self.source = source
        self.is_keyed = is_keyed
        self.name = f"{'keyed upsert' if is_keyed else 'keyless insert'} of {source.name}"
        self.rejects = folder / "kills-rejects.ndjson"
        self.options = ["--on-error", "reject", "--rejects", str(self.rejects), "-q"]
        self.options += ["--key", "id"] if is_keyed else ["--mode", "insert"]
        if arguments.commit_every:
            self.options += ["--commit-every", str(arguments.commit_every)]
        make_table(self.start, is_keyed, arguments.rows)
        self.reset()
        began = time.monotonic()
        self.ledger = self.finish()
        self.seconds = time.monotonic() - began
        self.result = self.digest()

    def reset(self):
        tools.remove_database(self.database)
        shutil.copy(self.start, self.database)
        self.rejects.unlink(missing_ok=True)

    def command(self, summary="-"):
        return [str(tools.upsurge()), "load", str(self.database), "t", str(self.source), *self.options, "--summary", summary]

    def finish(self):
        done = subprocess.run(self.command(), capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2):
            stop(f"{self.name}: exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)["ledger"]

    def killed_after(self, seconds):
        """Whether the load is not done: one whose ledger was told and forgotten is, though the process had not ended."""
        told = self.database.with_suffix(".summary")
        told.unlink(missing_ok=True)
        child = subprocess.Popen(self.command(str(told)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(seconds)
        was_running = child.poll() is None
        child.send_signal(signal.SIGKILL)
        _, talk = child.communicate()
        if not was_running and child.returncode not in (0, 2):
            stop(f"{self.name}: exit code {child.returncode}: {talk.decode()}")
        if not was_running or child.returncode != -signal.SIGKILL:
            return False
        is_told = told.exists() and told.read_text(encoding="utf-8").endswith("}\n")
        return not is_told or self.is_listed()

    def is_listed(self):
        database = sqlite3.connect(self.database)
        try:
            return database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_runs'").fetchone() is not None
        finally:
            database.close()

    def rows_there(self):
        database = sqlite3.connect(self.database)
        try:
            return database.execute("SELECT count(*) FROM t").fetchone()[0]
        finally:
            database.close()

    def digest(self):
        """Keyless: of the dump; keyed: of types and values in the order of the key. And of the rejects."""
        columns = ", ".join(f"typeof({column}), quote({column})" for column in ("id", "a", "b", "c"))
        table = f"SELECT {columns} FROM t ORDER BY id" if self.is_keyed else ".dump"
        schema = "SELECT name, sql FROM sqlite_schema ORDER BY name"
        sound = self.shell("sqlite3 \"$0\" 'PRAGMA integrity_check'")
        if sound.strip() != "ok":
            stop(f"{self.name}: the database is damaged: {sound}")
        return self.shell('sqlite3 "$0" "$1" "$2" | sha256sum', schema, table) + hashlib.sha256(
            self.rejects.read_bytes()).hexdigest()

    def shell(self, script, *arguments):
        command = ["bash", "-o", "pipefail", "-c", script, str(self.database), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loop(load, moments, generator):
    kills = loads = resumed = 0
    began = time.monotonic()
    while kills < moments:
        load.reset()
        loads += 1
        is_killed = load.killed_after(generator.uniform(0, load.seconds))
        while is_killed and kills < moments:
            kills += 1
            resumed += load.rows_there() > 0
            if generator.random() < 0.2:
                break
            is_killed = load.killed_after(generator.uniform(0, load.seconds * 0.6))
        ledger = load.finish() if is_killed else load.ledger
        if ledger != load.ledger:
            stop(f"{load.name}: the ledger is {ledger} instead of {load.ledger}")
        if load.digest() != load.result:
            stop(f"{load.name}: another table after {kills} kills")
    print(
        f"{load.name}: {kills} kills in {loads} loads, {resumed} of them with rows in the table; tables, rejects and "
        f"ledgers equal; undisturbed {load.seconds:.2f} s; {time.monotonic() - began:.0f} s in all", flush=True)


def make_table(path, is_keyed, rows):
    tools.remove_database(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute(f"CREATE TABLE t(id INTEGER {'PRIMARY KEY' if is_keyed else ''}, a TEXT NOT NULL, b REAL, c)")
    if is_keyed:
        # A third of the rows is there, of which half says the same already.
        database.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?)",
            ((i, f"name {i}" if i % 6 else "old", i / 4, f"{i % 97}") for i in range(3, rows, 3)))
    database.commit()
    database.close()


def write_input(folder, kind, rows):
    path = folder / f"kills-{rows}.{kind}"
    if path.exists():
        return path
    compressor = ["zstd", "-q", "-3", "-o"] if kind.endswith("zst") else None
    plain = folder / "kills.plain"
    with plain.open("w", encoding="utf-8") as file:
        if kind.startswith("csv"):
            file.write("id,a,b,c\n")
        for i in range(1, rows + 1):
            bad = i % 50_021 == 0
            if kind.startswith("csv"):
                file.write(f"{i},name {i},{i / 4},{i % 97}{',surplus' if bad else ''}\n")
            else:
                name = "null" if bad else f'"name {i}"'
                file.write(f'{{"id":{i},"a":{name},"b":{i / 4},"c":"{i % 97}"}}\n')
    if compressor:
        # Frames of a few MiB, and one that is larger.
        subprocess.run([*compressor, str(path), str(plain)], check=True)
    else:
        with path.open("wb") as file:
            subprocess.run(["gzip", "-c", str(plain)], stdout=file, check=True)
    plain.unlink()
    return path
