"""Bad records among good ones: whether upsurge names the right places, and how many messages the server got for it."""

import json
import random
import re

from ..measure import measure
from . import data
from .bench import WORK

ROWS = 100_000
MESSAGE = re.compile(r"LOG:  (statement|execute [^:]*): ")
TRIGGER = (
    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN IF NEW.quantity < 0 THEN RAISE EXCEPTION ''less than none''; END IF; RETURN NEW; END'",
    "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON narrow FOR EACH ROW EXECUTE FUNCTION refuse()")
CHECK = ("ALTER TABLE narrow ADD CHECK (quantity >= 0)",)
# A trigger's reasons cannot be asked of the server beforehand, a constraint's expression can.
KINDS = {
    "10 bad records of 100,000, found by a trigger": (10, TRIGGER), "1,000 bad records of a CHECK": (1_000, CHECK)}


def counted(bench, upsurge, arguments):
    """By kind: the messages of a load into a table with its key, seconds, and whether the places are right."""
    rows = min(arguments.rows, ROWS)
    found = {}
    for what, (count, statements) in KINDS.items():
        count = min(count, rows // 10)
        path, places = bad_delivery(bench.deliveries, rows, count, arguments.seed)
        found[what] = load(bench, upsurge, path, places, rows, statements)
        print(f"{what}: {found[what]['note']}", flush=True)
    return found


def bad_delivery(deliveries, rows, count, seed):
    """The first rows with a negative quantity in some: the file, and the numbers of those records."""
    source = deliveries.head(rows)
    places = sorted(random.Random(seed).sample(range(1, rows + 1), count))
    header, *lines = source.read_bytes().splitlines(keepends=True)
    for place in places:
        fields = lines[place - 1].split(b",")
        fields[3] = b"-1"
        lines[place - 1] = b",".join(fields)
    path = source.with_name(f"{source.stem}-bad-{count}.csv")
    path.write_bytes(header + b"".join(lines))
    return path, places


def load(bench, upsurge, path, places, rows, statements):
    server = bench.server
    server.copy_database("template1", WORK)
    server.sql(WORK, f"CREATE TABLE narrow ({data.KEYED})", *statements)
    server.sql("postgres", f"ALTER DATABASE {WORK} SET log_statement = 'all'")
    rejects = upsurge.folder / "postgres.rejects.ndjson"
    rejects.unlink(missing_ok=True)
    log = server.folder / "log"
    start = log.stat().st_size
    done = measure([*upsurge.command("upsert", WORK, path), "--on-error", "reject", "--rejects", rejects])
    server.wait_for_clients(WORK)
    with log.open("rb") as file:
        file.seek(start)
        messages = sum(1 for line in file if MESSAGE.search(line.decode("utf-8", "replace")))
    if done.exit_code != 2:  # some records are bad
        return {"note": f"upsurge ended with {done.exit_code}: {done.stderr.strip()[-300:]}"}
    named = [json.loads(line) for line in rejects.read_text(encoding="utf-8").splitlines()]
    named = sorted(one["record"] for one in named if "upsurge_rejects" not in one)
    stored = int(server.sql(WORK, "SELECT count(*) FROM narrow"))
    if named != places or stored != rows - len(places):
        return {"note": f"{len(named)} records are named, {stored} stored, and not the right ones"}
    return {"statements": messages, "seconds": done.seconds, "note": f"all {len(places)} are named, the others stored"}
