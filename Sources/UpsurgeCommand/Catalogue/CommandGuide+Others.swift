import UpsurgeRecords

/// What the commands say of themselves that neither load nor mirror nor replay.
extension CommandGuide {
  static let inspect = CommandGuide(
    "inspect",
    abstract: "Show a source's dialect, types and the table that load would make; or what a database holds.",
    forms: ["[OPTIONS] SOURCE"],
    arguments: [
      Argument(
        "SOURCE",
        """
        A file, - for standard input, a URL, 'exec:COMMAND', sqlite:PATH#TABLE, an SQLite database, or \
        postgres://HOST/DATABASE.
        """)
    ],
    essentials: [
      .check, .key, .table, .strict, .format, .delimiter, .noHeader, .encoding, .infer, .jsonPath, .summary,
    ],
    examples: [
      "upsurge inspect orders.csv", "upsurge inspect orders.csv --key id --infer full", "upsurge inspect shop.db",
    ],
    sections: [
      Section(
        "about", "What it shows", about: "what it shows of a source, and of a database",
        text: """
          Takes the same input options as load. With --check everything is read, nothing is stored, and every record \
          that cannot be parsed is shown with its position.

          Of an SQLite database it shows tables, columns, keys as --key takes them, indexes, foreign keys, triggers, \
          FTS5 tables and views. The database is only read. Rows are counted in databases up to 256 MiB. With --check \
          they are always counted, and the database is checked for damage. --summary FILE writes the same as JSON.

          Of a database of PostgreSQL it shows the same, also row-level security and its policies. Rows are those that the last \
          ANALYZE has counted. postgres://HOST/DATABASE#TABLE shows one table. With --check, its rows are read.

          A transaction that a killed program has left open is rolled back, as any program that opens the database does.
          """)
    ],
    endings: [
      Ending("0", "shown"), .usage, Ending("65", "bad input, or the check has found errors"), .unreadable,
      Ending("73", "cannot create output"), .busy, .others,
    ])

  static let runs = CommandGuide(
    "runs", abstract: "List runs that did not end, and those kept by --history.",
    forms: ["[OPTIONS] DATABASE"],
    arguments: [Argument("DATABASE", "The SQLite database, or postgres://USER@HOST/DATABASE.")],
    examples: ["upsurge runs shop.db", "upsurge runs shop.db --json"],
    sections: [
      Section(
        "about", "What it lists", about: "which runs are listed, and for how long",
        text: """
          A load commits its position with its rows. If it was killed or stopped, it is listed here with its command. \
          Rerun that command to resume after the last committed record. A run leaves the list once its ledger was \
          shown. A load with --history stays.

            upsurge runs shop.db --json | jq '.[] | select(.state == "stopped")'
            upsurge runs shop.db --forget 3
          """)
    ],
    endings: [
      Ending("0", "listed"), Ending("4", "the run to forget is at work"), .usage,
      Ending("66", "no such database, or it cannot be read"), .busy, .others,
    ])

  static let status = CommandGuide(
    "status", abstract: "Say how mirrored tables stand: last good run, age, failures.",
    forms: ["[OPTIONS] DATABASE"],
    arguments: [Argument("DATABASE", "The SQLite database, or postgres://USER@HOST/DATABASE.")],
    examples: [
      "upsurge status shop.db", "upsurge status shop.db --max-age 26h",
      "upsurge status shop.db --max-age 26h --html status.html",
    ],
    sections: [
      Section(
        "about", "For monitoring", about: "what the exit code says to monitoring",
        text: """
          Changes nothing. The exit code says whether every table is in step with its feed. A table whose last try has \
          failed is not in step, even while its run waits for another try. If you may not write the database or its \
          folder, no file is left there.

            upsurge status shop.db --json | jq '.[] | select(.good | not)'
          """)
    ],
    endings: [
      Ending("0", "every last run went well, no longer ago than --max-age"),
      Ending("1", "one did not, or the database mirrors nothing"), .usage,
      Ending("66", "no such database, or it cannot be read"), .busy,
    ])

  static let migrateKeys = CommandGuide(
    "migrate-keys", abstract: "Change integer primary keys into UUIDs, with all that refers to them.",
    forms: ["[OPTIONS] DATABASE TABLE ..."],
    arguments: [
      Argument("DATABASE", "The SQLite database."),
      Argument("TABLE", "Tables whose keys become UUIDs. Name all that belong together."),
    ],
    examples: [
      "sqlite3 app.db \"VACUUM INTO 'before.db'\"", "upsurge migrate-keys app.db lists reminders --dry-run",
      "upsurge migrate-keys app.db lists reminders",
    ],
    sections: [
      Section(
        "about", "What it does", about: "how UUIDs are made, and what follows them",
        text: """
          Make a copy first: there is no way back.

          Rows of several devices can share a table only if their keys never collide. Each row's UUID is the MD5 hash \
          of TABLE:ID, so that every copy of a database gets the same ones. With --salt it is the hash of TABLE:ID:SALT.

          Columns that refer to these keys by a declared foreign key follow. Other columns stay as they are. Indexes, \
          triggers and full-text tables are made again. A table whose key is no integer stays as it is.

          It is one transaction. If anything fails, or a reference would be broken, nothing changes.
          """)
    ],
    endings: [
      Ending("0", "done"),
      Ending("4", "references are broken, or a feed or a load that has not ended would bring integers again"), .usage,
      Ending("66", "no such database"), .busy, .others,
    ])

  static let bench = CommandGuide(
    "bench",
    abstract: "Measure this machine, or a PostgreSQL server: the floor, the classic patterns, and upsurge load.",
    forms: ["[OPTIONS] [SUITE|URL]"],
    arguments: [
      Argument(
        "SUITE|URL",
        "new, changed or unchanged, with SQLite. Or a server: postgres://USER@HOST/DATABASE. Default: new.")
    ],
    examples: [
      "upsurge bench", "upsurge bench --compare sqlite3,duckdb --html report.html",
      "upsurge bench postgres://anna@db.example.org/shop --rows 100000",
    ],
    sections: [
      Section(
        "about", "What is measured", about: "the suites, and what is compared",
        text: """
          Stores the same rows in several ways, in turn, and shows medians. The floor is plain INSERTs from memory. The \
          classic patterns are upserts with a new statement for each row, with one cached statement, and with multi-row \
          VALUES. Without --key these are plain INSERTs, too. Then come other programs, and `upsurge load`, which also \
          reads and parses the file.

          All have WAL mode, synchronous=NORMAL, and the same page size, cache, transactions and checkpoints where \
          those can be set. All end after the last checkpoint. A time counts only if the table is the one of upsurge \
          load, by row count, columns and a digest of all values.

          Suites: new (default) stores into a new table. changed upserts rows that exist and have all changed. \
          unchanged upserts them as they are. Without --file it makes 500,000 rows of 6 columns, and takes at most \
          about two minutes.

          The scratch folder is removed at the end, also after a signal.

            upsurge bench --file orders.csv --key id
            upsurge bench changed --rows 1000000 --rounds 7
            upsurge bench --scratch /mnt/data --memory 512MiB --json bench.json
          """),
      Section(
        "server", "A server of your own", about: "what is measured on a PostgreSQL server, and what it needs",
        text: """
          With the URL of a server it stores rows there: into a new table, the same rows again, with 1 % of them \
          changed, and with all of them changed. Compared are COPY, multi-row INSERT, prepared upserts row by row, a \
          staging table with ON CONFLICT, and `upsurge load`. The floor is COPY into an unlogged table without a key.

          Beside the time it shows what the server's log grew by, and the dead rows that VACUUM has to remove. Figures \
          are of this server and this network. A time counts only if the table holds what it should.

          Everything is made in one schema, upsurge_bench_ and random letters. It is dropped at the end, also after \
          Ctrl-C or a failure. The user needs the right to make it: GRANT CREATE ON DATABASE. A schema that cannot be \
          dropped is named with the statement that removes it.

            upsurge bench postgres://anna@db.example.org/shop
            upsurge bench postgres://anna@db.example.org/shop --rows 1000000 --html server.html
          """),
    ],
    endings: [
      Ending("0", "measured"),
      Ending("2", "a contender failed or stored other rows, or a schema is left, which is said"), .usage, .input,
      Ending("66", "input that cannot be read, or a server that refuses the user"),
      Ending("73", "cannot create output or scratch folder"),
      Ending("75", "the server does not answer, or its connection broke"), .signals, .others,
    ])
}
