"""pandas: read_csv, then to_sql; an upsert goes through a staging table."""

import sqlite3

import pandas
from common import FROM_STAGING, arguments

operation, database, path = arguments()
connection = sqlite3.connect(database)
connection.execute("PRAGMA synchronous=NORMAL")
frame = pandas.read_csv(path, keep_default_na=False)
if operation == "insert":
    frame.to_sql("narrow", connection, if_exists="append", index=False)
else:
    frame.to_sql("staging", connection, index=False)
    connection.execute(FROM_STAGING)
    connection.execute("DROP TABLE staging")
connection.commit()
connection.close()
