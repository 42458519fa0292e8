"""A nightly mirror of 2,000,000 rows: the first night, the same file again, and 1 % of the rows changed, in 20 places or
spread evenly, against a plain upsert of the whole file."""

import json
import os

from . import results, series, tools
from .contenders import checked
from .measure import stop

PLACES = 20
# What is asked of each pair: how many times the second is faster.
BARS = (
    ("first night", "the same file", 20.0), ("upsert all, 20 places", "1 % in 20 places", 5.0),
    # With as many transactions each; then a mirror's one against a load's many, which are checkpointed beside the next.
    ("upsert all, one transaction", "1 % evenly", 1 / 1.1), ("upsert all, evenly", "1 % evenly, bounded", 1 / 1.1),
    ("upsert all, evenly", "1 % evenly", 1 / 1.1))


def add_arguments(parser):
    series.add_arguments(parser, rows=2_000_000)
    parser.add_argument("--save", action="store_true", help="write all results to Benchmarks/results too, for `run report`")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    first = tools.generated(folder, "narrow", "csv", arguments.rows, arguments.seed)
    run_length = max(arguments.rows // 100 // PLACES, 1)
    distance = arguments.rows // PLACES
    places = changed(first, folder / "mirror-places.csv", lambda row: row % distance < run_length)
    evenly = changed(first, folder / "mirror-evenly.csv", lambda row: row % 100 == 50)
    feed, filled, work = folder / "mirror-feed.csv", folder / "mirror-filled.db", folder / "mirror-work.db"
    options = arguments.upsurge_options.split()

    def command(words, database, path):
        deliver(path, feed)
        summary = folder / "mirror.summary.json"
        done = checked("upsurge", [tools.upsurge(), *words(database), *options, "-q", "--summary", str(summary)])
        found = json.loads(summary.read_text(encoding="utf-8"))
        return done, found["ledger"]

    def mirror(database, *more):
        return ["mirror", str(database), "--table", "t", "--source", str(feed), "--key", "id", "--sweep", "hard", *more]

    def load(database, *more):
        return ["load", str(database), "t", str(feed), "--key", "id", *more]

    def bounded(database):
        return mirror(database, "--atomic", "bounded")

    def one_transaction(database):
        return load(database, "--atomic")

    def contender(words, path, expected, is_new=False):
        def once():
            tools.remove_database(work)
            if not is_new:
                series.fresh_copy(filled, work)
                os.sync()  # the copy is not what is measured
            done, ledger = command(words, work, path)
            wrong = {word: ledger[word] for word, count in expected.items() if ledger[word] != count}
            if wrong:
                stop(f"the ledger says {wrong}, and {expected} was expected")
            return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}
        return once

    tools.remove_database(filled)
    command(mirror, filled, first)
    rows, few = arguments.rows, run_length * PLACES
    runs = series.interleave({
        "first night": contender(mirror, first, {"inserted": rows}, is_new=True),
        "the same file": contender(mirror, first, {"read": 0}),
        "1 % in 20 places": contender(mirror, places, {"updated": few, "unchanged": rows - few, "swept": 0}),
        "upsert all, 20 places": contender(load, places, {"updated": few, "unchanged": rows - few}),
        "1 % evenly": contender(mirror, evenly, {"updated": rows // 100, "swept": 0}),
        "1 % evenly, bounded": contender(bounded, evenly, {"updated": rows // 100, "swept": 0}),
        "upsert all, one transaction": contender(one_transaction, evenly, {"updated": rows // 100}),
        "upsert all, evenly": contender(load, evenly, {"updated": rows // 100}),
    }, arguments.rounds)
    series.header(f"narrow, {rows:,} rows by key, swept hard, seed {arguments.seed}")
    series.print_runs(runs, rows)
    ratios = []
    for slow, fast, bar in BARS:
        ratio = series.ratio(runs, slow, fast, "seconds")
        ratios.append({"slow": slow, "fast": fast, "asked": bar, **ratio})
        series.print_ratio(f"{slow} / {fast}", ratio, bar=bar)
    tools.remove_database(work)
    results.keep(arguments, "mirror", {"rows": rows, "rounds": arguments.rounds, "runs": runs, "ratios": ratios})
    if any(ratio["of_medians"] < ratio["asked"] for ratio in ratios):
        raise SystemExit(1)


def changed(source, target, is_changed):
    """The file with another quantity in some of its rows."""
    if target.exists():
        return target
    partial = target.with_suffix(".tmp")
    with source.open("rb") as lines, partial.open("wb") as out:
        out.write(next(lines))
        for row, line in enumerate(lines):
            if is_changed(row):
                fields = line.split(b",")
                fields[3] = b"%d" % (int(fields[3] or b"0") + 1)
                line = b",".join(fields)
            out.write(line)
    partial.rename(target)
    return target


def deliver(path, feed):
    """Puts a delivery where the feed is, as a writer that renames does."""
    partial = feed.with_suffix(".tmp")
    partial.unlink(missing_ok=True)
    os.link(path, partial)
    partial.rename(feed)
