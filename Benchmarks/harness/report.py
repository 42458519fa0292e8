"""Makes of Benchmarks/results/*.json a page of tables, README.md beside them, and charts for it."""

import json
import statistics
from pathlib import Path

from . import results
from .bar_checks import shown
from .chart import Bar, bar_chart
from .measure import spread, stop
from .postgres import curve

WHAT = {"insert": "into a new table", "upsert": "by key onto a table that has them, all changed"}


def add_arguments(parser):
    parser.add_argument(
        "--results", metavar="FOLDER", default=str(results.FOLDER),
        help="where the JSON files are, and where page and charts go (Benchmarks/results)")


def run(arguments):
    folder = Path(arguments.results)
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    if not found:
        stop(f"there are no results in {folder}: run a mode with --save, such as Benchmarks/run bars --save")
    parts = ["# Results", "", "Made by `Benchmarks/run report` from the JSON files beside it; times are of whole processes,"
             " in seconds, medians of rounds in which all take their turn."]
    for names, section in SECTIONS:
        for name in [name for name in found if name in names]:
            parts += ["", *section(found[name], name, folder)]
    (folder / "README.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
    print(folder / "README.md")


def table(heads, rows):
    """Numbers to the right: the columns after the first."""
    yield "| " + " | ".join(heads) + " |"
    yield "|---" + "|---:" * (len(heads) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"


def measured_on(found, command):
    return (f"`{command}`, {found['date']}: {found['machine']}; upsurge {found['upsurge']}, SQLite {found['sqlite3']}.")


def bars(found, name, folder):
    yield "## Bars"
    yield ""
    yield measured_on(found, f"Benchmarks/run bars --rounds {found['rounds']}")
    if found["rows_scale"] != 1:
        yield f"With {found['rows_scale']:g} of the rows: these figures say nothing."
    yield ""
    yield from checks_table(found["checks"])
    for title, comparison in found["comparisons"].items():
        yield ""
        yield f"### {title[0].upper()}{title[1:]}"
        yield ""
        yield from runs_table(comparison["runs"], comparison["rows"])


def checks_table(checks):
    rows = []
    for check in checks:
        value = "-" if check["value"] is None else shown(check["value"], check["asked"], check["unit"])
        by_round = f"{check['low']:.2f} to {check['high']:.2f}" if check["low"] is not None else ""
        word = {True: "reached", False: "**missed**", None: ""}[check["reached"]]
        note = f"<br>{check['note']}" if check["note"] else ""
        rows.append([f"{check['bar']}: {check['what']}{note}", check["asked"], value, by_round,
                     "not measured" if check["value"] is None else word])
    yield from table(["bar", "asked", "measured", "by round", ""], rows)


def runs_table(runs, rows):
    lines = []
    for contender, done in runs.items():
        times = [one["seconds"] for one in done]
        middle = statistics.median(times)
        count = rows[contender] if isinstance(rows, dict) else rows
        noisy = " (noisy)" if spread(times) > 0.10 else ""
        lines.append([
            contender, f"{middle:.3f}", f"{min(times):.3f} to {max(times):.3f}{noisy}", f"{count / middle:,.0f}",
            f"{statistics.median(one['cpu s'] for one in done):.3f}" if "cpu s" in done[0] else "",
            f"{max(one['peak MiB'] for one in done):.0f}"])
    yield from table(["", "s", "by round", "rows/s", "processor s", "peak MiB"], lines)


def peers(found, name, folder):
    yield "## Beside other programs"
    yield ""
    yield measured_on(found, "Benchmarks/peers")
    yield "; ".join(f"{package} {version}" for package, version in found["versions"].items()) + "."
    for operation in [operation for operation in WHAT if operation in found]:
        title = f"{found['rows']:,} narrow rows {WHAT[operation]}"
        runs = found[operation]["runs"]
        chart = f"peers-{operation}.svg"
        (folder / chart).write_text(peer_chart(title, runs, found), encoding="utf-8")
        yield ""
        yield f"### {title}"
        yield ""
        yield f"![{title}: rows a second by program]({chart})"
        yield ""
        yield from runs_table(runs, found["rows"])


def peer_chart(title, runs, found):
    bars = []
    for contender, done in runs.items():
        times = [one["seconds"] for one in done]
        middle = statistics.median(times)
        rate = found["rows"] / middle
        peak = max(one["peak MiB"] for one in done)
        kind = "ours" if contender.startswith("upsurge") else "floor" if contender.startswith("C ") else "peer"
        bars.append(Bar(
            contender, rate, f"{rate:,.0f} rows/s, {peak:,.0f} MiB", kind, found["rows"] / max(times),
            found["rows"] / min(times)))
    bars.sort(key=lambda bar: -bar.value)
    machine = found["machine"].split(", load")[0]
    return bar_chart(
        title, f"rows a second (more is better) and peak memory; CSV to SQLite in WAL mode with synchronous=NORMAL, whole "
        f"processes, medians with the range by round; {machine}; {found['date']}", bars)


def matrix(found, name, folder):
    yield "## End to end"
    yield ""
    yield measured_on(found, "Benchmarks/run matrix")
    yield "The ratio is of times, to those of the case named."
    yield ""
    rows = []
    for case in found["cases"]:
        ratio = f"{case['ratio']['of_medians']:.2f} of {case['beside']}" if case["ratio"] else ""
        rows.append([
            f"{case['name']}<br>{case['says']}", f"{case['seconds']:.3f}", f"{case['rows_per_second']:,.0f}",
            f"{case['mb_per_second']:.0f}", f"{case['peak_mib']:.0f}", f"{case['wal_mib']:.0f}", ratio])
    yield from table(["", "s", "records/s", "MB/s", "peak MiB", "log MiB", "ratio"], rows)


def mirror(found, name, folder):
    yield "## Nightly runs"
    yield ""
    yield measured_on(found, f"Benchmarks/run mirror --rounds {found['rounds']}")
    yield ""
    yield from runs_table(found["runs"], found["rows"])
    yield ""
    rows = []
    for ratio in found["ratios"]:
        word = "reached" if ratio["of_medians"] >= ratio["asked"] else "**missed**"
        rows.append([f"{ratio['fast']}, beside {ratio['slow']}", f"{ratio['asked']:.2f}", f"{ratio['of_medians']:.2f}",
                     f"{ratio['min']:.2f} to {ratio['max']:.2f}", word])
    yield from table(["times faster", "asked", "measured", "by round", ""], rows)


def postgres(found, name, folder):
    yield "## Into PostgreSQL"
    yield ""
    versions = "; ".join(f"{program} {version}" for program, version in found["versions"].items())
    yield (f"`Benchmarks/run postgres --rounds {found['rounds']}`, {found['date']}: {found['machine']}; upsurge {found['upsurge']}; "
           f"{versions}.")
    yield ""
    yield from checks_table(found["checks"])
    for scenario in found["scenarios"]:
        yield ""
        yield f"### {scenario['title'][0].upper()}{scenario['title'][1:]}"
        yield ""
        yield from table(
            ["", "s", "by round", "rows/s", "server's processor s", "WAL MB", "dead rows", "peak MiB"],
            [server_line(contender, done, scenario["records"]) for contender, done in scenario["runs"].items()])


def connections(found, name, folder):
    yield "## Several connections"
    yield ""
    yield from curve.lines(found)


def server_line(contender, done, records):
    times = [one["seconds"] for one in done]
    middle = statistics.median(times)
    noisy = " (noisy)" if spread(times) > 0.10 else ""
    log, dead = (statistics.median(one[measured] for one in done) for measured in ("WAL MB", "dead rows"))
    return [contender, f"{middle:.3f}", f"{min(times):.3f} to {max(times):.3f}{noisy}", f"{records / middle:,.0f}",
            f"{statistics.median(one['server cpu s'] for one in done):.2f}", f"{log:.1f}", f"{dead:,.0f}",
            f"{max(one['peak MiB'] for one in done):.0f}"]


def floors(found, name, folder):
    yield f"## Floors in C, {name.split('-')[1]}"
    yield ""
    yield measured_on(found, f"Benchmarks/run floors --shape {name.split('-')[1]}")
    yield ""
    yield from runs_table(found["runs"], found["rows"])


def kernels(found, name, folder):
    yield "## Kernels"
    yield ""
    yield measured_on(found, "Benchmarks/run kernels")
    yield ""
    rows = []
    for kernel in found["kernels"]:
        count = kernel["instructions_per_byte"]
        rows.append([
            f"{kernel['kernel']}: {kernel['variant']}", f"{kernel['bytes_per_second'] / 1e9:.2f}",
            f"{kernel['seconds'] * 1e9 / kernel['items']:.1f}" if kernel["items"] else "",
            f"{count:.2f}" if count else ""])
    yield from table(["", "GB/s", "ns an item", "instructions a byte"], rows)


SECTIONS = [
    (["bars"], bars), (["peers"], peers), (["matrix"], matrix), (["mirror"], mirror), (["floors-narrow", "floors-wide"], floors),
    (["kernels"], kernels), (["postgres"], postgres), (["connections"], connections)]
