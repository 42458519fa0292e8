"""Runs commands and says what they took: wall time, peak memory, exit status."""

import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass


@dataclass
class Measured:
    """One finished process."""

    seconds: float
    cpu_seconds: float  # of all its threads, in the kernel too
    peak_kib: int
    exit_code: int  # negative: the signal that ended it
    stdout: str
    stderr: str


def measure(command, stdin=None):
    """Runs `command` with `stdin` (bytes) to its end. Output goes through files, so no pipe can hold it up.

    The program `spawn` starts it and reports, because the kernel counts in the peak of a process what its parent held
    when it was made."""
    from . import tools  # which needs this module

    with (tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err,
          tempfile.NamedTemporaryFile("r") as report):
        source.write(stdin or b"")
        source.seek(0)
        spawned = subprocess.run(
            [tools.build("spawn"), report.name, *map(str, command)], stdin=source, stdout=out, stderr=err)
        words = report.read().split()
        if spawned.returncode != 0 or len(words) != 4:
            stop(f"cannot run {command[0]}: {read_text(err)}")
        scale = 1024 if platform.system() == "Darwin" else 1  # bytes there, KiB on Linux
        return Measured(
            float(words[0]), float(words[1]), int(words[2]) // scale, os.waitstatus_to_exitcode(int(words[3])),
            read_text(out), read_text(err))


def read_text(file):
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def exit_text(code):
    """`0`, `65`, or the name of the signal."""
    return str(code) if code >= 0 else signal.Signals(-code).name


def spread(values):
    """(max - min) / median."""
    return (max(values) - min(values)) / statistics.median(values)


def machine():
    """What the numbers were measured on, in one line."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, load {load}"


def stop(message):
    """Ends the script with a message."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")
