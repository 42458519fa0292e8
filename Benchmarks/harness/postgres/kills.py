"""What is killed at random moments of a load into PostgreSQL: the client, its backends, the whole server. Loads go on by
themselves, or by the same command, until they are done: nothing lost, nothing doubled."""

import random
import signal
import subprocess
import time
from dataclasses import dataclass, field

from .. import tools
from ..measure import machine, stop
from .kill_loads import BUSY, DATABASE, KINDS, Load, Wrong
from .mode import split
from .server import Server

COUNTS = {"client": 500, "backend": 200, "server": 30}
# How a server is ended, in turn: see Server.crash.
WAYS = ("all", "first", "immediate")
# A load whose connection has gone ends with one of these when it cannot go on; 3 is: stopped part way.
ENDED = (BUSY, 3)


@dataclass
class Tally:
    """Of one kind of load."""

    kills: dict = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    loads: int = 0
    by_itself: int = 0  # loads that lost a connection, and ended well without another command
    begun_again: int = 0  # commands that were given again
    resumed: int = 0  # loads that were ended by a process that went on from a commit
    wrong: Wrong = field(default_factory=Wrong)


def add_arguments(parser):
    parser.add_argument(
        "--counts", default=",".join(map(str, COUNTS.values())), metavar="CLIENTS,BACKENDS,SERVERS",
        help="with --postgres: kills of all loads together (%(default)s)")
    parser.add_argument("--paths", metavar="A,B", help=f"with --postgres: of {', '.join(kind.name for kind in KINDS)} (all)")
    parser.add_argument("--server", metavar="FOLDER", help="with --postgres: where initdb and postgres are (Debian's PostgreSQL 15)")


def run(arguments, rows):
    counts = dict(zip(COUNTS, map(int, arguments.counts.split(",")), strict=True))
    paths = split(arguments.paths, [kind.name for kind in KINDS])
    kinds = [kind for kind in KINDS if kind.name in paths]
    folder = tools.scratch(arguments.scratch)
    began = time.monotonic()
    with Server(arguments.server) as server:
        print(f"kills of loads of {rows:,} rows into PostgreSQL {server.version()}, fsync {server.fsync}; machine: {machine()}")
        server.sql("postgres", f"CREATE DATABASE {DATABASE}")
        tallies = {}
        for number, kind in enumerate(kinds):
            generator = random.Random(f"{arguments.seed} {kind.name}")
            load = Load(server, folder, kind, rows, arguments.seed)
            tally = tallies[kind.name] = Tally()
            for what, kill in (("client", kill_client), ("backend", kill_backends), ("server", kill_server)):
                # What does not divide goes to the first ones.
                count = counts[what] // len(kinds) + (number < counts[what] % len(kinds))
                loop(load, tally, what, count, kill, generator)
            print_row(kind.name, load, tally, is_first=number == 0)
    finish(tallies, time.monotonic() - began)


def loop(load, tally, what, count, kill, generator):
    """Loads until there were so many kills; the result of each has to be the undisturbed one."""
    moments = spread_moments(count, load.seconds, generator)
    end, tries = tally.kills[what] + count, 0
    while tally.kills[what] < end:
        tries += 1
        if tries > 20 * count + 20:
            stop(f"{load.kind.name}: the loads end before they are killed")
        before = tally.kills[what]
        load.reset()
        moment = moments.pop() if moments else generator.uniform(0, load.seconds)
        summary = kill(load, tally, moment, end - before, generator)
        if tally.kills[what] == before:
            continue
        tally.loads += 1
        tally.resumed += summary.get("resumed_records", 0) > 0
        load.server.wait_for_clients(DATABASE)
        wrong = load.wrong(summary)
        if wrong:
            print(f"{load.kind.name}: after a kill of the {what} at {moment:.4f} s: {vars(wrong)}\n  {summary['ledger']}", flush=True)
        tally.wrong.add(wrong)


def spread_moments(count, seconds, generator):
    """One in each of so many equal parts of the run, in any order: also at its very beginning and its very end."""
    moments = [(part + generator.random()) / count * seconds * 1.02 for part in range(count)]
    generator.shuffle(moments)
    return moments


def kill_client(load, tally, moment, most, generator):
    """SIGKILL, and again with the command that goes on; the summary of the one that is done."""
    for number in range(most):
        child = load.start()
        time.sleep(moment)
        child.send_signal(signal.SIGKILL)
        _, talk = child.communicate()
        if child.returncode in (0, 2):
            return load.summary_told() or stop(f"{load.kind.name}: exit code {child.returncode} without a summary")
        if child.returncode != -signal.SIGKILL:
            stop(f"{load.kind.name}: exit code {child.returncode}: {talk}")
        tally.kills["client"] += 1
        summary = load.summary_told()
        if summary is not None:
            # It had said all; whether it had also taken its mark away is seen when its last statement has ended.
            load.server.wait_for_clients(DATABASE)
            if not load.is_listed():
                return summary
        if generator.random() < 0.2:
            break
        moment = generator.uniform(0, load.seconds * 0.6)
    tally.begun_again += 1
    return load.finish()


def kill_backends(load, tally, moment, most, generator):
    """pg_terminate_backend while the load goes on by itself; once in a while several times."""
    with Terminator(load.server) as terminator:
        child = load.start()
        killed = 0
        for _ in range(min(most, 3)):
            if has_ended(child, moment):
                break
            killed += terminator.terminate() > 0
            moment = generator.uniform(0, load.seconds * 1.5)
        tally.kills["backend"] += killed
        return ended(load, tally, child)


def kill_server(load, tally, moment, most, generator):
    """The end of the server, which recovers, while the load waits for it."""
    child = load.start()
    if not has_ended(child, moment):
        load.server.crash(WAYS[tally.kills["server"] % len(WAYS)])
        tally.kills["server"] += 1
    return ended(load, tally, child)


def has_ended(child, seconds):
    """Whether it ends within some seconds."""
    try:
        child.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def ended(load, tally, child):
    """Waits for the load, and gives the command again where it could not go on."""
    _, talk = child.communicate()
    if child.returncode in (0, 2):
        tally.by_itself += 1
        return load.summary_told() or stop(f"{load.kind.name}: exit code {child.returncode} without a summary")
    if child.returncode not in ENDED:
        stop(f"{load.kind.name}: exit code {child.returncode}: {talk}")
    tally.begun_again += 1
    return load.finish()


class Terminator:
    """A session of psql that ends the sessions of loads, as a context: a new process each time would take too long."""

    QUESTION = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        f"WHERE datname = '{DATABASE}' AND backend_type = 'client backend';\n")

    def __init__(self, server):
        self.command = [*server.psql("postgres"), "-A", "-t"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("SELECT 0;\n")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def terminate(self):
        """How many sessions there were."""
        return int(self.ask(self.QUESTION))

    def ask(self, question):
        self.process.stdin.write(question)
        self.process.stdin.flush()
        return self.process.stdout.readline()


def print_row(name, load, tally, is_first):
    if is_first:
        print(f"\n{'path':16} {'run s':>6} {'client':>7} {'backend':>8} {'server':>7} {'loads':>6} {'by itself':>10} {'again':>6} "
              f"{'resumed':>8} {'lost':>5} {'doubled':>8} {'ledgers':>8} {'rejects':>8}")
    kills, wrong = tally.kills, tally.wrong
    print(f"{name:16} {load.seconds:6.2f} {kills['client']:7,} {kills['backend']:8,} {kills['server']:7,} {tally.loads:6,} "
          f"{tally.by_itself:10,} {tally.begun_again:6,} {tally.resumed:8,} {wrong.lost:5,} {wrong.doubled:8,} {wrong.ledgers:8,} "
          f"{wrong.rejects:8,}", flush=True)


def finish(tallies, seconds):
    """Says what is lost and doubled; ends with 1 where something is, or where the kills show nothing."""
    every = Wrong()
    for tally in tallies.values():
        every.add(tally.wrong)
    kills = {what: sum(tally.kills[what] for tally in tallies.values()) for what in COUNTS}
    print(f"\n{kills['client']:,} kills of the client, {kills['backend']:,} of backends, {kills['server']:,} of the server, "
          f"in {seconds:.0f} s: {every.lost:,} lost, {every.doubled:,} doubled, {every.ledgers:,} other ledgers, "
          f"{every.rejects:,} other files of rejects", flush=True)
    if every:
        raise SystemExit(1)
    if sum(kills.values()) >= 50 and not any(tally.resumed for tally in tallies.values()):
        stop("no load was resumed; more --rows leave something to resume")
