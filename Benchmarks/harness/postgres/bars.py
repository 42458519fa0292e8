"""What the bars of the PostgreSQL store ask, and what was measured."""

from ..bar_checks import Check
from .. import series
from .bench import median
from .scenarios import EVERY

FLOORS = ("unlogged floor", "keyed floor")
OURS = ("upsurge", "upsurge by delta")
BARS_ROWS = 2_000_000

# Bar, row, the contender whose time is divided by upsurge's, how often that is asked.
RATIOS = (
    (1, "new", "psql", 1.3), (1, "new", "unlogged floor", 0.5), (1, "new-shuffled", "keyed floor", 2.0),
    (1, "new-shuffled", "psql", None), (2, "same", "psql", 6.0), (3, "one", "psql", 4.5), (3, "all", "psql", 0.95),
    (3, "one-shuffled", "psql", 2.5), (4, "same", "dlt", 8.0), (4, "same", "Sling", 8.0))
# Bar, row, what is at most this share of psql's.
SHARES = ((2, "same", 0.01), (3, "all", 0.90))


def checks(runs, sequences, rejected, memory):
    found = [ratio(runs, *words) for words in RATIOS]
    found.append(ratio(runs, 2, "same", "psql", 3.5, fast="upsurge by delta"))
    found += [share(runs, *words) for words in SHARES]
    found += [
        at_most(2, "the same rows again: dead rows", 0, median_of(runs, "same", "upsurge", "dead rows")),
        at_most(2, "the same rows again: values drawn from a sequence", 0, sequences.get("upsurge"))]
    found += [best_peer(runs, name) for name in EVERY if name in runs]
    for what, limit in (("10 bad records of 100,000, found by a trigger", 300), ("1,000 bad records of a CHECK", 2_000)):
        one = rejected.get(what, {})
        found.append(at_most(7, f"{what}: messages to the server", limit, one.get("statements"), note=one.get("note", "")))
    for name in runs:
        found.append(at_most(8, f"{EVERY[name].title}: peak memory", memory + 32, peak_of(runs, name), "MiB"))
    return sorted(found, key=lambda check: check.bar)


def ratio(runs, bar, name, slow, asked, fast="upsurge"):
    what = f"{EVERY[name].title}: {slow} / {fast}"
    text = f">= {asked:.2f}" if asked else ""
    if not has(runs, name, slow, fast):
        return Check(bar, what, text)
    value = series.ratio(runs[name], slow, fast, "seconds")
    work = processor(runs[name][slow]) / max(processor(runs[name][fast]), 0.01)
    return Check(bar, what, text, value["of_medians"], value["of_medians"] >= asked if asked else None, value["min"],
                 value["max"], f"of processor time, client and server: {work:.2f}")


def processor(runs):
    """Seconds that a busy machine changes less than those of the clock."""
    return median(runs, "server cpu s") + median(runs, "cpu s")


def share(runs, bar, name, asked):
    what = f"{EVERY[name].title}: WAL of upsurge / of psql"
    if not has(runs, name, "psql", "upsurge"):
        return Check(bar, what, f"<= {asked:.2f}")
    value = median_of(runs, name, "upsurge", "WAL MB") / max(median_of(runs, name, "psql", "WAL MB"), 1e-6)
    return Check(bar, what, f"<= {asked:.2f}", value, value <= asked)


def best_peer(runs, name):
    """Ahead of the fastest other program; where all rows change, within 5 % of it."""
    asked = 0.95 if name == "all" else 1.0
    peers = [peer for peer in runs[name] if peer not in OURS and peer not in FLOORS and runs[name][peer]]
    best = min(peers, key=lambda peer: median(runs[name][peer], "seconds"), default=None)
    if best is None:
        return Check(4, f"{EVERY[name].title}: the best other program / upsurge", f">= {asked:.2f}")
    check = ratio(runs, 4, name, best, asked)
    check.note = f"{best} is the best other program{'; ' if check.note else ''}{check.note}"
    return check


def at_most(bar, what, asked, value, unit="", note=""):
    return Check(bar, what, f"<= {asked:,}{' ' + unit if unit else ''}", value, None if value is None else value <= asked,
                 note=note, unit=unit or " ")


def has(runs, name, *contenders):
    return name in runs and all(runs[name].get(contender) for contender in contenders)


def median_of(runs, name, contender, measured):
    return median(runs[name][contender], measured) if has(runs, name, contender) else None


def peak_of(runs, name):
    return max(one["peak MiB"] for one in runs[name]["upsurge"]) if has(runs, name, "upsurge") else None


def print_checks(found, rows, rounds):
    print(f"\nbars, medians of {rounds} rounds")
    if rows != BARS_ROWS:
        print(f"with {rows:,} rows instead of {BARS_ROWS:,}: this tries the script, the figures say nothing"
              if rows < BARS_ROWS else f"with {rows:,} rows instead of {BARS_ROWS:,}")
    width = max(len(check.what) for check in found)
    print(f"\n{'bar':>3}  {'what':{width}} {'asked':>10} {'measured':>10}  {'by round':>11}")
    for check in found:
        by_round = f"{check.low:.2f}-{check.high:.2f}" if check.low is not None else ""
        print(f"{check.bar:3}  {check.what:{width}} {check.asked:>10} {check.shown():>10}  {by_round:>11}  {check.verdict()}")
        if check.note:
            print(f"     {check.note}")
