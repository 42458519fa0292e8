"""psycopg's COPY, row by row; an upsert goes through a temporary table."""

import psycopg
from common import COLUMNS, UPSERT, arguments, records

operation, url, path = arguments()
names = ", ".join(COLUMNS)
with psycopg.connect(url) as connection, connection.cursor() as cursor:
    table = "narrow"
    if operation == "upsert":
        cursor.execute(f"CREATE TEMP TABLE staging AS SELECT {names} FROM narrow LIMIT 0")
        table = "staging"
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for record in records(path):
            copy.write_row(record)
    if operation == "upsert":
        cursor.execute(UPSERT)
