import Upsurge

/// The end of a run in words.
enum LedgerText {
  /// - Parameter isOfJob: whether a job file has asked for the run, and is where it is to be changed.
  static func text(_ summary: RunSummary, isOfJob: Bool = false) -> String {
    var lines: [String] = []
    let ledger = summary.ledger
    lines += notes(summary.warnings, inNewTable: summary.createdTable != nil)
    if let skipped = skippedFields(summary.warnings) { lines.append("note: " + skipped) }
    if !summary.rejectsByReason.isEmpty {
      let reasons = summary.rejectsByReason.map { "\(Words.count($0.count)) \($0.code.rawValue)" }
      lines.append("rejected: " + reasons.joined(separator: ", "))
      lines += lostRejects(summary, isOfJob: isOfJob)
    }
    lines.append(
      "\(summary.table.escapedForTerminal) in \(summary.database.escapedForTerminal): \(Words.count(ledger.read, "record")) read in "
        + "\(Words.seconds(summary.metrics.seconds)) (\(Words.count(UInt64(summary.rowsPerSecond))) rows/s)"
        + earlier(summary))
    let shown = ledger.entries.dropFirst().filter { word, count in
      count > 0 || ["inserted", "updated", "unchanged", "rejected"].contains(word)
    }
    lines.append("  " + shown.map { "\($0.word) \(Words.count($0.count))" }.joined(separator: " · "))
    lines += edits(summary.localEdits)
    lines += quarantine(summary)
    lines += log(summary)
    if summary.isDryRun { lines.append("  dry run: nothing is changed") }
    if summary.signal != nil || summary.error != nil { lines.append("  " + ending(summary)) }
    lines += repetition(summary)
    return lines.joined(separator: "\n") + "\n"
  }

  /// A line for each kind of warning but fields that were left out.
  /// - Parameters:
  ///   - code: the only kind that is told; nil is all of them.
  ///   - isNew: whether the run has made the table, and so its types.
  static func notes(
    _ warnings: WarningLog, of code: WarningLog.Code? = nil, inNewTable isNew: Bool = false
  ) -> [String] {
    let told = warnings.entries.filter {
      ![.columnSkipped, .trustedSchema].contains($0.code) && (code == nil || $0.code == code)
    }
    var lines: [String] = []
    var coalesced: Set<WarningLog.Code> = []
    for entry in told {
      let alike = told.filter { $0.code == entry.code }
      if alike.count <= shownColumnLimit {
        lines.append(
          "\(mark(of: entry.code)): \(words(for: entry.code, entry.count))\(place(entry)), first at \(entry.first)"
            + (isNew ? remedy(entry) : ""))
      } else if coalesced.insert(entry.code).inserted {
        let count = alike.reduce(0) { $0 + $1.count }
        lines.append(
          "\(mark(of: entry.code)): \(words(for: entry.code, count)) in \(Words.count(UInt64(alike.count), "column")), first\(place(entry)) at "
            + "\(entry.first)")
      }
    }
    return lines
  }

  /// `warning` where the database may not hold what the input means, `note` for what was asked for or changes no value.
  static func mark(of code: WarningLog.Code) -> String {
    switch code {
    case .blankLine, .comment, .byteOrderMark, .repeatedHeader, .trailingComment, .padded, .surplusEmpty,
      .headerRenamed,
      .columnAdded, .columnSkipped:
      "note"
    default: "warning"
    }
  }

  /// What would have kept a value as it was written.
  private static func remedy(_ entry: WarningLog.Entry) -> String {
    guard entry.code == .spellingChanged, let column = entry.column, column != WarningLog.otherColumns else {
      return ""
    }
    return "; in a new table --type \("\(column):TEXT".quotedForShell) keeps every digit"
  }

  /// Of more columns the notes of a kind are one line.
  private static let shownColumnLimit = 5

  private static func place(_ entry: WarningLog.Entry) -> String {
    guard let column = entry.column else { return "" }
    return column == WarningLog.otherColumns ? " in other columns" : " in column \(column)"
  }

  /// The first rejects where they are kept nowhere, and what keeps them; those of a run that has failed are in its message.
  private static func lostRejects(_ summary: RunSummary, isOfJob: Bool) -> [String] {
    guard let first = summary.lostRejects, summary.error == nil else { return [] }
    var lines = first.map { reject in
      let column = reject.column.map { " (column \($0))" } ?? ""
      return "  \(reject.position): \(reject.reason) [\(reject.code.rawValue)]\(column)"
    }
    let rest = summary.ledger.rejected - min(UInt64(first.count), summary.ledger.rejected)
    if rest > 0, !first.isEmpty { lines.append("  and \(Words.count(rest, "more reject"))") }
    let way =
      isOfJob
      ? "`rejects: table` in the job keeps such records"
      : summary.isDryRun
        ? "--rejects FILE writes them to a file"
        : "the same command with --dry-run --rejects FILE writes them to a file"
    return lines + ["  kept nowhere: \(way)"]
  }

  /// Why a run that reads nothing ends with 2.
  static let leftBehind = "; records of it were rejected or wait for the schema, so the exit code is 2"

  /// What was done with rows that were edited here.
  private static func edits(_ counts: LocalEditCounts) -> [String] {
    func rows(_ count: UInt64) -> String { "\(Words.count(count, "row")) edited or deleted here" }
    var lines: [String] = []
    if counts.repaired > 0 { lines.append("  brought back to what the feed says: \(rows(counts.repaired))") }
    if counts.kept > 0 { lines.append("  kept, their records passed over: \(rows(counts.kept))") }
    if counts.unswept > 0 {
      lines.append(
        "  kept although no longer in the delivery: \(Words.count(counts.unswept, "row")) edited here")
    }
    return lines
  }

  /// Where quarantined records are, and what became of those of earlier runs.
  private static func quarantine(_ summary: RunSummary) -> [String] {
    var lines: [String] = []
    if summary.progress.committedCount > 0 && summary.ledger.quarantined > 0 && summary.keepsRecords {
      lines.append(
        "  quarantined records are kept in the table upsurge_quarantine; once table \(summary.table) has a place for"
          + " them, or the rows they refer to are there, `upsurge replay \(summary.database.quotedForShell)` stores them"
      )
    }
    if summary.supersededCount > 0 {
      lines.append(
        "  \(Words.count(summary.supersededCount, "kept record")) superseded by "
          + "later ones about the same rows")
    }
    return lines
  }

  /// How much of the ledger an earlier part of the run has brought.
  private static func earlier(_ summary: RunSummary) -> String {
    if summary.progress.resumedCount == 0 { return "" }
    let isAll = summary.progress.resumedCount == summary.ledger.read
    return "; \(isAll ? "all" : Words.count(summary.progress.resumedCount)) of them were committed before"
  }

  /// Why the write-ahead log grew past its limit, or is still there.
  private static func log(_ summary: RunSummary) -> [String] {
    guard let pin = summary.wal.pin else { return [] }
    let seconds = Words.seconds(pin.seconds)
    var text =
      "  the write-ahead log grew to \(Words.bytes(Double(pin.peakByteCount))): \(pin.holder) read from it for"
    text += " \(seconds) or more"
    if pin.pauseSeconds > 0 { text += ", and commits waited \(Words.seconds(pin.pauseSeconds)) for that" }
    if pin.leftByteCount > 0 {
      text += "; \(Words.bytes(Double(pin.leftByteCount))) of it stay until the reader has ended"
    }
    return [text]
  }

  /// What stands in the database after a run that ended early.
  private static func ending(_ summary: RunSummary) -> String {
    let start = summary.signal != nil ? "interrupted" : "stopped"
    if summary.isDryRun { return "\(start) before the end of the input" }
    // The message counts all rejects, the ledger those that were not rolled back.
    let rest =
      summary.progress.remedy == .moreRejects ? "; what was rolled back is neither counted nor kept" : ""
    guard summary.progress.committedCount > 0 else {
      return "\(start): nothing of this run is in the database\(rest)"
    }
    let place = summary.progress.committedThrough.map { ", the last one at \($0)" } ?? ""
    let verb = summary.progress.committedCount == 1 ? "is" : "are"
    let count = "\(Words.count(summary.progress.committedCount, "record")) \(verb)"
    if !summary.progress.hasBegunToWrite && !summary.progress.isResumable {
      return "refused: \(count) in the database from an earlier run of this job\(place)"
    }
    let end = "\(start): \(count) committed\(place)\(rest)"
    return summary.progress.isResumable ? end + "\n  " + goingOn(summary) : end
  }

  /// How the run goes on.
  private static func goingOn(_ summary: RunSummary) -> String {
    var command = "the same command"
    if summary.progress.beginsAnew { command += " without --resume never" }
    switch summary.progress.remedy {
    case .rejecting: command += " with --on-error reject --rejects FILE"
    case .moreRejects: command += " with a larger --max-rejects"
    case nil: if summary.signal == nil { command = "once that is fixed, " + command }
    }
    return command + " goes on from there" + (summary.resumingCommand.map { ":\n    \($0.line)" } ?? "")
  }

  /// What is to be known before the run is started again.
  private static func repetition(_ summary: RunSummary) -> [String] {
    guard summary.signal != nil || summary.error != nil, summary.progress.committedCount > 0,
      !summary.isDryRun,
      !summary.progress.isResumable,
      let repetition = summary.progress.repetition
    else { return [] }
    // What was only rejected, or changed nothing, is not in the table.
    let ledger = summary.ledger
    let stored = min(ledger.inserted + ledger.updated, summary.progress.committedCount)
    if stored == 0 { return [] }
    let which = stored == summary.progress.committedCount ? (stored == 1 ? "this " : "these ") : ""
    return [
      "  running it again would \(repetition.rawValue) \(which)\(stored == 1 && !which.isEmpty ? "record" : Words.count(stored, "record")) twice; "
        + "--atomic makes a run all or nothing"
    ]
  }

  /// Fields of files that were left out as the options say are one line: with `--columns` there may be many.
  private static func skippedFields(_ warnings: WarningLog) -> String? {
    let entries = warnings.entries.filter { $0.code == .columnSkipped }
    let names = entries.compactMap(\.column).filter { $0 != WarningLog.otherColumns }
    if names.isEmpty { return nil }
    let unnamed = entries.first { $0.column == WarningLog.otherColumns }?.count ?? 0
    let count = UInt64(names.count) + unnamed
    let rest = count > UInt64(shownFieldLimit) ? ", ..." : ""
    return "\(Words.count(count, "field")) left out: "
      + names.prefix(shownFieldLimit).joined(separator: ", ") + rest
  }

  /// So many fields that were left out are named.
  private static let shownFieldLimit = 5

  private static func words(for code: WarningLog.Code, _ count: UInt64) -> String {
    func counted(_ noun: String) -> String { Words.count(count, noun) }
    return switch code {
    case .blankLine: counted("blank line") + " left out"
    case .comment: counted("comment line") + " left out"
    case .byteOrderMark: counted("byte order mark") + " between records left out"
    case .repeatedHeader: counted("repeated header") + " left out"
    case .trailingComment: counted("comment") + " after the last field left out"
    case .footerLike: counted("record") + " at the end, stored as it is, may be a footer: a total, or blank"
    case .padded: counted("short record") + " filled with NULL"
    case .surplusEmpty: counted("long record") + " whose surplus fields were empty"
    case .textInNumberColumn: counted("text") + " stored in a column of numbers"
    case .spellingChanged: counted("value") + " respelled by the column's type"
    case .numberedKey:
      counted("record")
        + " without a key stored as a new row, as by each run (--null-keys reject rejects such records)"
    case .emptyKey: "values under the empty key \"\" stored"
    case .duplicateKey: counted("record") + " with a key twice (the last one won)"
    case .columnCollision:
      counted("value") + " whose key means a column that another key means too (the last one won)"
    case .headerRenamed: counted("header name") + " changed"
    case .columnAdded: counted("column") + " added"
    case .errorCell: counted("cell") + " with an error such as #N/A stored as NULL"
    case .formulaWithoutValue:
      counted("formula")
        + " without a value stored as NULL (a spreadsheet program that saves the file computes it)"
    case .mergedCells: counted("range") + " of merged cells, of which the first cell has the value"
    case .textAsNumber:
      counted("text")
        + " that SQL calculates with \(count == 1 ? "is no number" : "are no numbers") (taken for the digits at the start, or for 0)"
    case .textAgainstNumber:
      counted("text")
        + " compared with a number by SQL (any text is greater; CAST(FIELD AS REAL) makes a number of it)"
    case .sourceChanged:
      counted("file") + " changed while being read; what was written meanwhile may be missing"
    default: "\(Words.count(count)) \(code.rawValue)"
    }
  }
}
