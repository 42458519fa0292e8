"""The programs that load the same rows, each as a function of the database to make."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import tools
from .measure import measure, stop

# What the floor is given when upsurge's summary says nothing.
DEFAULT_SETTINGS = {
    "page_size": 16384, "cache_bytes": 16 << 20, "checkpoint_bytes": 40 << 20, "rows_per_statement": 64}


@dataclass
class Run:
    """What one load took."""

    seconds: float
    peak_kib: int
    cpu_seconds: float
    own_seconds: float | None = None  # as the program itself says
    details: dict = field(default_factory=dict)


@dataclass
class Input:
    """The rows to load, and how the table is called."""

    shape: str
    path: Path
    key: str | None
    existing: Path | None = None  # the delivery that the table holds before, for upserts


def checked(name, command, stdin=None):
    done = measure(command, stdin)
    if done.exit_code != 0:
        stop(f"{name} failed with {done.exit_code}: {' '.join(map(str, command))}\n{done.stderr.strip()[-2000:]}")
    return done


def run_floor(source, database, settings, way, conflict="abort"):
    """The C program, in its way `single`, `multi` or `virtual`: only its own time counts, which leaves reading the CSV
    out. In its way `file-multi` and so on it reads the file too, and the whole process counts."""
    page_size = settings["page_size"]
    is_file = way.startswith("file-")
    command = [tools.build("floor"), *(["file", "--way", way[len("file-"):]] if is_file else [way])]
    command += [
        "--shape", source.shape, "--csv", str(source.path), "--database", str(database), "--conflict", conflict,
        "--page-size", str(page_size), "--cache-kib", str(settings["cache_bytes"] // 1024),
        "--checkpoint-pages", str(max(1, settings["checkpoint_bytes"] // page_size)),
        "--rows-per-statement", str(settings["rows_per_statement"])]
    if source.existing:
        command += ["--existing", str(source.existing)]
    done = checked("floor", command)
    report = json.loads(done.stdout)
    is_whole = is_file and not source.existing  # with an existing table the process fills it first
    return Run(done.seconds if is_whole else report["seconds"], done.peak_kib, done.cpu_seconds,
               report["seconds"], report)


def settings_of(summary):
    """What the floor gets: as upsurge's summary states it, else the defaults."""
    stated = summary.get("settings", {})
    return {key: stated.get(key, value) for key, value in DEFAULT_SETTINGS.items()}


def run_upsurge(source, database, options=()):
    """`upsurge load` as a user types it, start-up included."""
    if source.existing:
        load_with_upsurge(source.existing, source, database, options)
    done, summary = load_with_upsurge(source.path, source, database, options)
    return Run(done.seconds, done.peak_kib, done.cpu_seconds, summary.get("seconds"), summary)


def load_with_upsurge(path, source, database, options):
    summary = Path(str(database) + ".summary.json")
    command = [
        tools.upsurge(), "load", str(database), source.shape, str(path), *(["--key", source.key] if source.key else []),
        "--summary", str(summary), *options]
    done = checked("upsurge", command)
    report = json.loads(summary.read_text())
    summary.unlink()
    return done, report


def run_import(source, database, settings=None, is_filled=False):
    """`sqlite3 .import` into a table made beforehand, WAL and synchronous=NORMAL; an upsert, of a source with existing
    rows or of a database that is filled, goes through a staging table. With settings, also the page size and cache of
    upsurge."""
    table = source.shape
    create = create_table(table)
    script = ["PRAGMA journal_mode=WAL;", "PRAGMA synchronous=NORMAL;"]
    if settings:
        script = [f"PRAGMA page_size={settings['page_size']};", *script,
                  f"PRAGMA cache_size=-{settings['cache_bytes'] // 1024};"]
    if source.existing:
        checked("sqlite3", [tools.program("sqlite3", "sqlite3"), str(database)], to_script(
            [*script, create, ".mode csv", f".import --skip 1 {source.existing} {table}"]))
    if source.existing or is_filled:
        script += [create.replace(f"TABLE {table}", "TEMP TABLE staging"), ".mode csv",
                   f".import --skip 1 --schema temp {source.path} staging", upsert_from_staging(table, create)]
    else:
        script += [create, ".mode csv", f".import --skip 1 {source.path} {table}"]
    done = checked("sqlite3", [tools.program("sqlite3", "sqlite3"), str(database)], to_script(script))
    return Run(done.seconds, done.peak_kib, done.cpu_seconds)


def to_script(lines):
    return ("\n".join(lines) + "\n").encode()


def create_table(shape):
    command = [tools.build("generate"), shape, "ddl"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def upsert_from_staging(table, create):
    names = [column.split()[0] for column in create[create.index("(") + 1:].split(", ")]
    key, rest = names[0], names[1:]
    changes = ", ".join(f"{name}=excluded.{name}" for name in rest)
    differs = " OR ".join(f"{table}.{name} IS NOT excluded.{name}" for name in rest)
    return (f"INSERT INTO {table} SELECT * FROM staging WHERE true "
            f"ON CONFLICT({key}) DO UPDATE SET {changes} WHERE {differs};")


def digest(database, table, empty_as_null=False):
    """Row count, digest and columns of a table."""
    command = [tools.build("digest"), str(database), table] + (["--empty-as-null"] if empty_as_null else [])
    return json.loads(checked("digest", command).stdout)
