"""What the Python peers share: their arguments, and the statement that a Python programmer writes."""

import csv
import sys

COLUMNS = ["id", "name", "category", "quantity", "price", "updated_at"]
UPSERT = (
    f"INSERT INTO narrow ({', '.join(COLUMNS)}) SELECT {', '.join(COLUMNS)} FROM staging "
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS[1:])}")


def arguments():
    """The operation (insert or upsert), the URL of the database and the CSV. The table "narrow" is there, with its key."""
    if len(sys.argv) != 4 or sys.argv[1] not in ("insert", "upsert"):
        sys.exit(f"usage: {sys.argv[0]} insert|upsert URL CSV")
    return sys.argv[1:]


def records(path):
    """The rows with their types."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        next(reader)
        for key, name, category, quantity, price, updated_at in reader:
            yield int(key), name, category, int(quantity), float(price), updated_at


def arrow_types():
    """What pyarrow must not guess: a text that looks like a time."""
    import pyarrow
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(column_types={"updated_at": pyarrow.string()})
