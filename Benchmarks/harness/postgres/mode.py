"""upsurge and the other programs that load CSV into PostgreSQL, in turn, on the same rows, into a private server."""

import sys

from .. import results, tools
from ..measure import machine, stop
from . import contenders as every
from . import bars, rejects, scenarios
from .bench import Bench, print_runs
from .data import SPARSE, Deliveries
from .installed import Installed
from .server import Server

TRIAL = 100_000  # with fewer rows the script is tried, not the contenders


def add_arguments(parser):
    names = ", ".join(one.name for one in every.EVERY)
    parser.add_argument("--rows", type=int, default=2_000_000, help="narrow rows of the table (2000000)")
    parser.add_argument("--seed", type=int, default=42, help="of the generated rows (42)")
    parser.add_argument(
        "--rounds", type=int, help=f"times each contender runs (5; 1 with fewer than {TRIAL:,} rows); slow ones half of them")
    parser.add_argument("--contenders", metavar="A,B", help=f"of {names} (all that install)")
    parser.add_argument("--without-peers", action="store_true", help="only upsurge, psql and the floors")
    parser.add_argument(
        "--only", "--rows-of", dest="rows_of", metavar="A,B",
        help=f"rows of the table of results: of {', '.join(scenarios.EVERY)}, rejects, sequence (all)")
    parser.add_argument("--memory", type=int, default=64, metavar="MIB", help="upsurge's --memory, in MiB (64)")
    parser.add_argument("--upsurge-options", default="", metavar="OPTIONS", help="more options of upsurge load")
    parser.add_argument("--server", metavar="FOLDER", help="where initdb and postgres are (Debian's PostgreSQL 15)")
    parser.add_argument("--scratch", metavar="FOLDER", help="for data and peers (upsurge-benchmarks in $TMPDIR)")
    results.add_arguments(parser)


def run(arguments):
    chosen = split(arguments.rows_of, [*scenarios.EVERY, "rejects", "sequence"])
    classes = {one.name: one for one in every.EVERY}
    names = split(arguments.contenders, [name for name, one in classes.items() if not arguments.without_peers or not one.is_peer])
    folder = tools.scratch(arguments.scratch)
    installed = Installed(folder)
    every.Upsurge.options = ["--memory", f"{arguments.memory}MiB", *arguments.upsurge_options.split()]
    if "upsurge" in names or "upsurge by delta" in names:
        tools.upsurge()
    names = [name for name in names if installed.has(name)]
    is_trial = arguments.rows < TRIAL and arguments.rounds is None
    rounds = arguments.rounds or (1 if is_trial else 5)
    deliveries = Deliveries(folder, arguments.rows, arguments.seed)
    with Server(arguments.server, "off" if is_trial else "on") as server:
        bench = Bench(server, deliveries, [classes[name](server, folder, installed) for name in names], is_trial)
        found = measured(arguments, chosen, rounds, bench)
        found["versions"] = {"PostgreSQL": server.version(), **installed.versions()}
    results.keep(arguments, "postgres", found)
    if not is_trial and any(check["reached"] is False for check in found["checks"]):
        raise SystemExit(1)


def measured(arguments, chosen, rounds, bench):
    print(f"narrow, {arguments.rows:,} rows by key, seed {arguments.seed}, PostgreSQL {bench.server.version()}, fsync {bench.server.fsync}\n"
          f"machine: {machine()}", flush=True)
    picked = {name: one for name, one in scenarios.EVERY.items() if name in chosen}
    bench.prepare(any(one.operation == "upsert" for one in picked.values()))
    runs, tables = {}, []
    for name, scenario in picked.items():
        runs[name] = bench.compare(name, rounds)
        records = -(-arguments.rows // SPARSE) if name == "sparse" else arguments.rows
        print_runs(f"{scenario.title}: {records:,} records", runs[name], records)
        tables.append({"title": scenario.title, "records": records, "runs": runs[name]})
    sequences = bench.sequence_values(min(arguments.rows, 20_000)) if "sequence" in chosen else {}
    for name, count in sequences.items():
        print(f"{name}: {count:,} values drawn from a sequence by the same rows again")
    upsurge = next((one for one in bench.contenders if one.name == "upsurge"), None)
    rejected = rejects.counted(bench, upsurge, arguments) if upsurge and "rejects" in chosen else {}
    checks = bars.checks(runs, sequences, rejected, arguments.memory)
    bars.print_checks(checks, arguments.rows, rounds)
    return {
        "rows": arguments.rows, "rounds": rounds, "scenarios": tables, "sequence_values": sequences, "rejects": rejected,
        "left_out": bench.left_out, "checks": [vars(check) for check in checks]}


def split(given, known):
    """The words of an option, or all that are known."""
    words = [word.strip() for word in given.split(",")] if given else known
    unknown = [word for word in words if word not in known]
    if unknown:
        stop(f"there is no {unknown[0]}: name some of {', '.join(known)}")
    return words
