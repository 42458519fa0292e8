"""Hostile inputs: `upsurge load` has to refuse or load each of them within --memory + 32 MiB."""

import json
import os
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from . import bomb_inputs, tools
from .measure import exit_text, machine

SLACK_MIB = 32
DEFAULT_MEMORY = "64MiB"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def add_arguments(parser):
    parser.add_argument("--memory", help="the bound given to each load (64MiB; to wide tables 16, 64 and 512MiB in turn)")
    parser.add_argument("--only", metavar="WORD", help="the inputs with this word in their names")
    parser.add_argument("--scale", type=float, default=1, help="of the sizes; 0.1 makes 10 GB one (1)")
    parser.add_argument("--timeout", type=int, default=300, help="seconds a load may take (300)")
    parser.add_argument("--scratch", metavar="FOLDER", help="for inputs and databases (upsurge-bombs in $TMPDIR)")
    parser.add_argument("--keep", action="store_true", help="keep the inputs for the next run")
    parser.add_argument("--json", metavar="FILE", help="write all results there")


def run(arguments):
    folder = Path(arguments.scratch or Path(tempfile.gettempdir()) / "upsurge-bombs")
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    print(f"--memory {arguments.memory or DEFAULT_MEMORY}, {SLACK_MIB} MiB on top; machine: {machine()}")
    bombs = [bomb for bomb in bomb_inputs.BOMBS if not arguments.only or arguments.only in bomb.name]
    for bomb, memory, is_last in (each for bomb in bombs for each in turns(bomb, arguments)):
        result = explode(bomb, memory, is_last, folder, arguments)
        results.append(result)
        print(
            f"{result['verdict']:4} {bomb.name:28} {memory:>6} exit {result['exit']:8} {result['seconds']:6.1f} s  peak "
            f"{result['peak_mib']:6.1f} (own {result['own_mib']:6.1f}) of {result['bound_mib']:.0f} MiB  "
            f"{result['rows_per_second']:>9,.0f} records/s\n     {result['message']}", flush=True)
    failed = [f"{result['name']} at {result['memory']}" for result in results if result["verdict"] != "ok"]
    print(f"{len(results)} inputs, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2), encoding="utf-8")
    if failed:
        raise SystemExit(1)


def turns(bomb, arguments):
    """The bomb with each memory that it is tried with, and whether that is the last one."""
    memories = [bomb.memory or arguments.memory or DEFAULT_MEMORY]
    if bomb.memories and not arguments.memory:
        memories = bomb.memories
    return [(bomb, memory, memory == memories[-1]) for memory in memories]


def explode(bomb, memory, is_last, folder, arguments):
    """Makes the input, loads it, and says what came of it."""
    path = folder / bomb.file
    if not path.exists():
        partial = path.with_name(path.name + ".partial")
        bomb.make(partial, arguments.scale)
        partial.rename(path)
    database, summary, rejects = folder / "bomb.db", folder / "summary.json", folder / "rejects.ndjson"
    tools.remove_database(database)
    summary.unlink(missing_ok=True)
    if bomb.schema:
        subprocess.run([tools.program("sqlite3", "sqlite3"), str(database), bomb.schema], check=True)
    sources = sorted(str(file) for file in path.iterdir()) if path.is_dir() else [str(path)]
    rejects.unlink(missing_ok=True)
    job = ["load", str(database), "t", *sources]
    if bomb.is_mirrored:
        job = ["mirror", str(database), "--table", "t", "--source", f"{path}/"]
    command = [
        tools.upsurge(), *job, "-q", "--memory", memory, "--summary", str(summary),
        *bomb.options, *(("--rejects", str(rejects)) if "reject" in bomb.options else ())]
    code, seconds, peak, message = timed(command, arguments.timeout)
    message += first_reject(rejects)
    text = summary.read_text(encoding="utf-8") if summary.exists() else ""
    said = json.loads(text) if text else {}
    problems = problems_of(bomb, code, message, database, said.get("ledger", {}), arguments)
    tools.remove_database(database)
    if is_last and not arguments.keep:
        remove(path)
    peak = max(peak, said.get("peak_memory_bytes", 0) / (1 << 20))
    bound = mebibytes(memory) + SLACK_MIB + bomb.window_mib
    if peak > bound:
        problems.append(f"peak {peak:.1f} MiB")
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return {
        "name": bomb.name, "memory": memory, "verdict": "FAIL" if problems else "ok", "problems": problems, "exit": "none" if code is None else exit_text(code),
        "seconds": seconds, "peak_mib": peak, "own_mib": said.get("peak_memory_bytes", 0) / (1 << 20),
        "bound_mib": bound, "rows_per_second": said.get("rows_per_second") or 0,
        "message": "; ".join(problems + [" ".join(lines)[:240]])}


def problems_of(bomb, code, message, database, ledger, arguments):
    """What is not as it must be, but for the memory."""
    if code is None:
        return [f"did not end within {arguments.timeout} s"]
    problems = []
    if code not in bomb.exits:
        problems.append(f"exit {exit_text(code)}, expected {' or '.join(map(str, bomb.exits))}")
    problems += [f"the message lacks {word!r}" for word in bomb.says if word not in message]
    if code not in (0, 2):
        # Of a run that was refused nothing is left.
        if code != 3 and rows_in(database) not in (None, 0):
            problems.append(f"refused, and {rows_in(database)} rows are stored")
    elif bomb.rows is None:
        problems.append("nobody said how many rows it has to store")
    if bomb.rows is not None and rows_in(database) != at_scale(bomb.rows, arguments):
        problems.append(f"stored {rows_in(database)} rows, expected {at_scale(bomb.rows, arguments)}")
    if bomb.rejected is not None and ledger.get("rejected") != at_scale(bomb.rejected, arguments):
        problems.append(f"rejected {ledger.get('rejected')} records, expected {at_scale(bomb.rejected, arguments)}")
    if bomb.query and (rows_in(database) is None or asked(database, bomb.query) != "ok"):
        problems.append("the table does not hold what the records say")
    return problems


def at_scale(count, arguments):
    return count(arguments.scale) if callable(count) else count


def rows_in(database):
    """How many rows the table has; None without a table."""
    if not database.exists() or asked(database, "SELECT count(*) FROM sqlite_schema WHERE name = 't'") == 0:
        return None
    return asked(database, "SELECT count(*) FROM t")


def asked(database, query):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query).fetchone()[0]
    finally:
        connection.close()


def timed(command, timeout):
    """Exit code (negative for a signal, None for a command that took too long and was killed), seconds, peak MiB and
    what was said on standard error."""
    with tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        peak = 0.0
        is_late = False
        while process.poll() is None:
            if not is_late and time.monotonic() - start > timeout:
                is_late = True
                process.kill()
            peak = max(peak, resident(process.pid))
            time.sleep(0.005)
        seconds = time.monotonic() - start
        errors.seek(0)
        text = errors.read(1 << 20).decode("utf-8", "replace")
        return None if is_late else process.returncode, seconds, peak, text


def resident(process):
    """The process's peak so far in MiB: VmHWM. What wait4 says would count this Python, from before the exec."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as lines:
            return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def first_reject(path):
    """The first record of a rejects file as a line for people."""
    if not path.exists():
        return ""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            reject = json.loads(line)
            if "reason" in reject:
                where = f"line {reject.get('line')}, byte {reject.get('byte')}"
                return f" rejected at {where}: {reject['reason']}; {reject.get('hint', '')}"
    return ""


def mebibytes(size):
    number = size.rstrip("BiKMG")
    return float(number) * UNITS[size[len(number):]] / (1 << 20)


def remove(path):
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink()
