"""`upsurge load` end to end: named cases of shapes, formats, operations and keys, in turn, with checked tables."""

import statistics
import sys

from . import results, series, tools
from .case_inputs import Inputs
from .cases import cases
from .contenders import Input, digest, load_with_upsurge
from .measure import machine, stop


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=500_000, help="narrow rows; wide ones are half of them (500000)")
    tools.add_seed(parser)
    parser.add_argument("--rounds", type=int, default=5, help="times each case runs (5)")
    parser.add_argument("--only", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the cases and what they say; run nothing")
    parser.add_argument("--upsurge-options", default="", metavar="OPTIONS", help="more options of upsurge load")
    tools.add_scratch(parser)
    results.add_arguments(parser)


def run(arguments):
    inputs = Inputs(tools.scratch(arguments.scratch), arguments.rows, arguments.seed)
    chosen = [case for case in cases(inputs) if not arguments.only or arguments.only in case.name]
    if not chosen:
        stop(f"no case's name contains {arguments.only}; --list prints them")
    if arguments.list:
        for case in chosen:
            print(f"{case.name:44} {case.rows:>9,} records  {case.says}")
        return
    matrix = Matrix(inputs, arguments.upsurge_options.split())
    runs = series.interleave(
        {case.name: lambda case=case: matrix.load(case) for case in chosen}, arguments.rounds)
    rows = [summarise(case, runs) for case in chosen]
    print_rows(rows, arguments)
    results.keep(arguments, "matrix", {"rows": arguments.rows, "rounds": arguments.rounds, "cases": rows})


class Matrix:
    """Runs cases and looks at what they left."""

    def __init__(self, inputs, options):
        self.inputs = inputs
        self.options = options
        self.database = inputs.folder / "matrix.db"
        self.starts = {}
        self.found = {}   # digest by word or name of the case
        self.ledgers = {}

    def load(self, case):
        tools.remove_database(self.database)
        if case.start:
            if case.start not in self.starts:
                self.starts[case.start] = self.inputs.start(case.start)
            series.fresh_copy(self.starts[case.start], self.database)
        tools.settle()
        source = Input(case.table, case.source, case.key)
        done, summary = load_with_upsurge(case.source, source, self.database, [*case.options, *self.options])
        self.check(case, summary)
        tools.remove_database(self.database)
        return {
            "seconds": done.seconds, "peak MiB": summary["peak_memory_bytes"] / (1 << 20),
            "WAL MiB": summary["wal_bytes_written"] / (1 << 20), "MB": summary["bytes_decoded"] / 1e6,
            "stages": summary["stages"]}

    def check(self, case, summary):
        """The ledger is as it must be, and the table that of every other way to make it."""
        ledger = {word: count for word, count in summary["ledger"].items() if count and word != "read"}
        expected = case.ledger or self.ledgers.setdefault(case.name, ledger)
        if ledger != expected or summary["ledger"]["read"] != case.rows or sum(ledger.values()) != case.rows:
            stop(f"{case.name}: the ledger is {summary['ledger']}, not {expected} of {case.rows}")
        found = digest(self.database, case.table)
        first = self.found.setdefault(case.same or case.name, found)
        if (found["rows"], found["digest"]) != (first["rows"], first["digest"]):
            stop(f"{case.name} made another table: {found}, not {first}\nsee {self.database}")


def summarise(case, runs):
    done = runs[case.name]
    times = [one["seconds"] for one in done]
    seconds = statistics.median(times)
    stages = {
        stage: statistics.median(one["stages"].get(stage, 0) for one in done) for stage in done[0]["stages"]}
    ratio = series.ratio(runs, case.name, case.beside, "seconds") if case.beside in runs else None
    return {
        "name": case.name, "says": case.says, "records": case.rows, "seconds": seconds, "min": min(times),
        "max": max(times), "rows_per_second": case.rows / seconds, "mb_per_second": done[0]["MB"] / seconds,
        "peak_mib": max(one["peak MiB"] for one in done), "wal_mib": statistics.median(one["WAL MiB"] for one in done),
        "stages": stages, "beside": case.beside, "ratio": ratio}


def print_rows(rows, arguments):
    print(f"upsurge load, medians of {arguments.rounds} rounds; WAL, synchronous=NORMAL unless named; machine: {machine()}\n")
    print(f"{'':44} {'s':>7} {'min-max s':>13} {'rows/s':>10} {'MB/s':>6} {'peak MiB':>8} {'log MiB':>8}  longest stage")
    for row in rows:
        stage = max((name for name in row["stages"] if not name.startswith("wait")), key=lambda name: row["stages"][name])
        noisy = " noisy" if (row["max"] - row["min"]) / row["seconds"] > series.NOISY else ""
        print(
            f"{row['name']:44} {row['seconds']:7.3f} {row['min']:6.3f}-{row['max']:.3f} {row['rows_per_second']:10,.0f} "
            f"{row['mb_per_second']:6.0f} {row['peak_mib']:8.1f} {row['wal_mib']:8.1f}  {stage}{noisy}")
        if row["ratio"]:
            ratio = row["ratio"]
            print(f"{'':6}{ratio['of_medians']:.2f} ({ratio['min']:.2f}-{ratio['max']:.2f}) times: {row['beside']}")
    print("\nMB/s of unpacked bytes; every table is equal to that of each other way to make it, every ledger as it must be",
          flush=True)
    sys.stdout.flush()
