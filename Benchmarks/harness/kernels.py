"""The engine's C kernels alone, over bytes in the processor's cache: bytes a second, and instructions a byte."""

import json
import re
import shutil
import subprocess
import tempfile

from . import results, tools
from .contenders import checked
from .measure import machine

# Passes of the two runs whose difference is counted: what comes before the passes falls out.
FEW, MANY = 2, 12


def add_arguments(parser):
    parser.add_argument("--milliseconds", type=int, default=500, help="that each kernel runs (500)")
    parser.add_argument(
        "--instructions", choices=["auto", "perf", "valgrind", "none"], default="auto",
        help="how to count them: perf where it works, else valgrind where it is installed (auto)")
    parser.add_argument("--scratch", metavar="FOLDER", help="for the data (upsurge-benchmarks in $TMPDIR)")
    results.add_arguments(parser)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    files = [str(tools.generated(folder, "narrow", record_format, 100_000, 42)) for record_format in ("csv", "ndjson")]
    program = tools.build("kernels")
    lines = checked("kernels", [program, *files, str(arguments.milliseconds)]).stdout.splitlines()
    kernels = [json.loads(line) for line in lines]
    check_twins(kernels)
    counter = COUNTERS[arguments.instructions if arguments.instructions != "auto" else available()]
    counted = stripped(program, folder)
    for number, kernel in enumerate(kernels):
        counts = [counter([counted, *files, "0", str(number), str(passes)]) for passes in (FEW, MANY)]
        known = None not in counts
        kernel["instructions_per_byte"] = (counts[1] - counts[0]) / (MANY - FEW) / kernel["bytes"] if known else None
    print(f"C kernels, narrow rows, 1 MiB at a time, one thread; machine: {machine()}\n")
    print(f"{'':46} {'GB/s':>7} {'ns/item':>8} {'instr./byte':>12}")
    for kernel in kernels:
        name = f"{kernel['kernel']}: {kernel['variant']}"
        each = f"{kernel['seconds'] * 1e9 / kernel['items']:.1f}" if kernel["items"] else ""
        count = kernel["instructions_per_byte"]
        print(f"{name:46} {kernel['bytes_per_second'] / 1e9:7.2f} {each:>8} {f'{count:.2f}' if count else '':>12}")
    print("\nitems are marks, fields, numbers or records; number conversion counts the bytes of the numbers only; the\n"
          "field walk goes over an index made before; instructions: of a pass, " + available_text(arguments.instructions))
    results.keep(arguments, "kernels", {"kernels": kernels})


def check_twins(kernels):
    """Kernels of one name and one input found the same."""
    found = {}
    for kernel in kernels:
        if kernel["kernel"] in ("structural index", "number conversion"):
            first = found.setdefault(kernel["kernel"], kernel)
            if first["found"] != kernel["found"]:
                raise SystemExit(f"{kernel['kernel']}: {kernel['variant']} differs from {first['variant']}")


def available():
    if shutil.which("perf") and by_perf(["true"]) is not None:
        return "perf"
    return "valgrind" if shutil.which("valgrind") else "none"


def available_text(given):
    used = available() if given == "auto" else given
    return {"perf": "by perf stat", "valgrind": "by valgrind, since perf counts none here", "none": "not counted"}[used]


def stripped(program, folder):
    """A copy without debug information, at which an older valgrind gives up."""
    copy = folder / "kernels-stripped"
    shutil.copy(program, copy)
    subprocess.run(["strip", "--strip-debug", str(copy)], capture_output=True)
    return str(copy)


def by_perf(command):
    done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", *command], capture_output=True, text=True)
    count = re.search(r"^(\d+),", done.stderr, re.MULTILINE)
    return int(count.group(1)) if count else None


def by_valgrind(command):
    with tempfile.NamedTemporaryFile() as output:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output.name}", *command], capture_output=True,
            text=True)
    count = re.search(r"Collected : (\d+)", done.stderr)
    return int(count.group(1)) if count else None


COUNTERS = {"perf": by_perf, "valgrind": by_valgrind, "none": lambda command: None}
