"""Sheets of workbooks: `upsurge load book.xlsx` against csvkit's `in2csv book.xlsx`, which makes CSV of the same sheet. Then the peak
memory for the same rows with texts in the cells, and as .ods."""

import subprocess
import sys

from . import results, series, sheet_data, tools
from .contenders import checked
from .measure import stop

# Version 2.2.0 of csvkit reads .xlsx with this one.
PACKAGES = ["csvkit==2.2.0", "openpyxl==3.1.5"]
# So many times as fast as in2csv.
BAR = 10.0
# The default of --memory, and what comes on top of it.
PEAK_LIMIT_MIB = 64 + 32


def add_arguments(parser):
    series.add_arguments(parser, rows=1_000_000, rounds=3)
    parser.add_argument("--save", action="store_true", help="write all results to Benchmarks/results too, for `run report`")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    in2csv = installed(folder)
    books = {kind: sheet_data.workbook(folder, kind, arguments.rows, arguments.seed) for kind in sheet_data.KINDS}
    database, table = folder / "sheets.db", folder / "sheets.csv"
    options = arguments.upsurge_options.split()

    def load(path):
        tools.remove_database(database)
        done = checked("upsurge", [tools.upsurge(), "load", str(database), "t", str(path), "-q", *options])
        return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}

    def convert():
        done = checked("in2csv", [in2csv, str(books["xlsx"])])
        table.write_text(done.stdout, encoding="utf-8")
        return {"seconds": done.seconds, "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}

    runs = series.interleave({"upsurge load": lambda: load(books["xlsx"]), "in2csv": convert}, arguments.rounds)
    series.header(f"{arguments.rows:,} rows of 6 columns, {books['xlsx'].stat().st_size >> 20} MiB of .xlsx")
    series.print_runs(runs, arguments.rows)
    expected = digest(database)
    # What in2csv has made of the sheet is loaded as CSV: the same rows.
    same(load, table, database, expected)
    ratio = series.ratio(runs, "in2csv", "upsurge load", "seconds")
    is_whole = arguments.rows >= 1_000_000
    series.print_ratio("in2csv / upsurge load", ratio, BAR if is_whole else None)

    peaks = {"xlsx": max(one["peak MiB"] for one in runs["upsurge load"])}
    for kind in sheet_data.KINDS[1:]:
        peaks[kind] = same(load, books[kind], database, expected)["peak MiB"]
    for kind, peak in peaks.items():
        verdict = "reached" if peak <= PEAK_LIMIT_MIB else "MISSED"
        print(f"peak memory, {kind}: {peak:.1f} MiB, bar {PEAK_LIMIT_MIB}: {verdict}")
    tools.remove_database(database)
    results.keep(arguments, "sheets", {"rows": arguments.rows, "runs": runs, "ratio": ratio, "peaks": peaks})
    if max(peaks.values()) > PEAK_LIMIT_MIB or is_whole and ratio["of_medians"] < BAR:
        raise SystemExit(1)


def installed(folder):
    """in2csv in a virtual environment of its own, which is made when it is not there."""
    path, done = folder / "sheets/bin/in2csv", folder / "sheets/installed.txt"
    wanted = "\n".join(PACKAGES)
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return str(path)
    print(f"installing into {folder / 'sheets'}: {', '.join(PACKAGES)}", file=sys.stderr)
    for command in ([sys.executable, "-m", "venv", folder / "sheets"],
                    [folder / "sheets/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]):
        if subprocess.run(list(map(str, command)), stdout=sys.stderr).returncode != 0:
            stop(f"cannot install csvkit: {' '.join(map(str, command))}")
    done.write_text(wanted, encoding="utf-8")
    return str(path)


def digest(database):
    """Of all values and their storage classes, in any order of rows."""
    return checked("digest", [tools.build("digest"), str(database), "t"]).stdout


def same(load, path, database, expected):
    """Loads a file, and stops where its rows are others."""
    done = load(path)
    found = digest(database)
    if found != expected:
        stop(f"{path.name} gives another table: {found.strip()}, and {expected.strip()} was expected")
    return done
