import UpsurgeRecords

/// What `upsurge mirror` and `upsurge mirror init` say of themselves.
extension CommandGuide {
  static let mirror = CommandGuide(
    "mirror", abstract: "Keep tables in step with feeds, as a job file says.",
    forms: [
      "DATABASE JOB [--table TABLE ...] [OPTIONS]",
      "DATABASE --table TABLE --source SOURCE ... [OPTIONS]",
      "DATABASE JOB --systemd|--cron [--at HH:MM]",
      "DATABASE --forget TABLE [--yes|--dry-run]",
      "init DATABASE SOURCE [--table TABLE] [--key COLS]",
      "--schema",
    ],
    arguments: [
      Argument("DATABASE", "The SQLite database. Made if it is not there. Or a server: postgres://USER@HOST/DATABASE."),
      Argument("JOB", "The job file. `upsurge mirror init` writes a first one."),
    ],
    essentials: [
      .checkJob, .check, .dryRun, .table, .source, .key, .sweep, .maxDelete, .acceptChange, .deadline, .summary,
      .metrics,
    ],
    examples: [
      "upsurge mirror init shop.db feed.csv --key id > job.yaml",
      "upsurge mirror shop.db job.yaml --check-job",
      "upsurge mirror shop.db job.yaml",
    ],
    sections: [deliveries, otherRows, severalTables, archives, jobFile, moreMirrorExamples],
    endings: [
      Ending("0", "every table is in step"),
      Ending("2", "in step, with rejected or quarantined records; or --check has warnings"),
      Ending("3", "stopped part way, as by --deadline; some of the job is committed"),
      Ending("4", "a guard refused, which the message says"),
      .usage, .input, .unreadable, Ending("73", "cannot create output"), .busy, .signals, .others,
    ])

  private static let deliveries = Section(
    "deliveries", "What a run does", about: "what a run does, and when it refuses",
    text: """
      Each run brings every table in step with its feed. Rows that would not change are not written. A delivery is \
      skipped only if file, options and columns are the same as last time. The files of a folder, and of a delta, are \
      taken once each.

      With `sweep`, rows that a snapshot no longer has are deleted or marked. Nothing is swept if the delivery is cut, \
      empty or much smaller than the last one. The same holds if more than `max-delete` (10%) of the rows would go. \
      Then the records are stored, no row goes, and the exit code is 4.

      A delivery is refused if it lacks a column that the last accepted one had. It is also refused if its delimiter, \
      encoding or header is another one. --accept-change accepts it once. `columns-gone: keep` or `null` accepts \
      missing columns in every run.

      If a run is killed, rerun the same command. It resumes, or begins anew.
      """)

  private static let otherRows = Section(
    "other-rows", "Rows that are not the feed's", about: "rows made locally, edits, several feeds into one table",
    text: """
      With `owned-by: NAME` only rows that this feed once delivered are swept. Rows made locally, and those of other \
      feeds into the same table, stay.

      `row-state: true` notes in `upsurge_rows` which source and run had each row last. Queries can join that table.

      `local-edits: repair` brings rows that were edited or deleted in the database back to what the feed says. \
      `local-edits: keep` lets such edits win.
      """)

  private static let severalTables = Section(
    "several-tables", "Several tables", about: "foreign keys, and what becomes visible at once",
    text: """
      Tables that refer to each other are stored in one transaction, parents first. They are swept in the opposite \
      order. Tables may refer to each other in a circle. A record whose parent is missing waits in the quarantine. The \
      run that finds the parent stores it.

      With `atomic: job` all tables are one transaction. Readers see all of the old or all of the new, and a table that \
      fails takes the others back. `atomic: bounded` stores each table by itself.
      """)

  private static let jobFile = Section(
    "job-file", "The job file", about: "how a job file is written, and how secrets stay out of it",
    text: """
      A job file is YAML (or JSON). It has `tables`, a mapping of each table's name to its settings. It may also have \
      `defaults`, `atomic: table|job|bounded` and `deadline`. A setting is an option below, or of `upsurge load`, \
      without its dashes: `merge: newer:changed`. --schema prints the JSON Schema of all settings.

        defaults: { rejects: table }
        tables:
          members:
            source: feed.csv
            key: [Symbol]
            kind: snapshot
            sweep: hard
            scope: tenant = 7
            guards: { max-delete: 10%, min-ratio: 0.5 }

      Relative paths start at the folder of the job file.

      Secrets stay out of the file. Write ${env:NAME} or ${file:PATH} in `source` and `headers`. The value is put in \
      when the file is read, and is never shown or stored. Only the path of a file is stored. $${ is the text ${.
      """)

  private static let moreMirrorExamples = Section(
    "examples", "More examples", about: "checks, previews, metrics, schedulers",
    text: """
        upsurge mirror shop.db job.yaml --check
        upsurge mirror shop.db job.yaml --dry-run=diff
        upsurge mirror shop.db job.yaml --summary - --metrics /var/lib/node_exporter/shop.prom
        upsurge mirror shop.db --table members --source feed.csv --key id --sweep hard
        upsurge mirror shop.db job.yaml --deadline 2h
        upsurge mirror shop.db job.yaml --log json 2>> /var/log/shop.ndjson
        upsurge mirror shop.db job.yaml --systemd --at 04:30
        upsurge mirror shop.db --forget members --dry-run
        upsurge status shop.db --max-age 26h
      """)

  static let mirrorInit = CommandGuide(
    "mirror init", parsedName: "mirror-init",
    abstract: "Write a commented job file for a source and a database to standard output.",
    forms: ["DATABASE SOURCE [--table TABLE] [--key COLS]"],
    arguments: [
      Argument("DATABASE", "The SQLite database. It need not exist."),
      Argument("SOURCE", "A file, glob, folder, URL, exec:COMMAND, sqlite:PATH#TABLE or postgres://HOST/DATABASE#TABLE."),
    ],
    examples: ["upsurge mirror init shop.db feed.csv --key id > job.yaml"],
    sections: [
      Section(
        "about", "What it does", about: "what it looks at",
        text: """
          Looks at the source as `upsurge inspect` does. If the database exists, looks at its tables and keys, too. \
          Nothing is changed.
          """)
    ],
    endings: [
      Ending("0", "written"), .usage, .input, .unreadable, Ending("73", "cannot create output"), .busy, .others,
    ])
}
