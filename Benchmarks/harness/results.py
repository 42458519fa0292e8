"""Where figures are kept for the report: Benchmarks/results/NAME.json, with the machine and the versions that they
were measured on, and without a path of this machine."""

import datetime
import json
import subprocess
from pathlib import Path

from . import tools
from .measure import machine

FOLDER = tools.FOLDER / "results"


def add_arguments(parser):
    parser.add_argument("--json", metavar="FILE", help="write all results there")
    parser.add_argument("--save", action="store_true", help="write them to Benchmarks/results too, for `run report`")


def keep(arguments, name, found):
    """Writes `found`, a dictionary, as the arguments say."""
    found = {**stamp(), **found}
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    if arguments.save:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def stamp():
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "machine": machine(),
        "upsurge": version(tools.upsurge()) if tools.upsurge_path().is_file() else None, "sqlite3": version("sqlite3")}


def version(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    return done.stdout.split(" ")[0].strip()
