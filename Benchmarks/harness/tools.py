"""Where the programs are that the benchmarks run, and the data they run on."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .measure import stop

FOLDER = Path(__file__).resolve().parent.parent
PROJECT = FOLDER.parent


def upsurge_path():
    """Where the command under test is, or would be: $UPSURGE, else the project's release build."""
    return Path(os.environ.get("UPSURGE") or PROJECT / ".build/release/upsurge")


def upsurge():
    """The command under test."""
    path = upsurge_path()
    if not path.is_file():
        stop(f"{path} is not there: build it (see README.md) or name another with UPSURGE=…")
    return str(path)


def build(name):
    """The path of one of this package's programs, built when it is missing or older than the sources."""
    path = FOLDER / ".build/release" / name
    kernels = PROJECT / "Sources/CScan/include"  # which the program of that name includes
    sources = [FOLDER / "Package.swift", *(FOLDER / "Sources").rglob("*"), *kernels.glob("*.h")]
    if not path.is_file() or path.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        command = ["swift", "build", "-c", "release", "--package-path", str(FOLDER)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            stop(f"cannot build the benchmarks:\n{done.stdout}{done.stderr}")
        path.touch()
    return str(path)


def program(name, package):
    """A program of the system."""
    path = shutil.which(name)
    if path is None:
        stop(f"{name} is not installed: apt-get install {package}")
    return path


def add_scratch(parser):
    """The option whose value `scratch` takes."""
    parser.add_argument("--scratch", metavar="FOLDER", help="for data and databases (upsurge-benchmarks in $TMPDIR)")


def add_seed(parser, seed=42, of="the generated rows"):
    """The option that repeats what another run has chosen at random."""
    parser.add_argument("--seed", type=int, default=seed, help=f"of {of} ({seed})")


def scratch(given=None):
    """The folder for generated data and databases; what is generated stays there for the next run."""
    folder = Path(given or Path(tempfile.gettempdir()) / "upsurge-benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def generated(folder, shape, record_format, rows, seed, changed=0):
    """A generated file; made once. The generator's own date is part of the decision."""
    generate = build("generate")
    path = folder / f"{shape}-{rows}-{seed}-{changed}.{record_format}"
    if not path.is_file() or path.stat().st_mtime < os.stat(generate).st_mtime:
        partial = path.with_suffix(".partial")
        with open(partial, "wb") as output:
            arguments = [generate, shape, record_format, str(rows), str(seed), str(changed)]
            subprocess.run(arguments, stdout=output, check=True)
        partial.rename(path)
    return path


def compressed(path, kind="zst"):
    """The file as .zst or .gz, at the default level of zstd or gzip; made once."""
    target = path.with_name(f"{path.name}.{kind}")
    if not target.is_file() or target.stat().st_mtime < path.stat().st_mtime:
        command = [program("zstd", "zstd"), "-q", "-f", str(path), "-o", str(target)]
        if kind == "gz":
            command = [*command[:1], "--format=gzip", *command[1:]]
        subprocess.run(command, check=True)
    return target


def shared_data(name):
    """A file of the shared data beside the project (`../shared/data`, or UPSURGE_DATA), or None."""
    path = Path(os.environ.get("UPSURGE_DATA") or PROJECT.parent / "shared/data") / name
    return path if path.is_file() else None


def unpacked(path, folder):
    """A .zst file of the shared data, unpacked into the folder; made once."""
    target = folder / path.stem
    if not target.is_file() or target.stat().st_mtime < path.stat().st_mtime:
        subprocess.run([program("zstd", "zstd"), "-q", "-d", "-f", str(path), "-o", str(target)], check=True)
    return target


def settle():
    """What was prepared is on the disk, so that the next program does not wait for it."""
    os.sync()


def remove_database(path):
    """Removes a database with its log and shared memory."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(str(path) + suffix).unlink(missing_ok=True)
