"""What valgrind's callgrind counts of a command: instructions by object file, and who calls the allocator. The counts
do not depend on the machine's load; threads run in turn. Format: https://valgrind.org/docs/manual/cl-format.html."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .measure import stop

ALLOCATOR = {
    prefix + name for prefix in ("", "__libc_", "__")
    for name in ("malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc", "valloc")}

# What stands between the code that wants memory and the allocator.
BETWEEN = re.compile(
    r".*(swift_(?!\w*[dD]ealloc)\w*[aA]lloc|ContiguousArrayV|ContiguousArrayBufferV).*|operator new.*")

NAME = re.compile(r"\((\d+)\)(?: (.*))?")


@dataclass
class Profile:
    """One run."""

    # Instructions by the path of the object file they lie in.
    instructions: Counter = field(default_factory=Counter)
    # Calls of the allocator, by the calling object file.
    allocations: Counter = field(default_factory=Counter)
    # Calls of what allocates, by the calling object file and function that does not.
    wishes: Counter = field(default_factory=Counter)

    def total(self):
        return sum(self.instructions.values())


def profile(command, output):
    """Runs a command under callgrind; `output` is the file for what callgrind writes."""
    output = Path(output)
    output.unlink(missing_ok=True)
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", "--compress-pos=no"]
    done = subprocess.run([*valgrind, *map(str, command)], capture_output=True, text=True)
    if done.returncode != 0 or not output.is_file():
        stop(f"valgrind failed with {done.returncode}: {' '.join(map(str, command))}\n{done.stderr.strip()[-2000:]}")
    with open(output, encoding="utf-8", errors="replace") as lines:
        found = read(lines)
    output.unlink()
    return found


def read(lines):
    found = Profile()
    objects, functions = {}, {}
    own_object = own_function = called_object = called_function = ""
    is_call = False
    for line in lines:
        line = line.rstrip("\n")
        if line[:1].isdigit():
            # A position and its cost; behind `calls=` it is the cost of what was called, counted there.
            if not is_call:
                words = line.split()
                found.instructions[own_object] += int(words[1]) if len(words) > 1 else 0
            is_call = False
        elif line.startswith("fn="):
            own_function = name(functions, line[3:])
        elif line.startswith("ob="):
            own_object = name(objects, line[3:])
        elif line.startswith("cfn="):
            called_function = name(functions, line[4:])
        elif line.startswith("cob="):
            called_object = name(objects, line[4:])
        elif line.startswith("calls="):
            count = int(line[6:].split()[0])
            note_call(found, own_object, own_function, called_object or own_object, called_function, count)
            # Said again for each call that leaves the object.
            called_object = ""
            is_call = True
    return found


def name(table, text):
    """`(3) malloc` gives a name its number, `(3)` uses it."""
    match = NAME.fullmatch(text)
    if not match:
        return text
    if match[2] is not None:
        table[match[1]] = match[2]
    return table.get(match[1], "")


def note_call(found, own_object, own_function, called_object, called_function, count):
    is_allocator = called_function in ALLOCATOR and own_function not in ALLOCATOR
    if is_allocator and Path(called_object).name.startswith(("libc.", "libc-", "ld-")):
        found.allocations[own_object] += count
    if (is_allocator or BETWEEN.fullmatch(called_function)) and not BETWEEN.fullmatch(own_function):
        found.wishes[own_object, own_function] += count
