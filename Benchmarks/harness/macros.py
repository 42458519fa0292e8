"""What the macros of models cost a compiler: a file of 50 models against the same structs without macros. Whole compilations of one
file to an object, by turns."""

import statistics
import subprocess
import time

from . import models, results, series, tools
from .measure import stop

PROPERTIES = """  let id: Int
  var name: String
  var email: String?
  {count}var count = 0
  {seen}var seenAt: Date?
  var price: Double
  var isActive = true
  {tags}var tags: [String]
"""
MACROS = {
    "count": '@Column("item_count") ', "seen": "@Column(as: Date.UnixTime.self) ", "tags": "@Column(as: JSON<[String]>.self) "}


def add_arguments(parser):
    parser.add_argument("--models", type=int, default=50, help="models in the file (50)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", metavar="FOLDER")
    parser.add_argument("--json", metavar="FILE", help="write all results here")
    parser.add_argument("--save", action="store_true", help="write all results to Benchmarks/results too")


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    models.built()
    build = (tools.FOLDER / "models/.build/release").resolve()
    plugin = build / "UpsurgeMacros-tool"
    if not plugin.is_file():
        stop(f"{plugin} is not there: remove {build} and try again")
    maps = [*(tools.PROJECT / "Sources").glob("C*/module.modulemap"), *(tools.PROJECT / "Sources").glob("C*/include/module.modulemap"),
            *build.glob("C*.build/module.modulemap")]
    flags = [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]

    def contender(has_macros):
        path = folder / f"models-{has_macros}.swift"
        path.write_text(source(arguments.models, has_macros), encoding="utf-8")
        command = [
            "swiftc", "-c", "-parse-as-library", "-swift-version", "6", "-module-name", "Many", "-I", str(build / "Modules"), *flags,
            "-load-plugin-executable", f"{plugin}#UpsurgeMacros", "-o", str(folder / "models.o"), str(path)]

        def once():
            start = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True)
            seconds = time.monotonic() - start
            if done.returncode != 0:
                stop(f"the compiler failed:\n{done.stderr[-3000:]}")
            return {"seconds": seconds}
        return once

    runs = series.interleave(
        {"@Table models": contender(True), "structs alone": contender(False)}, arguments.rounds)
    print(f"{arguments.models} models of 8 properties in one file, compiled to an object, -Onone; median, least and most seconds")
    for name, found in runs.items():
        seconds = sorted(one["seconds"] for one in found)
        print(f"  {name:<16} {statistics.median(seconds):6.2f}   {seconds[0]:.2f}-{seconds[-1]:.2f}")
    results.keep(arguments, "macros", {"models": arguments.models, "rounds": arguments.rounds, "runs": runs})


def source(count, has_macros):
    words = MACROS if has_macros else dict.fromkeys(MACROS, "")
    table = "@Table " if has_macros else ""
    head = "import Foundation\nimport UpsurgeModels\n"
    return head + "".join(
        f"\n{table}struct Model{number} {{\n{PROPERTIES.format(**words)}}}\n" for number in range(1, count + 1))
