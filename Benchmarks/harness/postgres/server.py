"""A private PostgreSQL with initdb's defaults, on a free port of the loopback, in a temporary folder that goes when
this process ends, however it ends."""

import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from ..measure import stop

VERSION = "15"  # which the bars name
USER = "bench"

# A shell between this process and the server waits for the end of its input: then the server and its folder go. Each line
# of the input starts a server that was killed again.
SCRIPT = """
trap '' INT HUP TERM
trap 'if [ -n "$server" ]; then kill -QUIT $server; wait $server; fi >/dev/null 2>&1; rm -rf "$folder"' EXIT
fail() { cat "$folder/log"; exit 1; }
run() {
  "$programs/postgres" -D "$folder/data" -p $port -h 127.0.0.1 -k "" -c fsync=$fsync </dev/null >>"$folder/log" 2>&1 &
  server=$!
}
await() {
  count=0
  until "$programs/pg_isready" -q -h 127.0.0.1 -p $port; do
    count=$((count + 1))
    if [ $count -gt 1200 ]; then fail; fi
    # Processes of the one that was killed may still hold its memory.
    if ! kill -0 $server 2>/dev/null; then [ "$1" = again ] || fail; wait $server; run; fi
    sleep 0.05
  done
  echo "ready $server"
}
"$programs/initdb" -D "$folder/data" -U "$user" -N -E UTF8 --no-locale -A scram-sha-256 --pwfile="$folder/password" \
  >"$folder/log" 2>&1 || fail
run
await first
while read -r word; do
  wait $server 2>/dev/null
  run
  await again
done
"""


class Server:
    """The server, as a context: it is there inside of `with`."""

    def __init__(self, programs=None, fsync="on"):
        if not Path("/proc/self/stat").is_file():
            stop("the processor time of the server is read from /proc: this runs on Linux")
        self.programs = programs_of(programs)
        self.fsync = fsync
        self.password = secrets.token_hex(8)
        self.ticks = os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="upsurge-postgres-"))
        (self.folder / "password").write_text(self.password, encoding="utf-8")
        system = system_user() if os.getuid() == 0 else None
        if system:
            for path in (self.folder, self.folder / "password"):
                os.chown(path, system.pw_uid, system.pw_gid)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "programs": str(self.programs), "folder": str(self.folder),
            "user": USER, "port": str(self.port), "fsync": self.fsync}
        identity = {"user": system.pw_uid, "group": system.pw_gid, "extra_groups": []} if system else {}
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
            env=environment, start_new_session=True, **identity)
        self.wait_until_ready()
        return self

    def wait_until_ready(self):
        said = self.shell.stdout.readline()
        if not said.startswith("ready "):
            said += self.shell.stdout.read()
            shutil.rmtree(self.folder, ignore_errors=True)
            stop(f"PostgreSQL does not start:\n{said.strip()[-1500:]}")
        self.process = int(said.split()[1])

    def crash(self, way):
        """Ends the server, and starts it again: it recovers from its log.

        `way`: "all", SIGKILL of all its processes; "first", of the one that starts others; "immediate", its own way
        to end at once."""
        others = self.children() if way == "all" else []
        for process in [self.process, *map(int, others)]:
            try:
                os.kill(process, signal.SIGQUIT if way == "immediate" else signal.SIGKILL)
            except ProcessLookupError:
                continue  # it has just ended by itself
        self.shell.stdin.write("again\n")
        self.shell.stdin.flush()
        self.wait_until_ready()

    def __exit__(self, *_):
        self.shell.stdin.close()
        self.shell.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database, scheme="postgresql", parameters=""):
        return f"{scheme}://{USER}:{self.password}@127.0.0.1:{self.port}/{database}{parameters}"

    def psql(self, database):
        """The command of psql without anybody's settings."""
        return [str(self.programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", self.url(database)]

    def sql(self, database, *statements):
        """Runs statements, each on its own; what the last rows say, one line a row, columns by |."""
        words = [word for statement in statements for word in ("-c", statement)]
        done = subprocess.run([*self.psql(database), "-A", "-t", *words], capture_output=True, text=True)
        if done.returncode != 0:
            stop(f"PostgreSQL: {done.stderr.strip()}\nin {'; '.join(statements)[:1000]}")
        return done.stdout.strip()

    def version(self):
        return self.sql("postgres", "SHOW server_version")

    def copy_database(self, template, name):
        """Makes a database anew as a copy of another one's pages: its tables are as vacuumed as they were there."""
        self.sql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name} TEMPLATE {template}")

    def log_position(self):
        return self.sql("postgres", "SELECT pg_current_wal_insert_lsn()")

    def log_bytes(self, since):
        return int(self.sql("postgres", f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{since}')"))

    def processor_seconds(self):
        """Of all processes that the server has and had: those that ended are in its own count of its children."""
        total = 0
        for process in [self.process, *self.children()]:
            try:
                fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            total += sum(map(int, fields[11:15 if process == self.process else 13]))
        return total / self.ticks

    def wait_for_clients(self, database, limit=30):
        """Until no client of a database is left: what it did is in all counts then."""
        end = time.monotonic() + limit
        while any(re.search(rf"^postgres: {USER} {database} 127", title) for title in map(title_of, self.children())):
            if time.monotonic() > end:
                stop(f"a client of the database {database} does not end")
            time.sleep(0.002)

    def children(self):
        try:
            return Path(f"/proc/{self.process}/task/{self.process}/children").read_text(encoding="utf-8").split()
        except OSError:
            stop("the server has ended: see its log")


def title_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def programs_of(given):
    """The folder of initdb and postgres: Debian's of the version that the bars name, else its newest one."""
    folders = [Path(given)] if given else sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: (folder.parent.name == VERSION, version_number(folder)))
    folders = [folder for folder in folders if (folder / "initdb").is_file() and (folder / "postgres").is_file()]
    if not folders:
        stop(f"{given or 'PostgreSQL'} has no initdb and no postgres: apt-get install postgresql-{VERSION}")
    return folders[-1]


def version_number(folder):
    return float(folder.parent.name) if re.fullmatch(r"[0-9.]+", folder.parent.name) else 0


def system_user():
    """Who runs the server where we are root, as which it does not run."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return stop("there is neither a user postgres nor nobody to run PostgreSQL as")
