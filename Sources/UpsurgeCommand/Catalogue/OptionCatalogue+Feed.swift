import Upsurge
import UpsurgeMirror

extension OptionCatalogue {
  /// What a feed is, and what becomes of rows that it no longer has.
  static let feed: [OptionSpecification] = [
    OptionSpecification(
      .kind, of: .feed, .value(MirrorTable.Kind.self),
      help: "snapshot: every delivery is the whole truth; delta: it holds only changes."),
    OptionSpecification(
      .sweep, of: .feed, .choice(RowSweep.self, "soft"), named: "none|hard|soft:col",
      help: """
        What becomes of rows that a snapshot no longer has: none (they stay), hard (deleted), or soft:COL (the column \
        COL is set).
        """),
    OptionSpecification(
      .scope, of: .feed,
      help: "SQL over the table: only rows for which it is true may be swept, as in 'tenant = 7'."),
    OptionSpecification(
      .rowState, of: .feed, .flag,
      help: """
        Keep a table upsurge_rows that queries can join: of each row that the feed delivers its source and the last \
        run that had it. Costs a write for each record and run.
        """),
    OptionSpecification(
      .ownedBy, of: .feed, named: "name",
      help: """
        The feed's name: sweep only rows that this feed once delivered, so that rows made locally or by feeds of other \
        names stay. Guards count only those, and row state is kept.
        """),
    OptionSpecification(
      .localEdits, of: .feed, .value(LocalEdits.self),
      help: """
        What becomes of rows that somebody has edited or deleted in the database since the feed has stored them: \
        repair (brought back to what the feed says, also where it has not changed) or keep (their records are passed \
        over and count as ignored; no sweep takes them). Keeps row state, and looks at every row in each run. Not \
        given, edits are found by --verify, or when the feed says something new of the row.
        """),
    OptionSpecification(
      .columnsGone, of: .feed, .value(MirrorTable.ColumnsGone.self),
      help: """
        What becomes of columns that the last accepted delivery had and this one lacks: refuse (exit 4, until \
        --accept-change), keep (rows keep their values) or null (the records have NULL there).
        """),
  ]

  /// What must hold before a row is swept.
  static let guards: [OptionSpecification] = [
    OptionSpecification(
      .maxDelete, of: .guards, .value(RowLimit.self),
      help: "Sweep at most N rows, or P% of the rows in scope before the run."),
    OptionSpecification(
      .minRows, of: .guards, .value(UInt64.self),
      help: "Sweep only when a snapshot has at least N records."),
    OptionSpecification(
      .minRatio, of: .guards, .value(Double.self),
      help: "Sweep only when a snapshot has at least this share, 0 to 1, of the records of the last one."),
    OptionSpecification(
      .allowEmpty, of: .guards, .flag,
      help: "A snapshot without a record means that there is no row."),
    OptionSpecification(
      .expectCount, of: .guards, .value(UInt64.self),
      help: "A delivery has exactly N records, or is not whole."),
    OptionSpecification(
      .trailer, of: .guards, named: "pattern",
      help: """
        What the last line of each file looks like, which is no record and without which the file is cut: text in \
        which * is any text and {count} the number of records, as in 'TRL|*|{count}'.
        """),
    OptionSpecification(
      .suspicious, of: .guards, .list(UInt64.self),
      help: """
        A number of records at which the source cuts its deliveries off: one with exactly as many is not swept; may be \
        given again.
        """),
    OptionSpecification(
      .lineEnd, of: .guards, .value(LineEndPolicy.self),
      help: """
        Whether the last line of a file must end with a line end, without which nobody knows whether the file is \
        whole: required or any.
        """),
  ]

  /// How the files of a folder are taken.
  static let folders: [OptionSpecification] = [
    OptionSpecification(
      .folderOrder, of: .folders, .value(DropFolder.Order.self),
      help: "Files of a folder are taken in the order of their name, or time of change."),
    OptionSpecification(
      .folderDone, of: .folders, .choice(DropFolder.Done.self, "move"), named: "leave|delete|move:dir",
      help: "What becomes of a file of a folder that is stored: leave, delete, or move:DIR."),
  ]

  /// How a table is mirrored when nobody looks.
  static let unattended: [OptionSpecification] = [
    OptionSpecification(
      .keepRuns, of: .unattended, .value(RunCount.self),
      help: """
        Keep so many past runs of the table in `upsurge runs`, the newest, or all. Runs that have not ended, or whose \
        ledger was not shown, stay and do not count.
        """),
    OptionSpecification(
      .keepFiles, of: .unattended, .value(RunCount.self),
      help: """
        Remember so many files of a drop folder or delta that were taken and are no longer in the folder, the newest, \
        or all. Files that are still there are always remembered. Changes whose file is forgotten are taken again if \
        they come again.
        """),
    OptionSpecification(
      .keepRejects, of: .unattended, .value(RunCount.self),
      help: """
        Keep so many rejected records of the table in upsurge_rejects, the newest, or all. What goes cannot be \
        replayed; the run says how many went.
        """),
    OptionSpecification(
      .keepQuarantine, of: .unattended, .value(RunCount.self),
      help: """
        Keep so many records of the table in upsurge_quarantine, the newest, or all. What goes is never stored; the \
        run says how many went.
        """),
    OptionSpecification(
      .deadline, of: .unattended, .value(TimeLength.self), named: "time",
      help: """
        End a run that takes longer, as a signal would, at a commit: 30m, 2h. In a job file, at the top for the whole \
        job, or for a table.
        """),
    OptionSpecification(
      .retries, of: .unattended, .value(Int.self),
      help: """
        Try a table again, so often, where its source was unreadable, its stream broke or the database was busy; never \
        where a guard refused or the input is bad.
        """),
    OptionSpecification(
      .retryAfter, of: .unattended, .value(TimeLength.self), named: "time",
      help: "Wait so long before a table is tried again; each further wait is twice as long, up to an hour."),
  ]
}
