import Upsurge
import UpsurgeMirror

extension OptionCatalogue {
  /// What only `upsurge mirror` takes, beside what is said of a table.
  static let mirror: [OptionSpecification] = [
    OptionSpecification(
      .table, of: .mirror, .list(String.self), named: "TABLE",
      help: "Only this table of the job. Without a job file: the table."),
    OptionSpecification(
      .source, of: .mirror, .list(String.self), named: "SOURCE",
      help: """
        Without a job file: a path, glob, folder, URL, exec:COMMAND, sqlite:PATH#TABLE, postgres://HOST/DATABASE#TABLE or - for \
        standard input.
        """),
    OptionSpecification(
      .atomic, of: .mirror, .value(MirrorJob.Atomicity.self), named: "WHAT",
      help: "Without a job file: what becomes visible at once."),
    OptionSpecification(.schema, of: .mirror, .flag, help: "Print the JSON Schema of job files."),
    OptionSpecification(
      .checkJob, of: .mirror, .flag,
      help: "Read the job file and say in words what it does. Touch nothing."),
    OptionSpecification(
      .check, of: .mirror, .flag,
      help: """
        Reports schema problems that would make this job fail, and how to fix them. Changes nothing. Of a feed it reads \
        at most the header of a file.
        """),
    OptionSpecification(
      .dryRun, of: .mirror, .value(DryRun.self), named: "[=diff]",
      help: "Do everything and roll it back. --dry-run=diff also lists each row that would change."),
    OptionSpecification(
      .verify, of: .mirror, .flag,
      help: "Read and compare every delivery, even if it is the same as the last."),
    OptionSpecification(
      .acceptChange, of: .mirror, .flag,
      help: """
        Accept a feed that has another source, key, scope or kind than last time, lacks columns, or is written in \
        another way. Also one of whose records the job says something else: by --where, --null or --columns.
        """),
    OptionSpecification(
      .acceptDelivery, of: .mirror, named: "DIGEST",
      help: "Accept the refused delivery with this digest, once. The refusal prints the digest."),
    OptionSpecification(
      .metrics, of: .mirror, named: "FILE",
      help: "Write the figures of the run to this file in Prometheus' text format."),
    OptionSpecification(
      .forget, of: .forgetting, named: "TABLE",
      help: """
        Delete the rows that the feed of this table has delivered, its waiting records, and what is known of it. With \
        row-state, owned-by or local-edits those are the rows in upsurge_rows. Without, those of its scope, or all. \
        Needs --yes, and says how many rows stay. --dry-run only counts.
        """),
    OptionSpecification(.yes, of: .forgetting, .flag, help: "With --forget: delete the rows."),
    OptionSpecification(
      .systemd, of: .schedulers, .flag,
      help: "Print a systemd service and timer that run this job every day. Nothing is written."),
    OptionSpecification(
      .cron, of: .schedulers, .flag,
      help: "Print a line for crontab that runs this job every day. Nothing is written."),
    OptionSpecification(
      .at, of: .schedulers, .value(TimeOfDay.self), named: "HH:MM",
      help: "With --systemd or --cron: when, in the machine's time, as in 03:15."),
    OptionSpecification(
      .log, of: .log, .value(LogFormat.self), named: "FORMAT",
      help: """
        text, or json: one object a line on standard error. It has time, level (debug, info, warning, error), event \
        (note, progress, table, error, end), table, message and counts.
        """),
  ]

  /// What other commands take, each of them.
  static let others: [OptionSpecification] = [
    OptionSpecification(
      .table, of: .draft, named: "TABLE",
      help: "The table. Without it, one of the database that has the source's columns, or the file's name."),
    OptionSpecification(
      .key, of: .draft, .names,
      help: "Columns that say which row a record is about: A,B. Without it, a key of the table."),
    OptionSpecification(.key, of: .inspect, .names, help: "Columns of the new table's key: A,B."),
    OptionSpecification(
      .table, of: .inspect, named: "TABLE", help: "Name of the table in the CREATE TABLE."),
    OptionSpecification(.strict, of: .inspect, .flag, help: "Show a STRICT table."),
    OptionSpecification(.check, of: .inspect, .flag, help: "Read it all, store nothing, show every error."),
    OptionSpecification(
      .summary, of: .inspect, named: "FILE",
      help: "Of a database: write what it holds to this file as JSON. - is standard output."),
    OptionSpecification(
      .durability, of: .replay, .value(ReplayDurability.self), named: "LEVEL",
      help: "How much of a power cut is survived."),
    OptionSpecification(
      .commitEvery, of: .replay, .value(Int.self), named: "ROWS", help: "Rows in a transaction."),
    OptionSpecification(
      .walLimit, of: .replay, .value(ByteSize.self),
      help: "How large the write-ahead log may get. At least 4MiB."),
    OptionSpecification(
      .memory, of: .replay, .value(ByteSize.self),
      help: """
        Bound of the memory, at least 16MiB. A kept record of more than an eighth of it is not tried, and stays.
        """),
    OptionSpecification(
      .blobFolder, of: .replay, named: "DIR",
      help: "The folder in which records name files (--blob file). Without it, such records are not tried."),
    OptionSpecification(
      .trustRules, of: .replay, .flag,
      help: """
        Run the SQL of kept rules even where it reads other tables or calls functions that do more than compute.
        """),
    OptionSpecification(
      .busyTimeout, of: .replay, .value(LockTime.self), named: "MS",
      help: "Milliseconds to wait for a lock, or 5s, 2min."),
    OptionSpecification(
      .explainTime, of: .replay, .flag,
      help: "Say at the end where the time went, stage by stage."),
    OptionSpecification(.json, of: .runs, .flag, help: "Print JSON instead of a list."),
    OptionSpecification(
      .forget, of: .runs, .value(Int64.self), named: "RUN",
      help: "Forget this run. What it has committed stays, and it can no longer resume."),
    OptionSpecification(
      .busyTimeout, of: .runs, .value(LockTime.self), named: "MS",
      help: "Milliseconds to wait for a lock, or 5s, 2min."),
    OptionSpecification(
      .maxAge, of: .status, .value(TimeLength.self),
      help: "The last good run may be at most this old: 90min, 26h, 2d."),
    OptionSpecification(.json, of: .status, .flag, help: "Print a JSON array."),
    OptionSpecification(
      .html, of: .status, named: "FILE",
      help: "Also write a page of the tables and their last runs to this file; it needs nothing else."),
    OptionSpecification(
      .salt, of: .migration, named: "TEXT",
      help: "Make other UUIDs than those of other databases with the same tables and keys."),
    OptionSpecification(
      .dryRun, of: .migration, .flag,
      help: "Try all of it, say what would change, and roll it back."),
    OptionSpecification(
      .busyTimeout, of: .migration, .value(LockTime.self), named: "MS",
      help: "Milliseconds to wait for a lock, or 5s, 2min."),
    OptionSpecification(.quiet, of: .migration, .flag, letter: "q", help: "Say nothing but errors."),
    OptionSpecification(
      .file, of: .bench, named: "FILE",
      help: "Measure with this file, read as `upsurge load` reads it, instead of rows that are made."),
    OptionSpecification(
      .key, of: .bench, .names,
      help: "Columns of the key of --file: A,B. Without it rows are inserted."),
    OptionSpecification(
      .rows, of: .bench, .value(UInt64.self),
      help: "So many rows: made (500000, for a server 200000), or the first ones of --file (all)."),
    OptionSpecification(
      .rounds, of: .bench, .value(Int.self),
      help: "How often everything is measured (5, or as often as about two minutes allow)."),
    OptionSpecification(
      .compare, of: .bench, named: "PROGRAM,...",
      help: "Other programs on the PATH: sqlite3, sqlite-utils, duckdb."),
    OptionSpecification(
      .memory, of: .bench, .value(ByteSize.self),
      help: "Bound of the memory of upsurge load. A quarter of it, at most 64 MiB, is everybody's page cache of SQLite."
    ),
    OptionSpecification(
      .scratch, of: .bench, named: "DIR",
      help: "Where files and databases are made, in a new folder that is removed at the end. Default: $TMPDIR."),
    OptionSpecification(
      .json, of: .bench, named: "FILE",
      help: "Write the figures to this file as JSON. - is standard output, instead of the table."),
    OptionSpecification(
      .html, of: .bench, named: "FILE", help: "Write a page with charts to this file."),
    OptionSpecification(
      .quiet, of: .bench, .flag, letter: "q",
      help: "Say nothing but errors while it runs."),
    OptionSpecification(
      .progress, of: .bench, .value(ProgressPolicy.self), named: "WHEN",
      help: "auto (a line that is drawn anew on a terminal, else one a round), always or never."),
  ]
}
