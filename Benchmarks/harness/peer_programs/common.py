"""What the Python peers share: their arguments, and the statements that a Python programmer writes."""

import csv
import sys

COLUMNS = ["id", "name", "category", "quantity", "price", "updated_at"]
INSERT = f"INSERT INTO narrow VALUES ({', '.join('?' * len(COLUMNS))})"
UPSERT = f"{INSERT} ON CONFLICT(id) DO UPDATE SET {', '.join(f'{name}=excluded.{name}' for name in COLUMNS[1:])}"
FROM_STAGING = (
    "INSERT INTO narrow SELECT * FROM staging WHERE true "
    f"ON CONFLICT(id) DO UPDATE SET {', '.join(f'{name}=excluded.{name}' for name in COLUMNS[1:])}")


def arguments():
    """The operation (insert or upsert), the database and the CSV. The table "narrow" is there, in WAL mode."""
    if len(sys.argv) != 4 or sys.argv[1] not in ("insert", "upsert"):
        sys.exit(f"usage: {sys.argv[0]} insert|upsert DATABASE CSV")
    return sys.argv[1:]


def records(path):
    """The rows as lists of texts; the table's affinities make numbers of them."""
    file = open(path, newline="", encoding="utf-8")
    reader = csv.reader(file)
    next(reader)
    return reader
