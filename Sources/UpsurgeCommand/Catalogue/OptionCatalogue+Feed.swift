import Upsurge
import UpsurgeMirror

extension OptionCatalogue {
  /// What a feed is, and what becomes of rows that it no longer has.
  static let feed: [OptionSpecification] = [
    OptionSpecification(
      .kind, of: .feed, .value(MirrorTable.Kind.self), named: "KIND",
      help: "snapshot: every delivery holds all records. delta: it holds only changes."),
    OptionSpecification(
      .sweep, of: .feed, .choice(RowSweep.self, "soft"), named: "none|hard|soft:COL",
      help: """
        What happens to rows that a snapshot no longer has: none (they stay), hard (they are deleted), or soft:COL \
        (the column COL is set).
        """),
    OptionSpecification(
      .scope, of: .feed, named: "SQL",
      help: "Sweep only rows for which this SQL is true, as in 'tenant = 7'."),
    OptionSpecification(
      .rowState, of: .feed, .flag,
      help: """
        Keep a table upsurge_rows that queries can join. It says of each row which source and run had it last. Costs a \
        write for each record and run.
        """),
    OptionSpecification(
      .ownedBy, of: .feed, named: "NAME",
      help: """
        The feed's name. Only rows that this feed once delivered are swept. Rows made locally, or by feeds of other \
        names, stay. Guards count only the feed's own rows. Keeps row state.
        """),
    OptionSpecification(
      .localEdits, of: .feed, .value(LocalEdits.self), named: "POLICY",
      help: """
        What happens to rows that somebody has edited or deleted in the database: repair (brought back to what the feed \
        says) or keep (they stay as they are). With keep their records count as ignored, and no sweep takes them. Keeps \
        row state, and looks at every row in each run. Without this option, edits are found by --verify, or when the \
        feed changes the row.
        """),
    OptionSpecification(
      .columnsGone, of: .feed, .value(MirrorTable.ColumnsGone.self), named: "POLICY",
      help: """
        What happens to columns that the last accepted delivery had and this one lacks: refuse (exit 4, until \
        --accept-change), keep (rows keep their values) or null (NULL is stored).
        """),
  ]

  /// What must hold before a row is swept.
  static let guards: [OptionSpecification] = [
    OptionSpecification(
      .maxDelete, of: .guards, .value(RowLimit.self), named: "N|P%",
      help: "Sweep at most N rows, or P% of the rows in scope before the run."),
    OptionSpecification(
      .minRows, of: .guards, .value(UInt64.self),
      help: "Sweep only when a snapshot has at least N records."),
    OptionSpecification(
      .minRatio, of: .guards, .value(Double.self), named: "SHARE",
      help: "Sweep only when a snapshot has at least this share, 0 to 1, of the records of the last one."),
    OptionSpecification(
      .allowEmpty, of: .guards, .flag,
      help: "Believe a snapshot without records: all rows may be swept."),
    OptionSpecification(
      .expectCount, of: .guards, .value(UInt64.self),
      help: "A delivery has exactly N records, or is not whole."),
    OptionSpecification(
      .trailer, of: .guards, named: "PATTERN",
      help: """
        What the last line of each file looks like, as in 'TRL|*|{count}'. * is any text, and {count} the number of \
        records. The line is no record. A file without it was cut.
        """),
    OptionSpecification(
      .suspicious, of: .guards, .list(UInt64.self),
      help: """
        A number of records at which the source cuts its deliveries off. A delivery with exactly N is not swept.
        """),
    OptionSpecification(
      .lineEnd, of: .guards, .value(LineEndPolicy.self), named: "POLICY",
      help: """
        Whether the last line of a file must end with a line end: required or any. Without one, nobody knows whether \
        the file is whole.
        """),
  ]

  /// How the files of a folder are taken.
  static let folders: [OptionSpecification] = [
    OptionSpecification(
      .folderOrder, of: .folders, .value(DropFolder.Order.self), named: "ORDER",
      help: "Take the files of a folder in the order of their name, or of their time of change."),
    OptionSpecification(
      .folderDone, of: .folders, .choice(DropFolder.Done.self, "move"), named: "leave|delete|move:DIR",
      help: "What happens to a file of a folder once it is stored: leave, delete, or move:DIR."),
  ]

  /// How a table is mirrored when nobody looks.
  static let unattended: [OptionSpecification] = [
    OptionSpecification(
      .keepRuns, of: .unattended, .value(RunCount.self),
      help: """
        Keep the newest N past runs of the table in `upsurge runs`, or all. Runs that have not ended, or whose ledger \
        was not shown, stay and do not count.
        """),
    OptionSpecification(
      .keepFiles, of: .unattended, .value(RunCount.self),
      help: """
        Remember the newest N files that were taken and have left the folder, or all. Files that are still in the \
        folder are always remembered. A file that is forgotten is taken again if it comes again.
        """),
    OptionSpecification(
      .keepRejects, of: .unattended, .value(RunCount.self),
      help: """
        Keep the newest N rejected records of the table in upsurge_rejects, or all. Older ones cannot be replayed. The \
        run says how many went.
        """),
    OptionSpecification(
      .keepQuarantine, of: .unattended, .value(RunCount.self),
      help: """
        Keep the newest N records of the table in upsurge_quarantine, or all. Older ones are never stored. The run says \
        how many went.
        """),
    OptionSpecification(
      .deadline, of: .unattended, .value(TimeLength.self),
      help: """
        End a run that takes longer, at a commit, as a signal would: 30m, 2h. In a job file: at the top for the whole \
        job, or for a table.
        """),
    OptionSpecification(
      .retries, of: .unattended, .value(Int.self),
      help: """
        Try a table up to N times again when its source was unreadable, its stream broke or the database was busy. \
        Never when a guard refused, or the input is bad.
        """),
    OptionSpecification(
      .retryAfter, of: .unattended, .value(TimeLength.self),
      help: "Wait so long before a table is tried again. Each further wait is twice as long, up to an hour."),
  ]
}
