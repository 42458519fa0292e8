import Upsurge

extension OptionCatalogue {
  /// What becomes of bad records.
  static let rejects: [OptionSpecification] = [
    OptionSpecification(
      .onError, of: .rejects, .value(ErrorPolicy.self), named: "POLICY",
      help: "stop at the first bad record, or reject it and go on. Default: stop, in a mirror job reject."),
    OptionSpecification(
      .rejects, of: .rejects, named: "FILE|table",
      help: """
        Keep rejected records in this file as NDJSON (file, record, line, byte, reason, raw), or with `table` in the \
        table upsurge_rejects. `upsurge replay` tries them again.
        """),
    OptionSpecification(
      .maxRejects, of: .rejects, named: "N|P%",
      help: "End the run when more records are rejected: N, or P% of the records read."),
  ]

  /// How records become transactions, and how long and large those may get.
  static let transactions: [OptionSpecification] = [
    OptionSpecification(
      .durability, of: .transactions, .value(Durability.self), named: "LEVEL",
      help: "full, normal, or off (new files only: nothing survives a crash)."),
    OptionSpecification(
      .commitEvery, of: .transactions, .value(CommitInterval.self), named: "auto|ROWS|SIZE|TIME",
      help: """
        Commit after so many rows (100000), bytes of records (64MiB) or so much time (500ms, 2s, 1min). auto is 100000 \
        rows, and more where keys that arrive in no order are sorted.
        """),
    OptionSpecification(
      .walLimit, of: .transactions, .value(ByteSize.self),
      help: """
        How large the write-ahead log may get, at least 4MiB. It grows past that only while another program reads it.
        """),
    OptionSpecification(
      .connections, of: .transactions, .value(Int.self), named: "N",
      help: """
        Store records over N connections to a server at the same time, up to 64. Each has the records of its keys, in \
        their order.
        """),
    OptionSpecification(
      .busyTimeout, of: .transactions, .value(LockTime.self), named: "MS",
      help: "Milliseconds to wait for a lock, or 5s, 2min."),
    OptionSpecification(
      .inputOrder, of: .transactions, .flag,
      help: """
        Store records in the order of the input. Without it, records whose keys arrive in no order may be sorted by \
        key, as many as --memory holds at once. Only the hidden rowids of new rows show it.
        """),
  ]

  /// What would happen, or what did.
  static let preview: [OptionSpecification] = [
    OptionSpecification(
      .explain, of: .preview, .flag,
      help: "Print the key, the SQL and the plan with its reasons. Load nothing."),
    OptionSpecification(
      .explainTime, of: .preview, .flag,
      help: """
        Say at the end where the time went, stage by stage, what limits the load, and which option would help.
        """),
    OptionSpecification(
      .dryRun, of: .preview, .value(DryRun.self), named: "[=diff]",
      help: "Do everything and roll it back. --dry-run=diff also lists the rows that would change, as NDJSON."
    ),
    OptionSpecification(
      .changes, of: .preview, named: "FILE",
      help: """
        Write each row inserted, updated or deleted to this file (NDJSON, before and after). - is standard output.
        """),
    OptionSpecification(
      .emitSQL, of: .preview, named: "FILE",
      help: "Write the statements to this file as plain SQL. - is standard output."),
    OptionSpecification(
      .maxStatement, of: .preview, .value(ByteSize.self),
      help: """
        The longest statement of --emit-sql, in bytes. Never more than the 1,000,000 that SQLite takes by default.
        """),
  ]

  /// What people and programs see of a run.
  static let output: [OptionSpecification] = [
    OptionSpecification(
      .summary, of: .output, named: "FILE",
      help: "Write a JSON summary to this file. - is standard output."),
    OptionSpecification(
      .quiet, of: .output, .flag, letter: "q",
      help: "Say nothing but errors, respelled values and lost rejects."),
    OptionSpecification(.verbose, of: .output, .flag, letter: "v", help: "Say more."),
    OptionSpecification(
      .progress, of: .output, .value(ProgressPolicy.self), named: "WHEN",
      help: "auto (on a terminal), always or never."),
  ]

  /// What only `upsurge load` takes.
  static let load: [OptionSpecification] = [
    OptionSpecification(
      .stopAfter, of: .load, .value(UInt64.self),
      in: .refused("a feed that is not read to its end proves nothing"),
      help: "Read at most N records, rejected ones included."),
    OptionSpecification(
      .resume, of: .load, .value(ResumePolicy.self), named: "POLICY",
      in: .refused("a mirror always goes on where its last run ended, and always keeps its history"),
      help: """
        auto resumes where an earlier run of the same job ended early. require resumes or refuses. never loads \
        everything: a load without a key then stores again what was committed.
        """),
    OptionSpecification(
      .history, of: .load, .flag,
      in: .refused("a mirror always goes on where its last run ended, and always keeps its history"),
      help: "Keep the run listed in `upsurge runs` after it has ended."),
    OptionSpecification(
      .atomic, of: .load, .flag,
      in: .refused(
        "what becomes visible at once is said of the whole job: atomic: job, table or bounded at the top"),
      help: "All or nothing: one transaction, however large. Readers see the old state until its end."),
    OptionSpecification(
      .direct, of: .load, .value(LoadOptions.DirectPolicy.self), named: "POLICY",
      in: .refused("how a new database is packed is the engine's choice in a mirror"),
      help: """
        auto packs files of 4 MiB or more for a new database into pages without SQLite. They are written to \
        DB-upsurge, which takes the database's name at the end. never: always insert through SQLite.
        """),
    OptionSpecification(.rowsPerStatement, of: .load, .value(Int.self), isHidden: true, help: ""),
    OptionSpecification(.withoutWalk, of: .load, .flag, isHidden: true, help: ""),
  ]
}
