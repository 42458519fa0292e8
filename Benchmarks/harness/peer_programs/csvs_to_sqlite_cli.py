"""The command csvs-to-sqlite as a user types it. It makes the table itself, so there is none before."""

import sys

from common import arguments
from csvs_to_sqlite import cli

operation, database, path = arguments()
if operation != "insert":
    raise SystemExit("csvs-to-sqlite only inserts")
sys.argv = ["csvs-to-sqlite", "--table", "narrow", "--primary-key", "id", path, database]
cli.cli()
