"""What it costs to start: `upsurge --version` against `sqlite3 --version`, in turn, whole processes."""

import json
import statistics
from pathlib import Path

from . import tools
from .contenders import checked
from .measure import machine


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=200, help="of each (200)")
    parser.add_argument("--json", metavar="FILE", help="write all results there")


def run(arguments):
    commands = {"upsurge": tools.upsurge(), "sqlite3": tools.program("sqlite3", "sqlite3")}
    seconds = {name: [] for name in commands}
    for _ in range(arguments.runs):
        for name, path in commands.items():
            seconds[name].append(checked(name, [path, "--version"]).seconds)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    print(f"start-up, --version, median of {arguments.runs} runs; machine: {machine()}")
    for name, times in seconds.items():
        print(f"{name:8} {medians[name] * 1000:.2f} ms  (fastest {min(times) * 1000:.2f})")
    print(f"upsurge / sqlite3 {medians['upsurge'] / medians['sqlite3']:.2f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"medians": medians, "seconds": seconds}), encoding="utf-8")
