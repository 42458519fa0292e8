import UpsurgeRecords

/// What `upsurge load` says of itself.
extension CommandGuide {
  static let load = CommandGuide(
    "load", abstract: "Load records into one table.",
    forms: ["[OPTIONS] DATABASE TABLE [SOURCE ...]"],
    arguments: [
      Argument("DATABASE", "The SQLite database. Made if it is not there. Or a server: postgres://USER@HOST/DATABASE."),
      Argument("TABLE", "The table. Made if it is not there."),
      Argument(
        "SOURCE",
        """
        A file, glob, URL, 'exec:COMMAND' for what a command writes, sqlite:PATH#TABLE or 'sqlite:PATH?query=SELECT …' \
        for rows of another database, postgres://HOST/DATABASE#TABLE for those of a server, or - for standard input (the \
        default). Several may be given.
        """),
    ],
    essentials: [
      .key, .merge, .mode, .format, .delimiter, .noHeader, .columns, .type, .alter, .onError, .rejects, .dryRun,
    ],
    examples: [
      "upsurge load shop.db orders orders.csv --key id",
      "upsurge load shop.db orders orders.csv --key id --dry-run",
      "upsurge load shop.db people dirty.csv --on-error reject --rejects bad.ndjson",
    ],
    sections: [about, sources, archives, servers, resuming, moreExamples],
    endings: [
      Ending("0", "complete"), Ending("2", "complete, with rejected records"),
      Ending("3", "stopped part way, some work is committed"), Ending("4", "refused by a guard"),
      .usage, .input, .unreadable, Ending("73", "cannot create output"), .busy, .signals, .others,
    ])

  private static let about = Section(
    "about", "What it does", about: "formats, new tables, rows that exist",
    text: """
      Reads CSV, TSV, NDJSON and JSON: plain, compressed (zstd, gzip, xz, bzip2, lz4), or in zip and tar archives. \
      Format, compression, dialect, encoding and types are found from the content and shown.

      A table that does not exist is created. With a key, rows that exist are updated. Rows that would not change are \
      not written.
      """)

  private static let sources = Section(
    "sources", "Sources", about: "URLs, commands and other databases",
    text: """
      A URL is fetched by libcurl. Redirects, retries, ~/.netrc and the proxies of the environment work. An interrupted \
      download resumes with a Range request, if the server supports it. A body that is cut ends the load as a cut file \
      does. Passwords in a URL are neither shown nor stored.

      The output of exec:COMMAND is whole if COMMAND ends with status 0.

      Rows of another SQLite database are read in one read transaction. Every value stays what it is.
      """)

  /// What a file holds that is one of several.
  static let archives = Section(
    "archives", "Archives and workbooks", about: "files in zip and tar, sheets of workbooks",
    text: """
      feed.zip stands for all files in it, whose records must be of one kind. feed.zip/stops.txt is one of them, and \
      'feed.tar.zst/*.csv' those that match. Nothing is unpacked to the disk. Links and hidden files are left out, encrypted ones \
      are refused. An archive inside an archive must be unpacked first. A zip archive after the program that unpacks it is read, too.

      book.xlsx and book.ods stand for their first sheet, book.xlsx/Sheet or --sheet for another one.

      Archives are read from files. What comes over a pipe or from a URL must be saved first.
      """)

  private static let servers = Section(
    "servers", "PostgreSQL", about: "postgres:// as the database",
    text: """
      DATABASE may be the URL of a PostgreSQL server, as psql takes it: postgres://USER@HOST:PORT/DATABASE. What it leaves \
      out comes from the PG… variables, a service file and ~/.pgpass. TABLE may name a schema: sales.orders. Options \
      that do not apply are refused by name. libpq is loaded when a server is named.

      The database must be there: createdb makes one. load, mirror, status, inspect, runs, replay, move and bench take a server.
      """)

  private static let resuming = Section(
    "resuming", "A load that was killed", about: "how a load that was killed goes on",
    text: """
      Rerun the same command. It resumes after the last commit. `upsurge runs DATABASE` lists runs that have not ended.
      """)

  private static let moreExamples = Section(
    "examples", "More examples", about: "globs, URLs, commands, JSON, merge rules, previews",
    text: """
        upsurge load shop.db orders 'orders-*.csv' --key region,id
        upsurge load shop.db zips zips.csv --type zip:TEXT --strict
        zcat feed.ndjson.gz | upsurge load app.db events - --key id
        upsurge load app.db feed https://example.org/feed.csv.gz --key id
        upsurge load app.db feed 'exec:pg_dump -t feed | my-filter' --key id
        upsurge load app.db orders sqlite:shop.db#orders --key id
        upsurge load app.db feed 'sqlite:shop.db?query=SELECT id, total FROM orders' --key id
        upsurge load app.db orders postgres://host/shop#sales.orders --key id
        upsurge load app.db items api.json --json-path data.items --flatten
        upsurge load app.db feed dirty.csv --on-error reject --rejects table
        upsurge load app.db users feed.ndjson --key id --merge coalesce --merge newer:updated_at
        upsurge load app.db users feed.csv --key 'lower(email)' --set 'visits=visits + excluded.visits'
        upsurge load app.db users changes.csv --key id --delete-when op=D
        upsurge load app.db users feed.csv --key id --dry-run=diff
        upsurge load app.db users feed.csv --key id --explain
        upsurge load app.db users feed.csv --key id --atomic
        upsurge load app.db users feed.csv --key id --explain-time
      """)
}
