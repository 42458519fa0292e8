"""The deliveries, and the tables that are expected of them."""

import random

from .. import tools

COLUMNS = {
    "id": "bigint", "name": "text", "category": "text", "quantity": "bigint", "price": "double precision",
    "updated_at": "text"}
DEFINITION = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
KEYED = DEFINITION.replace("id bigint", "id bigint PRIMARY KEY")
NAMES = ", ".join(COLUMNS)
CHANGES = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "id")
UPSERT = f"INSERT INTO narrow ({NAMES}) SELECT {NAMES} FROM staging ON CONFLICT (id) DO UPDATE SET {CHANGES}"
SPARSE = 100  # one row of so many


class Deliveries:
    """Files by name; each is made when it is asked for first."""

    def __init__(self, folder, rows, seed):
        self.folder = folder
        self.rows = rows
        self.seed = seed

    def file(self, name):
        first = self.generated(0)
        match name:
            case "first":
                return first
            case "first, shuffled":
                return self.made(first, "shuffled", self.shuffled)
            case "1 % changed":
                return self.generated(1)
            case "1 % changed, shuffled":
                return self.made(self.generated(1), "shuffled", self.shuffled)
            case "all changed":
                return self.generated(100)
            case "sparse":
                return self.made(self.generated(100), "sparse", lambda lines: lines[::SPARSE])

    def head(self, rows):
        """The first rows of the first delivery."""
        return self.made(self.file("first"), f"head-{rows}", lambda lines: lines[:rows])

    def generated(self, changed):
        return tools.generated(self.folder, "narrow", "csv", self.rows, self.seed, changed)

    def shuffled(self, lines):
        random.Random(self.seed).shuffle(lines)
        return lines

    def made(self, source, word, change):
        """A file of the lines that `change` makes of the source's, after its header; made once."""
        target = source.with_name(f"{source.stem}-{word}.csv")
        if not target.is_file() or target.stat().st_mtime < source.stat().st_mtime:
            header, *lines = source.read_bytes().splitlines(keepends=True)
            partial = target.with_suffix(".partial")
            partial.write_bytes(header + b"".join(change(lines)))
            partial.rename(target)
        return target


def digest(table):
    """SQL that says how many rows a table has, and the MD5 of all of them in the order of their keys."""
    row = ", ".join(f"{name}::{kind}" for name, kind in COLUMNS.items())
    return f"SELECT count(*), md5(string_agg(md5(ROW({row})::text), '' ORDER BY id::bigint)) FROM {table}"


def merged(table, delivery):
    """SQL of the rows that a table has after a delivery, without any ON CONFLICT or MERGE."""
    return (f"(SELECT {NAMES} FROM {delivery} UNION ALL SELECT {NAMES} FROM {table} "
            f"WHERE NOT EXISTS (SELECT FROM {delivery} WHERE {delivery}.id = {table}.id)) AS merged")
