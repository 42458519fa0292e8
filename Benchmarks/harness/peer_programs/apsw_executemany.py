"""apsw, which brings its own SQLite: csv.reader into executemany, one transaction."""

import apsw
from common import INSERT, UPSERT, arguments, records

operation, database, path = arguments()
connection = apsw.Connection(database)
connection.execute("PRAGMA synchronous=NORMAL")
with connection:
    connection.executemany(INSERT if operation == "insert" else UPSERT, records(path))
connection.close()
