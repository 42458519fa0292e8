"""ADBC's SQLite driver: pyarrow reads the CSV, the driver ingests its batches; an upsert goes through a staging table."""

import adbc_driver_sqlite.dbapi
import pyarrow
import pyarrow.csv
from common import FROM_STAGING, arguments

operation, database, path = arguments()
options = pyarrow.csv.ConvertOptions(column_types={"updated_at": pyarrow.string()})
with adbc_driver_sqlite.dbapi.connect(database, autocommit=True) as connection, connection.cursor() as cursor:
    cursor.execute("PRAGMA synchronous=NORMAL")
    with pyarrow.csv.open_csv(path, convert_options=options) as reader:
        if operation == "insert":
            cursor.adbc_ingest("narrow", reader, mode="append")
        else:
            cursor.adbc_ingest("staging", reader, mode="create")
            cursor.execute(FROM_STAGING)
            cursor.execute("DROP TABLE staging")
