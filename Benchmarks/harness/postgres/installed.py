"""The other programs that load CSV into PostgreSQL, installed from PyPI and Debian into the scratch folder. What does not
install is named and left out."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
SLING = "sling-linux-arm64" if platform.machine() == "aarch64" else "sling-linux-amd64"
# DuckDB's extension is only loaded by the DuckDB it was built for. Sling's later packages download their program.
PACKAGES = {
    "ADBC": ["adbc-driver-postgresql", "pyarrow"],
    "DuckDB": ["duckdb==1.5.5", "duckdb-extension-postgres-scanner==1.5.5"],
    "psycopg": ["psycopg[binary]"],
    "dlt": ["dlt[postgres]", "pyarrow"],
    "Sling": [f"{SLING}==1.4.11"],
}


class Installed:
    """A virtual environment in the scratch folder, and what is in it."""

    def __init__(self, folder):
        self.folder = folder / "postgres-peers"
        self.python = self.folder / "bin/python"

    def has(self, name):
        """Installs what a contender needs, once; says why it is left out where that fails."""
        if name == "pgloader":
            return self.has_pgloader()
        if name not in PACKAGES:
            return True
        done = self.folder / f"{name}.txt"
        wanted = "\n".join(PACKAGES[name])
        if done.is_file() and done.read_text(encoding="utf-8") == wanted:
            return True
        print(f"installing into {self.folder}: {', '.join(PACKAGES[name])}", file=sys.stderr)
        commands = [] if self.python.is_file() else [[sys.executable, "-m", "venv", self.folder]]
        commands.append([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[name]])
        for command in commands:
            ended = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if ended.returncode != 0:
                lines = (ended.stderr.strip() or f"status {ended.returncode}").splitlines()
                return left_out(name, lines[-1])
        done.write_text(wanted, encoding="utf-8")
        return True

    def has_pgloader(self):
        if shutil.which("pgloader") is None and shutil.which("apt-get") and os.getuid() == 0:
            subprocess.run(["apt-get", "install", "--yes", "--quiet", "pgloader"], stdout=sys.stderr)
        return shutil.which("pgloader") is not None or left_out("pgloader", "apt-get install pgloader")

    def script(self, name):
        return [str(self.python), str(PROGRAMS / f"{name}.py")]

    def sling(self):
        return str(next(self.folder.glob(f"lib/python*/site-packages/{SLING.replace('-', '_')}/bin/{SLING}")))

    def versions(self):
        """The versions of what is installed here, by name."""
        found = {}
        if self.python.is_file():
            done = subprocess.run(
                [str(self.python), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
                capture_output=True, text=True)
            every = dict(line.split("==") for line in done.stdout.splitlines() if line.count("==") == 1)
            wanted = {package.split("==")[0].split("[")[0] for packages in PACKAGES.values() for package in packages}
            found = {name: version for name, version in every.items() if name.replace("_", "-") in wanted}
        if shutil.which("pgloader"):
            done = subprocess.run(["pgloader", "--version"], capture_output=True, text=True)
            found["pgloader"] = (done.stdout.splitlines() or [""])[0].split(" ")[-1].strip('"')
        return found


def left_out(name, reason):
    print(f"{name} is left out: {reason}")
    return False
