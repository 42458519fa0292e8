"""The other programs that load CSV into SQLite, installed from Debian and PyPI into the scratch folder."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from . import tools
from .measure import stop

PROGRAMS = Path(__file__).resolve().parent / "peer_programs"
# DuckDB's extension is only loaded by the DuckDB it was built for, so both have one version.
PACKAGES = [
    "sqlite-utils", "adbc-driver-sqlite", "pyarrow", "pandas", "csvs-to-sqlite", "apsw", "duckdb==1.5.5",
    "duckdb-extension-sqlite-scanner==1.5.5"]


def python(folder):
    """The Python of the virtual environment, which is made when it is not there."""
    path = folder / "peers/bin/python"
    done = folder / "peers/installed.txt"
    wanted = "\n".join(PACKAGES)
    if done.is_file() and done.read_text() == wanted:
        return str(path)
    print(f"installing into {folder / 'peers'}: {', '.join(PACKAGES)}", file=sys.stderr)
    for command in ([sys.executable, "-m", "venv", folder / "peers"],
                    [path, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]):
        if subprocess.run(list(map(str, command)), stdout=sys.stderr).returncode != 0:
            stop(f"cannot install the peers: {' '.join(map(str, command))}")
    done.write_text(wanted)
    return str(path)


def debian(names):
    """Installs programs of the system that are missing, where there is an apt-get."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "--yes", "--quiet", *missing], stdout=sys.stderr)
    for name in names:
        tools.program(name, name)


def grdb():
    """The Swift program with GRDB's records, or None where GRDB cannot be had."""
    folder = tools.FOLDER / "grdb"
    path = folder / ".build/release/grdb"
    if not path.is_file() or path.stat().st_mtime < max(file.stat().st_mtime for file in folder.glob("Sources/**/*")):
        print("building Benchmarks/grdb (minutes, the first time)", file=sys.stderr)
        command = ["swift", "build", "-c", "release", "--package-path", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"without GRDB, which cannot be built here:\n{done.stderr.strip()[-500:]}", file=sys.stderr)
            return None
        path.touch()
    return str(path)


def versions(folder):
    """The versions of the installed packages, by name."""
    done = subprocess.run(
        [python(folder), "-m", "pip", "list", "--format=json", "--disable-pip-version-check"], capture_output=True,
        text=True)
    wanted = {package.split("==")[0] for package in PACKAGES}
    found = {one["name"].replace("_", "-"): one["version"] for one in json.loads(done.stdout)}
    return {name: version for name, version in sorted(found.items()) if name in wanted}
