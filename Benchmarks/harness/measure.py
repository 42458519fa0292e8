"""Runs commands and says what they took: wall time, peak memory, exit status."""

import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass


@dataclass
class Measured:
    """One finished process.

    `peak_kib` is never below the resident size of the measuring Python (about 16 MiB): the kernel counts what the
    child held before it became the command.
    """

    seconds: float
    peak_kib: int
    exit_code: int  # negative: the signal that ended it
    stdout: str
    stderr: str


def measure(command, stdin=None):
    """Runs `command` with `stdin` (bytes) to its end. Output goes through files, so no pipe can hold it up."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(stdin or b"")
        source.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        scale = 1024 if platform.system() == "Darwin" else 1  # bytes there, KiB on Linux
        return Measured(seconds, usage.ru_maxrss // scale, process.returncode, read_text(out), read_text(err))


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
