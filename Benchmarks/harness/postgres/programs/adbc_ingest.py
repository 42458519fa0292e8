"""ADBC's PostgreSQL driver: pyarrow reads the CSV, the driver ingests its batches; an upsert goes through a staging table."""

import adbc_driver_postgresql.dbapi
import pyarrow.csv
from common import UPSERT, arguments, arrow_types

operation, url, path = arguments()
with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
    with pyarrow.csv.open_csv(path, convert_options=arrow_types()) as reader:
        if operation == "insert":
            cursor.adbc_ingest("narrow", reader, mode="append")
        else:
            cursor.adbc_ingest("staging", reader, mode="create")
            cursor.execute(UPSERT)
            cursor.execute("DROP TABLE staging")
    connection.commit()
