"""The command sqlite-utils as a user types it; a plugin gives its connection synchronous=NORMAL."""

import sys

from common import arguments
from sqlite_utils import cli, hookspecs, plugins


class Normal:
    @hookspecs.hookimpl
    def prepare_connection(self, conn):
        conn.execute("PRAGMA synchronous=NORMAL")


operation, database, path = arguments()
plugins.pm.register(Normal(), "normal")
sys.argv = ["sqlite-utils", operation, database, "narrow", path, "--csv", "--silent", "--pk", "id"]
cli.cli()
