"""Loads over several connections: a simulation of shards that are far away, and one server that is near.

The simulation has one PostgreSQL on this machine. A proxy makes every message late, each way, and stands for the network. A connection
of the load is taken for one shard. Transactions are small, so that waiting decides, as it does where each shard has processors of its
own. What it cannot show is what shards do to one another."""

import json
import statistics
import subprocess
import time

from .. import results, tools
from ..measure import machine, stop
from . import curve as page
from .latency import Latency
from .server import Server

DATABASE = "connections"
COUNTS = (1, 2, 4, 8, 16, 32, 64)
TABLE = "CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 1000000000), a text)"


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=100_000, help="of each simulated load (100000)")
    parser.add_argument("--near-rows", type=int, default=2_000_000, help="of the loads into a server that is near (2000000)")
    parser.add_argument("--rounds", type=int, default=5, help="times each load into a near server runs (5)")
    parser.add_argument("--delay", type=float, default=5, metavar="MS", help="of each message, each way (5)")
    parser.add_argument("--commit-every", type=int, default=200, help="rows of a simulated transaction (200)")
    parser.add_argument("--server", metavar="FOLDER", help="where initdb and postgres are (Debian's PostgreSQL 15)")
    tools.add_seed(parser)
    tools.add_scratch(parser)
    parser.add_argument("--page", action="store_true", help="write the curve into the manual's page on PostgreSQL, too")
    results.add_arguments(parser)


def run(arguments):
    folder = tools.scratch(arguments.scratch)
    with Server(arguments.server) as server:
        print(f"connections, {arguments.rows:,} rows, {arguments.delay:g} ms each way, machine: {machine()}", flush=True)
        server.sql("postgres", f"CREATE DATABASE {DATABASE}")
        bench = Bench(server, folder, arguments)
        curve = bench.curve()
        disturbed = bench.disturbed()
        near = bench.near()
    by_count = {one["connections"]: one for one in curve}
    checks = [
        ("8 connections, times as fast as one", by_count[1]["seconds"] / by_count[8]["seconds"], 5),
        ("8 connections, round trips of one to those of the longest", by_count[1]["trips"] / by_count[8]["trips"], 5),
        *((f"near server, {name}, times as fast as one", one["ratio"], 0.9) for name, one in near.items()),
    ]
    for text, value, least in checks:
        print(f"{'reached' if value >= least else 'MISSED'}: {text}: {value:.2f} (at least {least})")
    found = {
        "rows": arguments.rows, "delay": arguments.delay, "commit_every": arguments.commit_every, "near_rows": arguments.near_rows,
        "rounds": arguments.rounds, "curve": curve, "disturbed": disturbed, "near": near}
    results.keep(arguments, "connections", found)
    if arguments.page:
        page.write({**results.stamp(), **found})
    if any(value < least for _, value, least in checks):
        raise SystemExit(1)


class Bench:
    def __init__(self, server, folder, arguments):
        self.server, self.arguments, self.folder = server, arguments, folder
        self.source = folder / f"connections-{arguments.rows}.csv"
        self.rejects = folder / "connections-rejects.ndjson"
        self.told = folder / "connections.summary.json"
        with self.source.open("w", encoding="utf-8") as file:
            file.write("id,n,a\n")
            # Each key comes twice, and what is stored twice shows in a sum.
            for number in range(arguments.rows):
                value = 5_000_000_000 if number % 9_973 == 17 else number % 97
                file.write(f"{number % (arguments.rows // 2)},{value},name {number}\n")
        self.expected = None

    def load(self, port, count):
        """Runs one load to its end; its seconds. One that ends with its connections is started again."""
        self.server.wait_for_clients(DATABASE)
        self.server.sql(DATABASE, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", TABLE)
        self.rejects.unlink(missing_ok=True)
        url = self.server.url(DATABASE).replace(f":{self.server.port}/", f":{port}/")
        command = [
            tools.upsurge(), "load", url, "t", str(self.source), "--key", "id", "--set", "n=sum", "--quiet", "--on-error", "reject",
            "--rejects", str(self.rejects), "--summary", str(self.told), "--connections", str(count), "--commit-every",
            str(self.arguments.commit_every)]
        began = time.monotonic()
        for starts in range(1, 20):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 2:
                return time.monotonic() - began, starts
            if done.returncode not in (3, 75):
                break
        return stop(f"{count} connections: exit code {done.returncode}: {done.stderr}")

    def check(self, what):
        """Nothing is lost, doubled, or told in another way than by one connection."""
        ledger = json.loads(self.told.read_text(encoding="utf-8"))["ledger"]
        rows = self.server.sql(DATABASE, "SELECT count(*), md5(string_agg(ROW(id, n, a)::text, '' ORDER BY id)) FROM t")
        found = (rows, ledger, self.rejects.read_bytes())
        self.expected = self.expected or found
        if found != self.expected:
            stop(f"{what}: table, ledger or rejects are not those of one connection")

    def simulated(self, count, what, **how):
        seconds_each_way = self.arguments.delay / 1_000
        with Latency(self.server.port, seconds_each_way, **how) as proxy:
            seconds, starts = self.load(proxy.own_port, count)
        self.check(what)
        trips = max(proxy.trips.values())
        print(f"{what:48} {seconds:7.2f} s {self.arguments.rows / seconds:10,.0f} rows/s, longest way {trips:6,} round trips, "
              f"{sum(proxy.trips.values()):7,} of all" + (f", cut {proxy.cut_count} times" if proxy.cut_count else ""), flush=True)
        return {"connections": count, "what": what, "seconds": seconds, "trips": trips, "all_trips": sum(proxy.trips.values()),
                "cuts": proxy.cut_count, "starts": starts}

    def curve(self):
        return [self.simulated(count, f"{count} connection{'s' if count > 1 else ''}") for count in COUNTS]

    def disturbed(self):
        slow = self.arguments.delay * 5 / 1_000
        found = [
            self.simulated(8, "8 connections, one 5 times as slow", slow={3: slow}),
            self.simulated(8, "8 connections, one dies for half a second", dies={3: (1.0, 0.5)}),
            self.simulated(64, "64 connections, one dies for half a second", dies={40: (1.0, 0.5)})]
        if any(one["cuts"] == 0 for one in found[1:]):
            stop("no connection was cut: the loads are too short")
        return found

    def near(self):
        """One server on this machine, without the proxy: one connection and four, in turn."""
        rows, seed = self.arguments.near_rows, self.arguments.seed
        source = tools.generated(self.folder, "narrow", "csv", rows, seed)
        definition = ("id bigint PRIMARY KEY, name text, category text, quantity bigint, price double precision, updated_at text")
        seconds = {name: {1: [], 4: []} for name in ("append", "same rows again")}
        for _ in range(self.arguments.rounds):
            for count in (1, 4):
                self.server.sql(DATABASE, "DROP TABLE IF EXISTS narrow", f"CREATE TABLE narrow ({definition})", "CHECKPOINT")
                for name in seconds:
                    began = time.monotonic()
                    done = subprocess.run(
                        [tools.upsurge(), "load", self.server.url(DATABASE), "narrow", str(source), "--key", "id", "--quiet",
                         "--connections", str(count)], capture_output=True, text=True)
                    seconds[name][count].append(time.monotonic() - began)
                    if done.returncode != 0:
                        stop(f"{name}, {count} connections: {done.stderr}")
        found = {}
        for name, both in seconds.items():
            one, four = statistics.median(both[1]), statistics.median(both[4])
            found[name] = {"one": one, "four": four, "ratio": one / four}
            print(f"near server, {name}: one connection {one:.2f} s, four {four:.2f} s", flush=True)
        return found
