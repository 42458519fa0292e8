"""A CSV with bad records of 12 kinds at known places, the same without them, and what mends each."""

import json
import random
from dataclasses import dataclass

HEADER = "id,name,n,parent,c\n"

# With two keys, and with none: there a record that is stored twice is there twice.
TABLES = {
    "keyed": "CREATE TABLE feed (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, n INTEGER CHECK (n < {most}), "
             "parent INTEGER REFERENCES parents(id), c BLOB) STRICT;",
    "keyless": "CREATE TABLE feed (id TEXT NOT NULL, name TEXT NOT NULL, n INTEGER CHECK (n < {most}), "
               "parent INTEGER REFERENCES parents(id), c BLOB) STRICT;",
}
AROUND = """
CREATE TABLE parents (id INTEGER PRIMARY KEY);
INSERT INTO parents VALUES (1);
CREATE TRIGGER unlucky BEFORE INSERT ON feed WHEN NEW.n = 13 BEGIN SELECT RAISE(ABORT, 'unlucky'); END;
"""
# Removes what rejects the records of the kinds that are mended in the database.
MEND = """
DROP TRIGGER unlucky;
INSERT INTO parents VALUES (77);
ALTER TABLE feed RENAME TO old;
{table}
INSERT INTO feed SELECT * FROM old ORDER BY rowid;
DROP TABLE old;
"""

OPTIONS = ["--on-error", "reject", "--blob", "hex", "--encoding", "utf-8", "--delimiter", ",", "--quote", '"']


@dataclass
class Files:
    dirty: object
    clean: object
    places: list  # of dictionaries, see `write`


def schema(table):
    return TABLES[table].format(most=1000) + AROUND


def mend(table):
    return MEND.format(table=TABLES[table].format(most=10000))


def row(number, n=None, parent=1, blob=None, name=None):
    """The values of a good record. The name of each tenth has two lines."""
    n = 20 + number * 7919 % 900 if n is None else n
    blob = f"{number * 2654435761 % (1 << 32):08x}" if blob is None else blob
    return str(number), name or f"customer{chr(10) if number % 10 == 3 else ' '}number {number}", n, parent, blob


def text(values):
    return ",".join(f'"{value}"' if "\n" in str(value) else str(value) for value in values)


# Code, column, the bad text of a record, and what mends it: its text, the database, or nothing. With these texts a
# reject's line, record and byte all say something else: many have two or three lines.
KINDS = [
    ("ragged", "n", lambda i: f'{i},"short\n{i}",1'.encode(), "text"),
    ("ragged", "c", lambda i: f"{text(row(i))},more".encode(), "text"),
    ("bad-quote", "name", lambda i: f'{i},"quoted" twice,1,1,00'.encode(), "text"),
    ("invalid-utf8", "name", lambda i: f'{i},"\n\ncaf'.encode() + b'\xe9",1,1,00', "text"),
    ("bad-blob", "c", lambda i: text(row(i, blob="0x0")).encode(), "text"),
    ("bad-blob", "c", lambda i: text(row(i, blob="abc")).encode(), "never"),
    ("type-mismatch", "n", lambda i: f'{i},"typed\n{i}",many,1,00'.encode(), "text"),
    ("not-null", "name", lambda i: f"{i},,1,1,00".encode(), "text"),
    ("check", None, lambda i: text(row(i, n=5000)).encode(), "database"),
    ("unique", "name", lambda i: text(row(i, name="customer number 1")).encode(), "never"),
    ("foreign-key", "parent", lambda i: text(row(i, parent=77)).encode(), "database"),
    ("trigger", None, lambda i: text(row(i, n=13)).encode(), "database"),
    ("null-key", "id", lambda i: f',"keyless\n{i}",1,1,00'.encode(), "text"),
]
# What is stored of a record once the database is mended.
MENDED_ROWS = {
    "check": lambda i: row(i, n=5000), "foreign-key": lambda i: row(i, parent=77), "trigger": lambda i: row(i, n=13),
    "unique": lambda i: row(i, name="customer number 1")}


def generated(folder, rows, bad, seed):
    """Makes the files, once."""
    stem = f"rejects-lines-{rows}-{bad}-{seed}"
    files = [folder / f"{stem}.csv", folder / f"{stem}-clean.csv", folder / f"{stem}.json"]
    if not all(path.is_file() for path in files):
        write(files, rows, bad, seed)
    return Files(files[0], files[1], json.loads(files[2].read_text(encoding="utf-8")))


def write(files, rows, bad, seed):
    """Writes both files and of each bad record: record, line, byte, column, code, raw (bytes as Latin-1), mend."""
    numbers = random.Random(seed).sample(range(2, rows), bad - 1)
    kind_of = {number: index % len(KINDS) for index, number in enumerate(numbers)}
    places = []
    line, offset = 2, len(HEADER)
    with open(files[0], "wb") as dirty, open(files[1], "wb") as clean:
        dirty.write(HEADER.encode())
        clean.write(HEADER.encode())
        for number in range(1, rows + 1):
            if number == rows:
                # A quote that is never closed takes all that follows: it can only be the last.
                code, column, raw, mended = "unclosed-quote", "name", f'{rows},"open,1,1,00'.encode(), "text"
            elif number in kind_of:
                code, column, make, mended = KINDS[kind_of[number]]
                raw = make(number)
            else:
                code, raw = None, text(row(number)).encode()
                clean.write(raw + b"\n")
            if code:
                places.append({"record": number, "line": line, "byte": offset, "column": column, "code": code,
                               "raw": raw.decode("latin-1"), "mend": mended})
            raw += b"\n" if number < rows else b""
            offset += dirty.write(raw)
            line += raw.count(b"\n")
    files[2].write_text(json.dumps(places), encoding="utf-8")


def places_in(table, places):
    """The rejects of a load into this table: without keys a name may come twice, and a key is a column like others."""
    if table == "keyed":
        return places
    return [{**place, "code": "not-null"} if place["code"] == "null-key" else place
            for place in places if place["code"] != "unique"]


def rows_in(table, rows, places, is_mended):
    """What the table holds after the load, and once all is mended and replayed; by number."""
    kept = {place["record"]: place for place in places_in(table, places)}
    names_twice = {place["record"] for place in places if place["code"] == "unique"} if table == "keyless" else ()
    for number in range(1, rows + 1):
        place = kept.get(number)
        if number in names_twice:
            yield MENDED_ROWS["unique"](number)
        elif place is None:
            yield row(number)
        elif is_mended and place["mend"] == "text":
            yield row(number)
        elif is_mended and place["mend"] == "database":
            yield MENDED_ROWS[place["code"]](number)
