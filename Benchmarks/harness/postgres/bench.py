"""One load at a time: the database before it, the command, what it took of the client and of the server, the table after
it."""

import statistics
import sys

from .. import series, tools
from ..measure import measure, spread
from . import data
from .contenders import Dlt, UpsurgeDelta
from .scenarios import EVERY

WORK, KEPT, KEPT_BY_DLT, EXPECTED = "work", "kept", "kept_by_dlt", "expected"


class Out(Exception):
    """Why a contender is out of a scenario."""


class Bench:
    """The databases that upserts begin with, and what is expected of each scenario."""

    def __init__(self, server, deliveries, contenders, is_trial):
        self.server = server
        self.deliveries = deliveries
        self.contenders = contenders
        self.left_out = {}
        self.has_expected = False
        self.is_trial = is_trial

    def prepare(self, has_upserts):
        """The table that upserts find, vacuumed; dlt finds the one that it has made."""
        if not has_upserts:
            return
        path = self.deliveries.file("first")
        self.server.sql("postgres", f"CREATE DATABASE {KEPT}")
        self.server.sql(KEPT, f"CREATE TABLE narrow ({data.KEYED})", copy("narrow", path))
        self.server.sql(KEPT, "VACUUM (ANALYZE, FREEZE)")
        for contender in self.contenders:
            if isinstance(contender, Dlt):
                self.prepare_dlt(contender, path)

    def prepare_dlt(self, contender, path):
        self.server.sql("postgres", f"CREATE DATABASE {KEPT_BY_DLT}")
        contender.prepare("insert")
        done = measure(contender.command("insert", KEPT_BY_DLT, path))
        if done.exit_code != 0:
            print(f"dlt is left out: {done.stderr.strip()[-500:]}")
            self.contenders.remove(contender)
            return
        contender.keep()
        self.server.wait_for_clients(KEPT_BY_DLT)
        self.server.sql(KEPT_BY_DLT, "VACUUM (ANALYZE, FREEZE)")

    def expected(self, scenario):
        """How many rows the table has in the end, their MD5, and the counts of a right ledger."""
        load = ["DROP TABLE IF EXISTS delivery", f"CREATE UNLOGGED TABLE delivery ({data.DEFINITION})",
                copy("delivery", self.deliveries.file(scenario.delivery)), "ANALYZE delivery"]
        if scenario.operation == "insert":
            self.server.sql("postgres", *load)
            found = self.server.sql("postgres", data.digest("delivery"))
            self.server.sql("postgres", "DROP TABLE delivery")
            return found, {"inserted": int(found.split("|")[0])}
        if not self.has_expected:
            self.server.copy_database(KEPT, EXPECTED)
            self.has_expected = True
        self.server.sql(EXPECTED, *load)
        found = self.server.sql(EXPECTED, data.digest(data.merged("narrow", "delivery")))
        counts = self.server.sql(
            EXPECTED, "SELECT count(*) FILTER (WHERE narrow.id IS NULL), "
            "count(*) FILTER (WHERE (narrow.*) IS NOT DISTINCT FROM (delivery.*)), "
            "count(*) FROM delivery LEFT JOIN narrow USING (id)")
        self.server.sql(EXPECTED, "DROP TABLE delivery")
        inserted, unchanged, every = map(int, counts.split("|"))
        return found, {"inserted": inserted, "unchanged": unchanged, "updated": every - inserted - unchanged}

    def compare(self, name, rounds):
        """Runs all contenders of a scenario in turn: their runs by name. The first round is that after which tables are
        compared; it counts in a trial only, which has no other, and peers in two scenarios."""
        scenario = EVERY[name]
        expected, ledger = self.expected(scenario)
        contenders = [one for one in self.contenders if scenario.operation in one.operations
                      and (one.scenarios is None or name in one.scenarios)
                      and not (self.is_trial and one.is_peer and not scenario.has_peers)]
        runs = {one.name: [] for one in contenders}
        for number in range(1 if self.is_trial else 0, rounds + 1):
            print(f"{scenario.title}: {f'round {number} of {rounds}' if number else 'warming up'}", file=sys.stderr)
            is_first = number == (1 if self.is_trial else 0)
            for contender in list(contenders):
                if contender.is_slow and number > (rounds + 1) // 2:
                    continue
                try:
                    run = self.load(contender, scenario)
                    if is_first:
                        self.check(contender, expected, ledger)
                except Out as reason:
                    contenders.remove(contender)
                    del runs[contender.name]
                    self.left_out.setdefault(scenario.title, {})[contender.name] = str(reason)
                    print(f"{contender.name} is out of “{scenario.title}”: {reason}", flush=True)
                    continue
                if number > 0:
                    runs[contender.name].append(run)
        return runs

    def load(self, contender, scenario):
        server = self.server
        self.reset(contender, scenario.operation)
        contender.prepare(scenario.operation)
        command = contender.command(scenario.operation, WORK, self.deliveries.file(scenario.delivery))
        server.sql("postgres", "CHECKPOINT")
        if not self.is_trial:
            tools.settle()
        log, processor = server.log_position(), server.processor_seconds()
        done = measure(command)
        server.wait_for_clients(WORK)
        processor = server.processor_seconds() - processor
        log = server.log_bytes(log)
        if done.exit_code != 0:
            raise Out(f"it ended with {done.exit_code}: {(done.stderr.strip() or done.stdout.strip())[-500:]}")
        return {
            "seconds": done.seconds, "server cpu s": processor, "WAL MB": log / 1e6, "dead rows": self.dead(contender.table),
            "cpu s": done.cpu_seconds, "peak MiB": done.peak_kib / 1024}

    def reset(self, contender, operation):
        """A database of its own for each run: without a table, with an empty one, or a copy of the vacuumed one."""
        if operation == "upsert":
            self.server.copy_database(KEPT_BY_DLT if isinstance(contender, Dlt) else KEPT, WORK)
            return
        self.server.copy_database("template1", WORK)
        if contender.new_table:
            self.server.sql(WORK, contender.new_table)

    def dead(self, table):
        """The rows' versions that the run left dead, or the server has removed already."""
        found = self.server.sql(
            WORK, "SELECT greatest(n_dead_tup, n_tup_upd + n_tup_del) FROM pg_stat_user_tables "
            f"WHERE relid = to_regclass('{table}')")
        return int(found or 0)

    def check(self, contender, expected, ledger):
        """A time counts only for the right table, and for the right counts where there are some."""
        found = self.server.sql(WORK, data.digest(contender.table))
        if found != expected:
            raise Out(f"its table has other rows: {found}, not {expected}")
        counted = contender.ledger()
        if counted is not None:
            wrong = {word: counted.get(word) for word, count in ledger.items() if counted.get(word) != count}
            if wrong:
                raise Out(f"its ledger says {wrong}, not {ledger}")

    def sequence_values(self, rows):
        """The values that each contender draws from a sequence when the same rows come again, by name: the table has an
        identity column that no delivery has."""
        path = self.deliveries.head(rows)
        self.server.sql("postgres", "CREATE DATABASE kept_with_sequence")
        self.server.sql(
            "kept_with_sequence", f"CREATE TABLE narrow ({data.KEYED}, entry bigint GENERATED BY DEFAULT AS IDENTITY)",
            copy("narrow", path))
        before = self.server.sql("kept_with_sequence", SEQUENCE)
        found = {}
        for contender in self.contenders:
            # dlt's table is its own, and a second upsurge says nothing new.
            if "upsert" not in contender.operations or isinstance(contender, (Dlt, UpsurgeDelta)):
                continue
            self.server.copy_database("kept_with_sequence", WORK)
            done = measure(contender.command("upsert", WORK, path))
            self.server.wait_for_clients(WORK)
            if done.exit_code == 0:
                found[contender.name] = int(self.server.sql(WORK, SEQUENCE)) - int(before)
        return found


SEQUENCE = "SELECT last_value FROM narrow_entry_seq"


def copy(table, path):
    quoted = str(path).replace("'", "''")
    return f"\\copy {table} ({data.NAMES}) FROM '{quoted}' WITH (FORMAT csv, HEADER)"


def print_runs(title, runs, rows):
    print(f"\n{title}")
    print(f"{'':16} {'median s':>9} {'min-max s':>15} {'rows/s':>11} {'server cpu s':>12} {'cpu s':>7} {'WAL MB':>8} "
          f"{'dead rows':>10} {'peak MiB':>8}")
    for name, done in sorted(runs.items(), key=lambda pair: median(pair[1], "seconds")):
        times = [one["seconds"] for one in done]
        middle = statistics.median(times)
        print(f"{name:16} {middle:9.3f} {min(times):7.3f}-{max(times):<7.3f} {rows / middle:11,.0f} "
              f"{median(done, 'server cpu s'):12.2f} {median(done, 'cpu s'):7.2f} {median(done, 'WAL MB'):8.1f} "
              f"{median(done, 'dead rows'):10,.0f} {median(done, 'peak MiB'):8.0f}")
        if spread(times) > series.NOISY:
            print(f"  noisy: it spreads over {spread(times):.0%} of its median; let the machine rest")
    sys.stdout.flush()


def median(runs, measured):
    return statistics.median(one[measured] for one in runs)
