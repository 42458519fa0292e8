"""SIGKILL at random moments of a load, which is then resumed until it is done: nothing lost, nothing doubled."""

import hashlib
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from dataclasses import dataclass

from . import tools
from .measure import machine, stop
from .postgres import kills as postgres_kills

FRAME_BYTES = 2 << 20


@dataclass
class Kind:
    """What is loaded, and how."""

    suffix: str
    is_keyed: bool
    has_frames: bool = True  # of 2 MiB each; otherwise one of all
    rejects: str = "file"
    is_new: bool = False  # the load makes the database, whose first rows are packed in a file beside it

    @property
    def bad_stride(self):
        """Each so manieth record is bad; in a new database several transactions come before the first."""
        return 400_009 if self.is_new else 50_021

    def name(self):
        many = "many" if self.has_frames else "one"
        part = "frame" if self.suffix.endswith("zst") else "member"
        place = " into a new database" if self.is_new else ""
        return (f"{'keyed upsert' if self.is_keyed else 'keyless insert'} of .{self.suffix}{place} "
                f"({many} {part}{'s' if self.has_frames else ''}), rejects in a {self.rejects}")


KINDS = [
    Kind("csv.zst", is_keyed=True),
    Kind("csv.zst", is_keyed=False),
    Kind("ndjson.gz", is_keyed=True, rejects="table"),
    Kind("ndjson.gz", is_keyed=False),
    Kind("csv.zst", is_keyed=False, has_frames=False, rejects="table"),
    Kind("csv.zst", is_keyed=True, is_new=True),
    Kind("csv.zst", is_keyed=False, rejects="table", is_new=True),
]


def add_arguments(parser):
    parser.add_argument("--postgres", action="store_true", help="into a private PostgreSQL: the client, backends, the server")
    parser.add_argument("--rows", type=int, help="of each input (1000000; with --postgres 100000)")
    parser.add_argument("--moments", type=int, default=300, help="kills of each kind of load (300)")
    tools.add_seed(parser, 1, "the moments")
    parser.add_argument("--commit-every", type=int, help="rows in a transaction (the command's default)")
    tools.add_scratch(parser)
    postgres_kills.add_arguments(parser)


def run(arguments):
    if arguments.postgres:
        return postgres_kills.run(arguments, arguments.rows or 100_000)
    arguments.rows = arguments.rows or 1_000_000
    folder = tools.scratch(arguments.scratch)
    print(f"kills at {arguments.moments} random moments a load of {arguments.rows:,} rows; machine: {machine()}")
    for kind in KINDS:
        source = write_input(folder, kind, arguments.rows)
        loop(Loop(folder, source, kind, arguments), arguments.moments, random.Random(arguments.seed))


class Loop:
    """One kind of load, its undisturbed result, and how long it takes."""

    def __init__(self, folder, source, kind, arguments):
        self.database = folder / "kills.db"
        self.start = folder / "kills-start.db"
        self.source = source
        self.kind = kind
        self.name = kind.name()
        self.rejects = folder / "kills-rejects.ndjson"
        self.told = folder / "kills.summary"
        self.options = ["--on-error", "reject", "-q", "--summary", str(self.told)]
        self.options += ["--rejects", "table" if kind.rejects == "table" else str(self.rejects)]
        self.options += ["--key", "id"] if kind.is_keyed else ["--mode", "insert"]
        if arguments.commit_every:
            self.options += ["--commit-every", str(arguments.commit_every)]
        if not kind.is_new:
            make_table(self.start, kind.is_keyed, arguments.rows)
        self.reset()
        began = time.monotonic()
        self.summary = self.finish()
        self.seconds = time.monotonic() - began
        self.result = self.digest()
        bad = arguments.rows // kind.bad_stride
        if self.summary["ledger"]["read"] != arguments.rows or self.summary["ledger"]["rejected"] != bad:
            stop(f"{self.name}: undisturbed, the ledger is {self.summary['ledger']}")

    def reset(self):
        tools.remove_database(self.database)
        self.image().unlink(missing_ok=True)
        if not self.kind.is_new:
            shutil.copy(self.start, self.database)
        self.rejects.unlink(missing_ok=True)

    def command(self):
        return [tools.upsurge(), "load", str(self.database), "t", str(self.source), *self.options]

    def finish(self):
        """Runs the load to its end; the summary."""
        self.told.unlink(missing_ok=True)
        done = subprocess.run(self.command(), capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2):
            stop(f"{self.name}: exit code {done.returncode}: {done.stderr}")
        return self.summary_told()

    def killed_after(self, seconds):
        """The summary of a load that is done, or None: one whose summary was told and whose mark is gone is, though
        the process had not ended."""
        self.told.unlink(missing_ok=True)
        child = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        _, talk = child.communicate()
        if child.returncode not in (0, 2, -signal.SIGKILL):
            stop(f"{self.name}: exit code {child.returncode}: {talk.decode()}")
        if child.returncode == -signal.SIGKILL and (self.is_listed() or not self.database.exists()):
            return None
        summary = self.summary_told()
        if child.returncode != -signal.SIGKILL and summary is None:
            stop(f"{self.name}: exit code {child.returncode} without a summary")
        return summary

    def summary_told(self):
        """What the last process has said, or None when it is not whole."""
        text = self.told.read_text(encoding="utf-8") if self.told.exists() else ""
        return json.loads(text) if text.endswith("}\n") else None

    def image(self):
        """What a load that is killed while it packs leaves behind."""
        return self.database.with_name(self.database.name + "-upsurge")

    def is_listed(self):
        """Whether the database holds the position of a load that is not done."""
        if not self.database.exists():
            return False
        database = sqlite3.connect(self.database)
        try:
            return database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_runs'").fetchone() is not None
        finally:
            database.close()

    def digest(self):
        """Keyless: of the dump; keyed: of types and values in the order of the key. And of the rejects."""
        columns = ", ".join(f"typeof({column}), quote({column})" for column in ("id", "a", "b", "c"))
        table = f"SELECT {columns} FROM t ORDER BY id" if self.kind.is_keyed else ".dump t"
        schema = "SELECT name, sql FROM sqlite_schema ORDER BY name"
        sound = self.shell("sqlite3 \"$0\" 'PRAGMA integrity_check'")
        if sound.strip() != "ok":
            stop(f"{self.name}: the database is damaged: {sound}")
        return self.shell('sqlite3 "$0" "$1" "$2" | sha256sum', schema, table) + self.digest_of_rejects()

    def digest_of_rejects(self):
        if self.kind.rejects == "file":
            return hashlib.sha256(self.rejects.read_bytes()).hexdigest()
        columns = 'id, "table", file, record, line, byte, "column", code, reason, raw, raw_cut, typeof(added_at)'
        return self.shell(
            'sqlite3 "$0" "$1" "$2" | sha256sum', f"SELECT {columns} FROM upsurge_rejects ORDER BY id",
            "SELECT * FROM upsurge_reject_contexts ORDER BY id")

    def shell(self, script, *arguments):
        command = ["bash", "-o", "pipefail", "-c", script, str(self.database), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loop(load, moments, generator):
    """Kills loads and resumes them until there were so many kills; each load's table, rejects and ledger have to be
    those of the undisturbed one, as the process tells that ended it."""
    kills = loads = behind_commits = resumed = images = 0
    began = time.monotonic()
    while kills < moments:
        load.reset()
        loads += 1
        summary = load.killed_after(generator.uniform(0, load.seconds))
        while summary is None and kills < moments:
            kills += 1
            behind_commits += load.is_listed()
            images += load.image().exists()
            if generator.random() < 0.2:
                break
            summary = load.killed_after(generator.uniform(0, load.seconds * 0.6))
        summary = summary or load.finish()
        resumed += summary.get("resumed_records", 0) > 0
        for part in ("ledger", "rejects_by_reason", "warnings", "committed_records", "exit_code"):
            if summary[part] != load.summary[part]:
                stop(f"{load.name}: after {kills} kills {part} is {summary[part]} instead of {load.summary[part]}")
        if load.image().exists():
            stop(f"{load.name}: {load.image()} is still there after {kills} kills")
        if load.digest() != load.result:
            stop(f"{load.name}: another table or other rejects after {kills} kills")
    print(
        f"{load.name}: {kills} kills in {loads} loads, {behind_commits} of them behind a commit, {images} while rows "
        f"were packed; {resumed} loads were "
        f"ended by a process that went on from one; tables, rejects and ledgers equal; undisturbed "
        f"{load.seconds:.2f} s; {time.monotonic() - began:.0f} s in all", flush=True)
    if load.kind.is_new and images == 0:
        stop(f"{load.name}: no load was killed while it packed rows; more --rows take longer")
    if behind_commits == 0 or resumed == 0:
        stop(f"{load.name}: no load was resumed; a smaller --commit-every or more --rows leave something to resume")


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


def lines(kind, rows):
    """The input, a line at a time."""
    is_csv = kind.suffix.startswith("csv")
    if is_csv:
        yield "id,a,b,c\n"
    for i in range(1, rows + 1):
        bad = i % kind.bad_stride == 0
        if is_csv:
            yield f"{i},name {i},{i / 4},{i % 97}{',surplus' if bad else ''}\n"
        else:
            name = "null" if bad else f'"name {i}"'
            yield f'{{"id":{i},"a":{name},"b":{i / 4},"c":"{i % 97}"}}\n'


def write_input(folder, kind, rows):
    """Writes the input once. Frames and members end where they end, in the middle of a record."""
    frames = "many" if kind.has_frames else "one"
    path = folder / f"kills-{rows}-{frames}{'-new' if kind.is_new else ''}.{kind.suffix}"
    if path.exists():
        return path
    compressor = [tools.program("zstd", "zstd"), "-q", "-3", "-c"] if kind.suffix.endswith("zst") else ["gzip", "-c"]
    partial = path.with_name(path.name + ".partial")
    text = "".join(lines(kind, rows)).encode()
    size = min(FRAME_BYTES, len(text) // 5) if kind.has_frames else len(text)
    starts = range(0, len(text), size)
    with partial.open("wb") as file:
        for start in starts:
            subprocess.run(compressor, input=text[start:start + size], stdout=file, check=True)
    if len(starts) < 5 and kind.has_frames:
        stop(f"{path} has only {len(starts)} frames")
    partial.rename(path)
    return path
