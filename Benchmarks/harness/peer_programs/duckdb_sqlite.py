"""DuckDB with its sqlite extension, from the package duckdb-extension-sqlite-scanner: INSTALL would download it. There is
no way to set synchronous, so that its one commit is FULL: one sync more."""

from pathlib import Path

import duckdb
import duckdb_extension_sqlite_scanner
from common import arguments

operation, database, path = arguments()
if operation != "insert":
    raise SystemExit("DuckDB's sqlite extension has no ON CONFLICT")
extension = next(Path(list(duckdb_extension_sqlite_scanner.__path__)[0]).rglob("*.duckdb_extension"))
connection = duckdb.connect()
connection.execute(f"LOAD '{extension}'")
connection.execute(f"ATTACH '{database}' AS target (TYPE sqlite)")
connection.execute(
    f"INSERT INTO target.narrow SELECT * FROM read_csv('{path}', header = true, types = {{'updated_at': 'VARCHAR'}})")
connection.close()
