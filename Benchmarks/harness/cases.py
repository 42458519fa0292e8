"""The cases of `run matrix`: shapes, formats, compressions, operations and keys, each of which says something that no
other case says, with the table it starts from and the ledger it must end with."""

from dataclasses import dataclass, field
from pathlib import Path

from .indexes import FULL_TEXT, INDEXES


@dataclass
class Case:
    """One `upsurge load`, as often as there are rounds."""

    name: str
    says: str  # what its figure is for
    table: str
    source: Path
    rows: int
    key: str | None
    options: list
    ledger: dict = field(default_factory=dict)  # the words that are not 0; empty: only that they add up
    start: str | None = None  # the database before, by name; None: there is none
    same: str = ""  # cases with the same word must make equal tables; "": with no other
    beside: str | None = None  # the case whose time this one's is a ratio of


WITHOUT_ROWID = "{create} WITHOUT ROWID;"


def cases(inputs):
    """All cases whose data is there."""
    return [*narrow(inputs), *upserts(inputs), *wide(inputs), *attached(inputs), *real(inputs)]


def narrow(inputs):
    n = inputs.rows
    new = {"inserted": n}
    plain, ndjson = inputs.file("narrow", "csv"), inputs.file("narrow", "ndjson")

    def case(name, says, source, **more):
        return Case(name, says, "narrow", source, n, "id", [], new, same="narrow", **more)

    first = "narrow .csv, new table"
    return [
        case(first, "the plain case, which others are compared with", plain),
        case("narrow .csv.zst", "zstd hides behind the writer", inputs.packed(plain, "zst"), beside=first),
        case("narrow .csv.gz", "gzip is slower to unpack than zstd", inputs.packed(plain, "gz"), beside=first),
        case("narrow .ndjson", "keys in every record, twice the bytes", ndjson, beside=first),
        case("narrow .ndjson.zst", "both", inputs.packed(ndjson, "zst"), beside="narrow .ndjson"),
        case("narrow .ndjson.gz", "the usual export of web services", inputs.packed(ndjson, "gz"), beside="narrow .ndjson"),
        Case("narrow .csv, no key", "nothing is looked up, rows keep their order", "narrow", plain, n, None, [], new,
             same="narrow", beside=first),
        Case("narrow .csv, --durability off", "what a crash-proof log costs", "narrow", plain, n, "id",
             ["--durability", "off"], new, same="narrow", beside=first),
        Case("narrow append, keys go on", "a table that exists grows at its end", "narrow", inputs.later_half(), n,
             "id", [], new, start="narrow", beside=first)]


def upserts(inputs):
    n = inputs.rows
    found = []
    for percent in (0, 1, 50, 100):
        # The generator draws for each row whether it is changed, so only the ends are exact.
        exact = {0: {"unchanged": n}, 100: {"updated": n}}.get(percent, {})
        found.append(Case(
            f"narrow upsert, {percent} % changed", {
                0: "a feed that says nothing new: nothing is written", 1: "a nightly feed",
                50: "half the pages change, so all do", 100: "every row is written again"}[percent],
            "narrow", inputs.file("narrow", "csv", changed=percent), n, "id", [], exact, start="narrow",
            beside="narrow .csv, new table" if percent == 0 else "narrow upsert, 0 % changed"))
    newer = ["--merge", "newer:updated_at"]
    changed = inputs.file("narrow", "csv", changed=100)
    found += [
        Case("narrow last write wins, half older", "each row is compared by its time first", "narrow", changed, n, "id", newer,
             start="narrow", beside="narrow upsert, 100 % changed"),
        Case("narrow tombstones", "every row is deleted by key", "narrow", inputs.file("narrow", "csv"), n, "id",
             ["--mode", "delete"], {"deleted": n}, start="narrow", beside="narrow upsert, 100 % changed")]
    return found


def wide(inputs):
    n = inputs.rows // 2
    new = {"inserted": n}
    csv, ndjson = inputs.file("wide", "csv", rows=n), inputs.file("wide", "ndjson", rows=n)
    first = "wide .ndjson, random keys"
    renames = [word for name in inputs.nested_columns() for word in ("--rename", name)]
    return [
        Case("wide .csv, random keys", "20 columns, a text key in no order", "wide", csv, n, "key", [], new, same="wide"),
        Case("wide .csv.zst, random keys", "zstd, of larger records", "wide", inputs.packed(csv, "zst"), n, "key", [], new,
             same="wide", beside="wide .csv, random keys"),
        Case(first, "the same as NDJSON", "wide", ndjson, n, "key", [], new, same="wide", beside="wide .csv, random keys"),
        Case("wide .ndjson, keys in order", "what random keys cost", "wide", inputs.in_order(ndjson), n, "key", [], new,
             same="wide", beside=first),
        Case("wide nested .ndjson", "objects in objects, flattened to the same columns", "wide", inputs.nested(ndjson), n,
             "key", ["--flatten", *renames], new, same="wide", beside=first),
        Case("wide append, random keys", "every page of a table that exists is touched", "wide",
             inputs.file("wide", "csv", rows=n, seed=1), n, "key", [], new, start="wide", beside="wide .csv, random keys"),
        Case("wide upsert, 50 % changed, random keys", "updates in no order", "wide",
             inputs.file("wide", "csv", rows=n, changed=50), n, "key", [], start="wide", beside="wide .csv, random keys"),
        Case("wide WITHOUT ROWID, random keys", "the key's b-tree holds the rows", "wide", csv, n, "key", [], new,
             start="wide without rowid", same="wide", beside="wide .csv, random keys")]


def attached(inputs):
    """What hangs on a table: secondary indexes, FTS5."""
    n = inputs.rows
    plain = inputs.file("narrow", "csv")
    first = "narrow .csv, new table"
    return [
        Case("indexed, new table", "two indexes on random columns", "narrow", plain, n, "id", INDEXES, {"inserted": n},
             same="narrow", beside=first),
        Case("indexed, append as many", "indexes that are there are kept or made again", "narrow", inputs.later_half(), n,
             "id", [], {"inserted": n}, start="indexed", beside="indexed, new table"),
        Case("indexed, upsert 50 % changed", "every changed row moves in both indexes", "narrow",
             inputs.file("narrow", "csv", changed=50), n, "id", [], start="indexed", beside="narrow upsert, 50 % changed"),
        Case("FTS5, empty table", "an external-content FTS5 table with its triggers", "narrow", plain, n, "id", [],
             {"inserted": n}, start="fts", same="narrow", beside=first)]


def real(inputs):
    """Public data from the folder of shared data, where it is."""
    found = []
    if inputs.older_names:
        key = "year,name,sex"
        found += [
            Case("babynames 2010 .csv", "real: three columns are the key, in order", "babynames", inputs.older_names[0],
                 1_690_784, key, [], {"inserted": 1_690_784}, same="babynames"),
            Case("babynames 2010 .csv.zst", "the same packed", "babynames", inputs.older_names[1], 1_690_784, key, [],
                 {"inserted": 1_690_784}, same="babynames", beside="babynames 2010 .csv"),
            Case("babynames 2023 over 2010 .zst", "real: a later release over the earlier one", "babynames",
                 inputs.newer_names, 2_117_219, key, [],
                 {"inserted": 427_491, "updated": 164_195, "unchanged": 1_525_533}, start="babynames",
                 beside="babynames 2010 .csv.zst")]
    if inputs.domains:
        key = "Domain name"
        first, last = inputs.domains
        found += [
            Case("dotgov, first day", "real and small: 16,275 rows, where start-up counts", "domains", first, 16_275, key, [],
                 {"inserted": 16_275}),
            Case("dotgov, 40th day over the first", "real: a nightly delivery", "domains", last, 16_539, key, [],
                 start="domains", beside="dotgov, first day")]
    return found


def schema(name, create):
    """The SQL of a database that a case starts from, if it is not a load; `create` makes a shape's CREATE TABLE."""
    if name == "fts":
        return FULL_TEXT.format(create=create("narrow").rstrip(";"))
    if name == "wide without rowid":
        settings = "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; "
        return settings + WITHOUT_ROWID.format(create=create("wide").rstrip(";"))
    return None
