import Upsurge

extension OptionCatalogue {
  /// What becomes of bad records.
  static let rejects: [OptionSpecification] = [
    OptionSpecification(
      .onError, of: .rejects, .value(ErrorPolicy.self),
      help: "stop at the first bad record, or reject it and go on. Default: stop; of a mirror job reject."),
    OptionSpecification(
      .rejects, of: .rejects,
      help: """
        Keep rejected records in this file (NDJSON with file, record, line, byte, reason, raw), or with `table` in the \
        table upsurge_rejects; `upsurge replay` tries them again.
        """),
    OptionSpecification(
      .maxRejects, of: .rejects,
      help: "End the run when more records are rejected: N, or P% of the records read."),
  ]

  /// How records become transactions, and how long and large those may get.
  static let transactions: [OptionSpecification] = [
    OptionSpecification(
      .durability, of: .transactions, .value(Durability.self),
      help: "full, normal, or off (new files only: nothing survives a crash)."),
    OptionSpecification(
      .commitEvery, of: .transactions, .value(CommitInterval.self), named: "auto|rows|bytes|time",
      help: """
        A transaction's rows (100000), bytes of records (64MiB) or time (500ms, 2s, 1min); auto is 100000 rows, and \
        more where keys that arrive in no order are sorted.
        """),
    OptionSpecification(
      .walLimit, of: .transactions, .value(ByteSize.self),
      help: """
        How large the write-ahead log may get, at least 4MiB; past it only while another program keeps reading it.
        """),
    OptionSpecification(
      .busyTimeout, of: .transactions, .value(Int32.self),
      help: "Milliseconds to wait for a lock."),
    OptionSpecification(
      .inputOrder, of: .transactions, .flag,
      help: """
        Store records as they come. Otherwise they may be sorted by their key where keys arrive in no order, as much \
        as --memory holds at once; only the hidden rowids of new rows can tell.
        """),
  ]

  /// What would happen, or what did.
  static let preview: [OptionSpecification] = [
    OptionSpecification(
      .explain, of: .preview, .flag,
      help: "Print the key, the SQL and the plan with its reasons; load nothing."),
    OptionSpecification(
      .explainTime, of: .preview, .flag,
      help: """
        Say at the end where the time went, stage by stage, what limits the load, and which option would help.
        """),
    OptionSpecification(
      .dryRun, of: .preview, .value(DryRun.self), named: "count|diff",
      help: "Do everything and roll it back. --dry-run=diff also lists the rows that would change, as NDJSON."
    ),
    OptionSpecification(
      .changes, of: .preview,
      help: """
        Write each row inserted, updated or deleted to this file (NDJSON, before and after); - for standard output.
        """),
    OptionSpecification(
      .emitSQL, of: .preview,
      help: "Write the statements to this file as plain SQL; - for standard output."),
    OptionSpecification(
      .maxStatement, of: .preview, .value(ByteSize.self),
      help: """
        The longest statement of --emit-sql, in bytes; never more than the 1,000,000 that SQLite takes by default.
        """),
  ]

  /// What people and programs see of a run.
  static let output: [OptionSpecification] = [
    OptionSpecification(
      .summary, of: .output,
      help: "Write a JSON summary to this file; - for standard output."),
    OptionSpecification(
      .quiet, of: .output, .flag, letter: "q",
      help: "Say nothing but errors, and that values were respelled."),
    OptionSpecification(.verbose, of: .output, .flag, letter: "v", help: "Say more."),
    OptionSpecification(
      .progress, of: .output, .value(ProgressPolicy.self),
      help: "auto (on a terminal), always or never."),
  ]

  /// What only `upsurge load` takes.
  static let load: [OptionSpecification] = [
    OptionSpecification(
      .stopAfter, of: .load, .value(UInt64.self),
      in: .refused("a feed that is not read to its end proves nothing"),
      help: "Read at most N records, rejected ones included."),
    OptionSpecification(
      .resume, of: .load, .value(ResumePolicy.self),
      in: .refused("a mirror always goes on where its last run ended, and always keeps its history"),
      help: """
        auto goes on where an earlier run of the same job ended early; never loads everything, and stores again what a \
        load without a key has committed; require goes on or refuses.
        """),
    OptionSpecification(
      .history, of: .load, .flag,
      in: .refused("a mirror always goes on where its last run ended, and always keeps its history"),
      help: "Keep the run listed in `upsurge runs` after it has ended."),
    OptionSpecification(
      .atomic, of: .load, .flag,
      in: .refused(
        "what becomes visible at once is said of the whole job: atomic: job, table or bounded at the top"),
      help: "All or nothing: one transaction, however large; readers see the old state until its end."),
    OptionSpecification(
      .direct, of: .load, .value(LoadOptions.DirectPolicy.self),
      in: .refused("how a new database is packed is the engine's choice in a mirror"),
      help: """
        auto packs files of 4 MiB or more for a new table in a new database into pages without SQLite, in DB-upsurge \
        beside the database, which takes its name at the end, with all rows at once; never stores all rows through \
        SQLite.
        """),
    OptionSpecification(.rowsPerStatement, of: .load, .value(Int.self), isHidden: true, help: ""),
  ]
}
