"""What a bar asks and what was measured, and what the comparisons share."""

import statistics
import sys
from dataclasses import dataclass

from . import series, tools
from .contenders import digest
from .features import Features
from .measure import stop


@dataclass
class Check:
    """One figure of a bar. Without `asked` it is there to be read beside the others."""

    bar: int
    what: str
    asked: str = ""
    value: float | None = None
    reached: bool | None = None
    low: float | None = None  # by round
    high: float | None = None
    note: str = ""
    unit: str = ""

    def shown(self):
        if self.value is None:
            return "-"
        return shown(self.value, self.asked, self.unit)

    def verdict(self):
        if self.value is None:
            return "not measured"
        return "" if self.reached is None else "reached" if self.reached else "MISSED"


def shown(value, asked, unit=""):
    """A figure with as many digits as tell it from what is asked."""
    if unit:
        return f"{value:,.0f} {unit}"
    text = f"{value:,.2f}"
    return f"{value:,.3f}" if asked.endswith(f" {text}") else text


class Context:
    """The options of the run, and what was found so far."""

    def __init__(self, arguments, folder, only):
        self.folder = folder
        self.only = only
        self.rounds = arguments.rounds
        self.scale = arguments.rows_scale
        self.seed = arguments.seed
        self.tries = arguments.tries
        self.features = Features()
        self.database = folder / "bars.db"
        self.checks = []
        self.comparisons = {}
        self.expected = {}

    def rows(self, count):
        return max(1000, int(count * self.scale))

    def generated(self, shape, record_format, rows, seed=0, changed=0):
        return tools.generated(self.folder, shape, record_format, rows, self.seed + seed, changed)

    def compare(self, title, contenders, reference, rows, rounds=None, tries=None):
        """Runs the contenders in turn, again where the reference is not calm; prints and keeps what they took."""
        best = series.settled(contenders, rounds or self.rounds, reference, tries or self.tries)
        print()
        series.header(f"{title}; seed {self.seed}")
        series.print_runs(best["runs"], rows)
        calm = best["spread"] <= series.NOISY
        if best["tries"] > 1 or not calm:
            print(f"{best['tries']} tries; the reference spreads over {best['spread']:.0%}{'' if calm else ': NOISY'}")
        sys.stdout.flush()
        self.comparisons[title] = {"rows": rows, "reference": reference, **best}
        return best["runs"]

    def check_table(self, key, table, rows, name, database=None):
        """A time counts only for the right table: the same as that of the first contender, with this many rows."""
        found = digest(database or self.database, table)
        expected = self.expected.setdefault(key, found)
        if found["rows"] != rows or found["digest"] != expected["digest"]:
            stop(f"{name} made another table: {found}, not {rows} rows as {expected}\nsee {database or self.database}")

    def add(self, check):
        self.checks.append(check)

    def ratio(self, bar, what, runs, slow, fast, at_least=None, at_most=None, note="", measure="seconds"):
        """Time of `slow` over time of `fast`, of medians; what is asked of it, if anything."""
        if slow not in runs or fast not in runs:
            self.add(Check(bar, what, asked(at_least, at_most), note=note))
            return
        found = series.ratio(runs, slow, fast, measure)
        value = found["of_medians"]
        reached = None
        if at_least is not None:
            reached = value >= at_least
        elif at_most is not None:
            reached = value <= at_most
        self.add(Check(bar, what, asked(at_least, at_most), value, reached, found["min"], found["max"], note))


def asked(at_least, at_most):
    if at_least is not None:
        return f">= {at_least:.2f}"
    return f"<= {at_most:.2f}" if at_most is not None else ""


def median(runs, name, measure="seconds"):
    return statistics.median(one[measure] for one in runs[name])


def fastest(runs, names):
    return min((name for name in names if name in runs), key=lambda name: median(runs, name), default=None)
