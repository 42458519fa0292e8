"""A CSV with bad records of 12 kinds at known places, the same without them, and what mends each."""

import json
import random
from dataclasses import dataclass

HEADER = "id,name,n,parent,c\n"

SCHEMA = """
CREATE TABLE parents (id INTEGER PRIMARY KEY);
INSERT INTO parents VALUES (1);
CREATE TABLE feed (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, n INTEGER CHECK (n < 1000),
  parent INTEGER REFERENCES parents(id), c BLOB) STRICT;
CREATE TRIGGER unlucky BEFORE INSERT ON feed WHEN NEW.n = 13 BEGIN SELECT RAISE(ABORT, 'unlucky'); END;
"""

OPTIONS = ["--key", "id", "--on-error", "reject", "--blob", "hex", "--encoding", "utf-8", "--delimiter", ",", "--quote", '"']


@dataclass
class Files:
    dirty: object
    clean: object
    places: list  # of dictionaries: record, line, byte, code, mended (None: mending the database is enough)


def good(number, n=None, parent=1, blob=None, name=None):
    n = 20 + number * 7919 % 900 if n is None else n
    blob = f"{number * 2654435761 % (1 << 32):08x}" if blob is None else blob
    return f"{number},{name or f'customer number {number}'},{n},{parent},{blob}"


# Code, the bad line of a record, and how to mend it: its line, or in the database, or not at all.
KINDS = [
    ("ragged", lambda i: f"{i},short,1".encode(), "line"),
    ("bad-quote", lambda i: f'{i},"quoted" twice,1,1,00'.encode(), "line"),
    ("invalid-utf8", lambda i: f"{i},caf".encode() + b"\xe9,1,1,00", "line"),
    ("bad-blob", lambda i: good(i, blob="0x0").encode(), "line"),
    ("type-mismatch", lambda i: f"{i},typed {i},many,1,00".encode(), "line"),
    ("not-null", lambda i: f"{i},,1,1,00".encode(), "line"),
    ("check", lambda i: good(i, n=5000).encode(), "database"),
    ("unique", lambda i: good(i, name="customer number 1").encode(), "never"),
    ("foreign-key", lambda i: good(i, parent=77).encode(), "database"),
    ("trigger", lambda i: good(i, n=13).encode(), "database"),
    ("null-key", lambda i: f",keyless {i},1,1,00".encode(), "line"),
]


def generated(folder, rows, bad, seed):
    """Makes the files, once."""
    stem = f"rejects-{rows}-{bad}-{seed}"
    files = [folder / f"{stem}.csv", folder / f"{stem}-clean.csv", folder / f"{stem}.json"]
    if not all(path.is_file() for path in files):
        write(files, rows, bad, seed)
    return Files(files[0], files[1], json.loads(files[2].read_text(encoding="utf-8")))


def write(files, rows, bad, seed):
    numbers = random.Random(seed).sample(range(2, rows), bad - 1)
    kind_of = {number: index % len(KINDS) for index, number in enumerate(numbers)}
    places = []

    def note(number, byte, code, mend):
        places.append({"record": number, "line": number + 1, "byte": byte, "code": code, "mend": mend,
                       "mended": good(number) if mend == "line" else None})

    with open(files[0], "wb") as dirty, open(files[1], "wb") as clean:
        offset = dirty.write(HEADER.encode())
        clean.write(HEADER.encode())
        for number in range(1, rows):
            if number in kind_of:
                code, line, mend = KINDS[kind_of[number]]
                note(number, offset, code, mend)
                offset += dirty.write(line(number) + b"\n")
            else:
                line = good(number).encode() + b"\n"
                offset += dirty.write(line)
                clean.write(line)
        # A quote that is never closed takes all that follows: it can only be the last.
        note(rows, offset, "unclosed-quote", "line")
        dirty.write(f'{rows},"open,1,1,00'.encode())
    files[2].write_text(json.dumps(places), encoding="utf-8")
