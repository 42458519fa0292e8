"""Records that double in size, up to the record limit: twice the size may cost at most 2.2 times the instructions. Then
each of them again, while a signal or a deadline comes: the load ends within half a second, with a prefix stored."""

import functools
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from . import gates, tools
from .doubling_shapes import MANY_COLUMNS, SHAPES
from .measure import stop

# What twice the size may cost.
LIMIT = 2.2
# Seconds from the signal to the end.
PATIENCE = 0.5
DOUBLINGS = 3
REFERENCES = re.compile(r"I\s+refs:\s+([\d,]+)")


def add_arguments(parser):
    parser.add_argument("--memory", default="64MiB", help="of each load; records may have a quarter of it (64MiB)")
    parser.add_argument("--only", metavar="TEXT", default="", help="shapes whose names hold this text")
    parser.add_argument("--jobs", type=int, default=2, help="runs of valgrind at a time (2)")
    parser.add_argument("--signals", action="store_true", help="only send signals and let deadlines pass")
    parser.add_argument("--counts", action="store_true", help="only count instructions")
    parser.add_argument("--scratch", metavar="FOLDER", help="for inputs and databases (upsurge-benchmarks in $TMPDIR)")
    parser.add_argument("--json", metavar="FILE", help="write all results there")


def run(arguments):
    folder = tools.scratch(arguments.scratch) / "doublings"
    folder.mkdir(exist_ok=True)
    shapes = [shape for shape in SHAPES if arguments.only in shape.name]
    results, failed = [], []
    if not arguments.signals:
        if not shutil.which("valgrind"):
            stop("valgrind is not installed: apt-get install valgrind")
        program(folder)  # before several ask for it at once
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for result in pool.map(lambda shape: count(shape, folder, arguments.memory), shapes):
                results.append(result)
                if not result["ok"]:
                    failed.append(result["name"])
                print(line(result), flush=True)
    if not arguments.counts:
        for shape in shapes:
            if shape.counts_columns:
                continue
            for way in ("SIGTERM", "deadline"):
                result = interrupt(shape, way, folder, arguments.memory)
                results.append(result)
                if not result["ok"]:
                    failed.append(f"{way}: {result['name']}")
                print(f"{'ok' if result['ok'] else 'FAIL':4} {way:9} {shape.name:42} {result['seconds']:5.2f} s  exit "
                      f"{result['exit']}{result['problem']}", flush=True)
    print(f"{len(results)} results, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as output:
            json.dump(results, output, indent=2)
    if failed:
        raise SystemExit(1)


def line(result):
    counts = " ".join(f"{number / 1e6:9,.1f}" for number in result["instructions"])
    ratios = " ".join(f"{ratio:4.2f}" for ratio in result["ratios"])
    return f"{'ok' if result['ok'] else 'FAIL':4} {result['name']:42} {counts} M instructions, ratios {ratios}{result['problem']}"


def record_limit(memory):
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    number = memory.rstrip("BiKMG")
    return int(number) * units[memory[len(number):]] // 4


def sizes_of(shape, memory):
    """The last ones up to the limit, each half of the next."""
    last = MANY_COLUMNS if shape.counts_columns else record_limit(memory) - (8 << 10)
    return [last >> step for step in range(DOUBLINGS, -1, -1)]


def count(shape, folder, memory):
    """Counts the instructions of a load of each size, without those of one that is tiny."""
    found, problem = [], ""
    for size in [2 if shape.counts_columns else 64, *sizes_of(shape, memory)]:
        stem = folder / f"{shape.name.replace(' ', '-')}-{size}"
        source = stem.with_suffix("." + shape.suffix)
        source.write_bytes(shape.make(size))
        command = load(shape, stem.with_suffix(".db"), [source], memory, size)
        done = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        references = REFERENCES.search(done.stderr)
        if references is None:
            stop(f"valgrind failed with {done.returncode}: {done.stderr[-2000:]}")
        if done.returncode not in shape.exits and size > 64:
            problem = f"; exit {done.returncode}: {done.stderr.strip()[:300]}"
        found.append(int(references[1].replace(",", "")))
        source.unlink()
        tools.remove_database(stem.with_suffix(".db"))
    own = [max(number - found[0], 1) for number in found[1:]]
    ratios = [large / small for small, large in zip(own, own[1:])]
    return {
        "name": shape.name, "instructions": own, "ratios": ratios, "problem": problem,
        "ok": not problem and max(ratios) <= LIMIT}


@functools.cache
def program(folder):
    """A copy of the command that valgrind can read."""
    return gates.stripped(tools.upsurge(), folder)


def load(shape, database, sources, memory, size, *more):
    tools.remove_database(database)
    if shape.schema:
        connection = sqlite3.connect(database)
        connection.execute(shape.schema)
        connection.commit()
        connection.close()
    options = shape.column_options(size) if shape.column_options else []
    return [
        program(database.parent), "load", str(database), "t", *map(str, sources), "-q", "--memory", memory, "--on-error", "reject",
        *shape.options, *options, *more]


def interrupt(shape, way, folder, memory):
    """Ends a load of many such records while it works."""
    size = record_limit(memory) - (8 << 10)
    stem = folder / "interrupted"
    source = stem.with_suffix("." + shape.suffix)
    source.write_bytes(shape.make(size))
    database = stem.with_suffix(".db")
    # The first record is good, or the load ends at once: the first source decides what the columns are.
    first = stem.with_name(f"interrupted-first.{shape.suffix}")
    first.write_bytes(shape.first())
    # So many names of the same file that it takes some seconds.
    links = [stem.with_name(f"interrupted-{number}.{shape.suffix}") for number in range(400)]
    for link in links:
        link.unlink(missing_ok=True)
        link.hardlink_to(source)
    sources = [first, *links]
    command = load(shape, database, sources, memory, size)
    if way == "deadline":
        command = mirror(shape, stem, sources, database, memory)
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    start = time.monotonic()
    if way == "SIGTERM":
        time.sleep(0.7)
        start = time.monotonic()
        process.send_signal(signal.SIGTERM)
    else:
        start += 1
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
    seconds = max(time.monotonic() - start, 0)
    problem = ""
    if database.exists():
        connection = sqlite3.connect(database)
        if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            problem = "; the database is damaged"
        connection.close()
    expected = (143, 0, 2) if way == "SIGTERM" else (1, 3, 0, 2)
    if process.returncode not in expected:
        problem += f"; {said.strip()[:300]}"
    for path in [source, *sources]:
        path.unlink()
    tools.remove_database(database)
    return {
        "name": shape.name, "way": way, "seconds": seconds, "exit": process.returncode, "problem": problem,
        "ok": seconds <= PATIENCE and not problem}


def mirror(shape, stem, links, database, memory):
    """A job whose deadline comes while it reads the same file over and over."""
    names = {"--flatten": "flatten", "--columns": "columns", "--duplicate-keys": "duplicate-keys", "--ragged": "ragged",
             "--escape": "escape", "--json-path": "json-path"}
    settings = [f"memory: {memory}", "on-error: reject", "deadline: 1s"]
    words = list(shape.options)
    while words:
        word = words.pop(0)
        if word == "--alter":
            settings.append("contract: evolve")
        else:
            value = json.dumps(words.pop(0))
            settings.append(f"{names[word]}: {f'[{value}]' if word == '--columns' else value}")
    sources = ", ".join(json.dumps(str(link)) for link in links)
    text = f"tables:\n  t:\n    source: [{sources}]\n" + "".join(f"    {setting}\n" for setting in settings)
    job = stem.with_suffix(".yaml")
    job.write_text(text, encoding="utf-8")
    return [tools.upsurge(), "mirror", str(database), str(job), "-q"]
