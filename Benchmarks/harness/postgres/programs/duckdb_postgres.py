"""DuckDB with its postgres extension, from the package duckdb-extension-postgres-scanner: INSTALL would download it. An
upsert is its MERGE INTO."""

from pathlib import Path

import duckdb
import duckdb_extension_postgres_scanner
from common import COLUMNS, arguments

operation, url, path = arguments()
extension = next(Path(list(duckdb_extension_postgres_scanner.__path__)[0]).rglob("*.duckdb_extension"))
connection = duckdb.connect()
connection.execute(f"LOAD '{extension}'")
connection.execute(f"ATTACH '{url}' AS target (TYPE postgres)")
source = f"read_csv('{path}', header = true, types = {{'updated_at': 'VARCHAR'}})"
names = ", ".join(COLUMNS)
if operation == "insert":
    connection.execute(f"INSERT INTO target.narrow ({names}) SELECT {names} FROM {source}")
else:
    changes = ", ".join(f"{name} = source.{name}" for name in COLUMNS[1:])
    values = ", ".join(f"source.{name}" for name in COLUMNS)
    connection.execute(
        f"MERGE INTO target.narrow AS narrow USING (SELECT * FROM {source}) AS source ON narrow.id = source.id "
        f"WHEN MATCHED THEN UPDATE SET {changes} WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})")
connection.close()
