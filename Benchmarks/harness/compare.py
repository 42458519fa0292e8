"""Floor, upsurge and peers in turn on the same rows: A B C D A B C D …, so that all see the same machine."""

import json
import os
import statistics
import subprocess
import sys

from . import tools
from .contenders import DEFAULT_SETTINGS, Input, digest, run_floor, run_import, run_upsurge
from .measure import machine, spread, stop

NOISY = 0.10
WAYS = {
    "floor-single": "single", "floor-multi": "multi", "floor-virtual": "virtual",
    "floor-file": "file-multi", "floor-file-virtual": "file-virtual"}


def add_arguments(parser):
    parser.add_argument("--shape", choices=["narrow", "wide"], default="narrow", help="the table (narrow)")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows to load (2000000)")
    tools.add_seed(parser)
    parser.add_argument("--rounds", type=int, default=5, help="times each contender runs (5)")
    parser.add_argument(
        "--contenders", default="floor-single,floor-multi,upsurge,upsurge-zst,import", metavar="A,B",
        help="of floor-single, floor-multi, floor-virtual: rows in memory; floor-file, floor-file-virtual: from the "
        "file, by multi-row statements or a virtual table; upsurge, upsurge-zst, upsurge-ndjson; import, "
        "import-tuned: .import with upsurge's page size and cache (floor-single,floor-multi,upsurge,upsurge-zst,import)")
    parser.add_argument(
        "--changed", type=int, metavar="PERCENT",
        help="time an upsert by key onto a table that holds all rows, this many percent of them with other values; "
        "upsurge's fill beforehand is not timed, .import's goes through a staging table")
    parser.add_argument("--upsurge-options", default="", metavar="OPTIONS", help="more options of upsurge load")
    tools.add_scratch(parser)
    parser.add_argument("--json", metavar="FILE", help="write all results there")


def run(arguments):
    bench = Comparison(arguments)
    bench.warm_up()
    for round_number in range(arguments.rounds):
        print(f"round {round_number + 1} of {arguments.rounds}", file=sys.stderr)
        for name in bench.names:
            bench.run_one(name)
    results = bench.results()
    print_table(results)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as output:
            json.dump(results, output, indent=2)


class Comparison:
    """The contenders, their input and what they took so far."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.names = arguments.contenders.split(",")
        self.folder = tools.scratch(arguments.scratch)
        self.runs = {name: [] for name in self.names}
        self.settings = dict(DEFAULT_SETTINGS)
        self.settings_from = "defaults: upsurge did not run"
        self.options = arguments.upsurge_options.split()
        self.sources = {name: self.source(name) for name in self.names}
        self.expected = None

    def source(self, name):
        given = self.arguments
        record_format = "ndjson" if name == "upsurge-ndjson" else "csv"

        def file(changed):
            path = tools.generated(self.folder, given.shape, record_format, given.rows, given.seed, changed)
            return tools.compressed(path) if name == "upsurge-zst" else path

        key = "id" if given.shape == "narrow" else "key"
        if given.changed is None:
            return Input(given.shape, file(0), key)
        return Input(given.shape, file(given.changed), key, existing=file(0))

    def warm_up(self):
        """One upsurge run that does not count tells the settings that the floor gets."""
        name = next((name for name in self.names if name.startswith("upsurge")), None)
        if name is None:
            return
        stated = self.load(name).details.get("settings", {})
        self.settings.update({key: stated[key] for key in self.settings if key in stated})
        missing = [key for key in self.settings if key not in stated]
        self.settings_from = "upsurge's summary" + (f", except {', '.join(missing)}" if missing else "")

    def run_one(self, name):
        self.runs[name].append(self.load(name))

    def load(self, name):
        database = self.folder / "contender.db"
        tools.remove_database(database)
        os.sync()  # what the run before left to be written is not this one's
        source = self.sources[name]
        if name in WAYS:
            done = run_floor(source, database, self.settings, WAYS[name])
        elif name.startswith("upsurge"):
            done = run_upsurge(source, database, self.options)
        elif name in ("import", "import-tuned"):
            done = run_import(source, database, self.settings if name == "import-tuned" else None)
        else:
            stop(f"there is no contender {name}; see --help")
        self.check(name, database)
        tools.remove_database(database)
        return done

    def check(self, name, database):
        """A time counts only for the right table. The wide table's NULLs are compared as .import can store them."""
        found = digest(database, self.arguments.shape, empty_as_null=self.arguments.shape == "wide")
        if self.expected is None:
            if found["rows"] != self.arguments.rows:
                stop(f"{name} left {found['rows']} rows, not {self.arguments.rows}")
            self.expected = found
        if any(found[key] != self.expected[key] for key in ("rows", "digest")):
            stop(f"{name} made another table than the first contender: {found}, not {self.expected}\nsee {database}")
        if found["columns"] != self.expected["columns"]:
            print(f"{name}: columns are declared {found['columns']}, not {self.expected['columns']}", file=sys.stderr)

    def results(self):
        version = subprocess.run(["sqlite3", "--version"], capture_output=True, text=True).stdout.split(" ")[0]
        contenders = {
            name: {
                "seconds": [run.seconds for run in runs],
                "median_seconds": statistics.median(run.seconds for run in runs),
                "own_seconds": [run.own_seconds for run in runs if run.own_seconds is not None],
                "peak_kib": max(run.peak_kib for run in runs),
                "last_report": runs[-1].details,
            }
            for name, runs in self.runs.items()}
        return {
            "machine": machine(), "sqlite3": version, "arguments": vars(self.arguments),
            "settings": self.settings, "settings_from": self.settings_from, "table": self.expected,
            "contenders": contenders, "ratios": ratios(contenders)}


def ratios(contenders):
    """The ratios that the project's bars are about, by name: of the medians, and their range over the rounds."""
    def best_of(names):
        there = [name for name in names if name in contenders]
        return min(there, key=lambda name: contenders[name]["median_seconds"], default=None)

    best = best_of(name for name in WAYS if not WAYS[name].startswith("file-"))
    pairs = {
        ".import / upsurge": ("import", "upsurge"),
        ".import tuned / upsurge": ("import-tuned", "upsurge"),
        "floor / upsurge": (best, "upsurge"),
        "file floor / upsurge": (best_of(["floor-file", "floor-file-virtual"]), "upsurge"),
        "upsurge .zst / plain": ("upsurge-zst", "upsurge"),
        "upsurge NDJSON / CSV": ("upsurge-ndjson", "upsurge"),
        ".import / floor": ("import", best)}
    result = {}
    for title, (one, other) in pairs.items():
        if one in contenders and other in contenders:
            rounds = [a / b for a, b in zip(contenders[one]["seconds"], contenders[other]["seconds"])]
            median = contenders[one]["median_seconds"] / contenders[other]["median_seconds"]
            result[title] = {"of_medians": median, "min": min(rounds), "max": max(rounds)}
    return result


def print_table(results):
    given, settings = results["arguments"], results["settings"]
    what = f"upsert, {given['changed']} % changed" if given["changed"] is not None else "new database"
    print(f"{given['shape']}, {given['rows']:,} rows, seed {given['seed']}, {what}; WAL, synchronous=NORMAL")
    print(f"machine: {results['machine']}; sqlite3 {results['sqlite3']}")
    print(
        f"settings: pages of {settings['page_size']} bytes, cache {settings['cache_bytes'] / (1 << 20):g} MiB, "
        f"checkpoint at {settings['checkpoint_bytes'] / (1 << 20):g} MiB, {settings['rows_per_statement']} rows a "
        f"statement ({results['settings_from']})\n")
    print(f"{'':18} {'median s':>9} {'min-max s':>15} {'rows/s':>11} {'own s':>7} {'peak MiB':>9}")
    for name, one in results["contenders"].items():
        times = one["seconds"]
        own = f"{statistics.median(one['own_seconds']):.3f}" if one["own_seconds"] else ""
        print(
            f"{name:18} {one['median_seconds']:9.3f} {min(times):7.3f}-{max(times):.3f} "
            f"{given['rows'] / one['median_seconds']:11,.0f} {own:>7} {one['peak_kib'] / 1024:9.1f}")
    print()
    for title, ratio in results["ratios"].items():
        print(f"{title:24} {ratio['of_medians']:.2f}  (by round {ratio['min']:.2f}-{ratio['max']:.2f})")
    for name, one in results["contenders"].items():
        if spread(one["seconds"]) > NOISY:
            print(f"noisy: {name} spreads over {spread(one['seconds']):.0%} of its median; let the machine rest")
    print("floor: rows in memory before its clock starts, so its peak holds the whole input; others, and floor-file: "
          "whole process")
