"""Counts of the release build that do not wobble: instructions a row and allocations, against the thresholds in
Benchmarks/gates.json. Two loads of each kind, of few and of many rows: what a load costs once falls out of their
difference. Exits with 1 when a count is over its threshold."""

import json
import platform
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import callgrind, results, tools
from .contenders import Input, load_with_upsurge
from .measure import stop

THRESHOLDS = tools.FOLDER / "gates.json"
# Loads of fewer rows would end before every batch of the pool has been used.
FEW, MANY = 51_200, 153_600
# How far over its threshold a count of instructions may be: as measured, and with other compilers and libraries.
SAME, OTHER = 0.03, 0.15
# Far enough below that the threshold should follow.
LOOSE = 0.10
# Allocations that may come by the clock: a wait that has to be made longer, a line of the log.
HANDFUL = 8

# One transaction, so that no commit lies between few and many rows.
AT_ONCE = ["--commit-every", "1000000"]
INSERT = ["--direct", "never", *AT_ONCE]


@dataclass
class Kind:
    name: str
    record_format: str
    options: list
    changed: int | None = None  # percentage of rows that the table has otherwise; None: there is no table


KINDS = [
    Kind("narrow CSV, new table", "csv", INSERT),
    Kind("narrow CSV, upsert, all changed", "csv", AT_ONCE, changed=100),
    Kind("narrow CSV, upsert, none changed", "csv", AT_ONCE, changed=0),
    Kind("narrow NDJSON, new table", "ndjson", INSERT),
    Kind("narrow CSV, direct path", "csv", ["--direct", "always"])]

# What is counted, and whether SQLite's own code is part of it.
FIGURES = {
    "instructions": ("instructions a row", True), "own_instructions": ("instructions a row outside SQLite", False),
    "allocations": ("allocations outside SQLite", False), "sqlite_allocations": ("allocations of SQLite", True)}


def add_arguments(parser):
    parser.add_argument("--record", action="store_true", help="write what is found to Benchmarks/gates.json")
    parser.add_argument("--only", metavar="TEXT", default="", help="kinds whose names hold this text")
    parser.add_argument("--jobs", type=int, default=2, help="runs of valgrind at a time (2)")
    tools.add_scratch(parser)


def run(arguments):
    if not shutil.which("valgrind"):
        # The sign by which .ci/run finds what was skipped.
        print("➜ Gates on instructions and allocations skipped: valgrind is not installed (apt-get install valgrind)")
        return
    thresholds = json.loads(THRESHOLDS.read_text()) if THRESHOLDS.is_file() else {"kinds": {}}
    if thresholds.get("machine", platform.machine()) != platform.machine() and not arguments.record:
        print(f"➜ Gates on instructions and allocations skipped: measured on {thresholds['machine']}, this machine is "
              f"{platform.machine()}")
        return
    kinds = [kind for kind in KINDS if arguments.only in kind.name]
    folder = tools.scratch(arguments.scratch)
    command = stripped(tools.upsurge(), folder)
    found = measured(kinds, command, folder, arguments.jobs)
    print(f"valgrind's counts of {MANY - FEW:,} rows, {FEW:,} to {MANY:,}, {input_batches(folder)} batches")
    if arguments.record:
        record(found, thresholds)
    is_same = versions() == thresholds.get("versions")
    if not is_same:
        print(f"versions here: {versions()}, of the thresholds: {thresholds.get('versions')}; {OTHER:.0%} is borne")
    # Who waits for long on a busy machine commits early, and takes other ways; not twice on end.
    again = [kind for kind in kinds if passed(kind.name, found[kind.name].figures, thresholds, is_same)]
    for name, other in measured(again, command, folder, arguments.jobs).items():
        found[name] = found[name].least(other)
    faults = [fault for kind in kinds for fault in judge(kind.name, found[kind.name], thresholds, is_same)]
    if faults:
        print("\n".join(["", *faults, "", advice()]))
        raise SystemExit(1)
    print("gates: all counts are within their thresholds")


@dataclass
class Found:
    """What lies between two profiles of a kind, and who has asked for memory."""

    figures: dict
    growth: list

    def least(self, other):
        figures = {key: min(value, other.figures[key]) for key, value in self.figures.items()}
        return Found(figures, min(self.growth, other.growth, key=len))


def measured(kinds, command, folder, jobs):
    starts = {kind.name: start(kind, folder) for kind in kinds}
    with ThreadPoolExecutor(jobs) as pool:
        profiles = {
            (kind.name, rows): pool.submit(load, kind, rows, command, starts[kind.name], folder)
            for kind in kinds for rows in (MANY, FEW)}
        pairs = {kind.name: [profiles[kind.name, rows].result() for rows in (FEW, MANY)] for kind in kinds}
    return {name: Found(figures(*pair), growth(*pair)) for name, pair in pairs.items()}


def stripped(program, folder, name="upsurge"):
    """A copy without debug information, at which an older valgrind gives up."""
    copy = folder / f"{name}-stripped"
    shutil.copy(program, copy)
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-debug", str(copy)], capture_output=True)
    return str(copy)


def start(kind, folder):
    """The database that the loads of a kind begin with; None where they make it."""
    if kind.changed is None:
        return None
    path = folder / f"gates-start-{kind.changed}.db"
    tools.remove_database(path)
    rows = tools.generated(folder, "narrow", "csv", MANY, 42)
    load_with_upsurge(rows, Input("narrow", rows, "id"), path, [])
    return path


def load(kind, rows, command, start, folder):
    """What callgrind counts of a load."""
    source = tools.generated(folder, "narrow", kind.record_format, rows, 42, kind.changed or 0)
    stem = f"gates-{KINDS.index(kind)}-{rows}"
    database = folder / f"{stem}.db"
    tools.remove_database(database)
    if start:
        shutil.copyfile(start, database)
    words = ["load", database, "narrow", source, "--key", "id", "--quiet", *kind.options]
    found = callgrind.profile([command, *words], folder / f"{stem}.callgrind")
    tools.remove_database(database)
    return found


def figures(few, many):
    """What lies between two profiles."""
    rows = MANY - FEW
    is_sqlite = lambda path: Path(path).name.startswith("libsqlite3")
    grown = {path: many.instructions[path] - few.instructions[path] for path in many.instructions}
    allocated = {path: many.allocations[path] - few.allocations[path] for path in many.allocations}
    return {
        "instructions": round(sum(grown.values()) / rows, 1),
        "own_instructions": round(sum(count for path, count in grown.items() if not is_sqlite(path)) / rows, 1),
        "allocations": sum(count for path, count in allocated.items() if not is_sqlite(path)),
        "sqlite_allocations": sum(count for path, count in allocated.items() if is_sqlite(path))}


def passed(name, found, thresholds, is_same):
    """The figures that are over their thresholds; another version of SQLite is not our doing."""
    known = thresholds["kinds"].get(name, {})
    return [
        figure for figure, (_, has_sqlite) in FIGURES.items()
        if figure in known and found[figure] > limit(figure, known[figure], is_same) and (is_same or not has_sqlite)]


def judge(name, found, thresholds, is_same):
    """Prints the figures of a kind; returns what is wrong with them."""
    known = thresholds["kinds"].get(name)
    print(f"\n{name}")
    if known is None:
        return [f"{name}: no thresholds in {place()}"]
    over = passed(name, found.figures, thresholds, is_same)
    for figure, (words, _) in FIGURES.items():
        value = found.figures[figure]
        is_loose = is_same and value < known[figure] * (1 - LOOSE) - HANDFUL
        verdict = "  OVER" if figure in over else "  can be tightened" if is_loose else ""
        print(f"  {value:>12,} {words}, threshold {known[figure]:,}{verdict}")
    faults = [
        f"{name}: {found.figures[figure]:,} {FIGURES[figure][0]}, more than the {known[figure]:,} of {place()}"
        for figure in over]
    return faults + (found.growth if "allocations" in over else [])


def limit(figure, threshold, is_same):
    if figure == "allocations":
        return threshold + HANDFUL
    margin = SAME if is_same else OTHER
    return threshold * (1 + margin) + (HANDFUL if figure == "sqlite_allocations" else 0)


def growth(few, many):
    """Who has asked for more memory."""
    more = {key: many.wishes[key] - few.wishes[key] for key in many.wishes}
    most = sorted(more, key=more.get, reverse=True)[:10]
    names = readable([function for _, function in most])
    return [f"  {more[key]:,} by {text} in {Path(key[0]).name}" for key, text in zip(most, names) if more[key] > 0]


def readable(names):
    """Swift's names as they are written."""
    if not names or not shutil.which("swift"):
        return names
    done = subprocess.run(["swift", "demangle", "--compact", *names], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return lines if len(lines) == len(names) else names


def input_batches(folder):
    """Batches of 256 KiB between the two inputs."""
    sizes = [tools.generated(folder, "narrow", "csv", rows, 42).stat().st_size for rows in (FEW, MANY)]
    return (sizes[1] - sizes[0]) >> 18


def versions():
    """What else has a part in the counts."""
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True) if shutil.which("swift") else None
    match = re.search(r"Swift version (\S+)", swift.stdout) if swift else None
    return {"sqlite3": results.version("sqlite3"), "swift": match[1] if match else "unknown"}


def record(found, thresholds):
    thresholds["machine"] = platform.machine()
    thresholds["versions"] = versions()
    for name, one in found.items():
        thresholds["kinds"][name] = one.figures
    THRESHOLDS.write_text(json.dumps(thresholds, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(f"written: {place()}")


def place():
    return THRESHOLDS.relative_to(tools.PROJECT)


def advice():
    return (
        f"fix: find what has become dearer (valgrind --tool=callgrind, then callgrind_annotate, on the commit before and "
        f"this one). If it is worth it, Benchmarks/run gates --record writes {place()} anew; the commit says why.")
