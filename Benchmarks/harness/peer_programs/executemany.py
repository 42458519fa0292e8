"""Python's sqlite3: csv.reader into executemany, one transaction."""

import sqlite3

from common import INSERT, UPSERT, arguments, records

operation, database, path = arguments()
connection = sqlite3.connect(database)
connection.execute("PRAGMA synchronous=NORMAL")
connection.executemany(INSERT if operation == "insert" else UPSERT, records(path))
connection.commit()
connection.close()
