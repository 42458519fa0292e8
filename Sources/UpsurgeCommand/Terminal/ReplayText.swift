import Upsurge

/// The end of a replay in words.
enum ReplayText {
  /// So many rejects are shown one by one.
  private static let shownRejectLimit = 20

  static func text(_ summary: ReplaySummary) -> String {
    var lines = LedgerText.notes(summary.warnings)
    for reject in summary.rejects.prefix(shownRejectLimit) {
      lines.append("rejected: \(reject.position): \(reject.reason) [\(reject.code.rawValue)]")
    }
    let ledger = summary.ledger
    let shown = UInt64(min(summary.rejects.count, shownRejectLimit))
    for table in summary.tables {
      for untried in table.untried {
        lines.append(
          "not tried: \(Words.count(untried.count)), \(untried.reason), first at \(untried.first) "
            + "[\(untried.code.rawValue)]")
      }
    }
    if ledger.rejected > shown {
      let reasons = summary.rejectsByReason.map { "\(Words.count($0.count)) \($0.code.rawValue)" }
      lines.append("rejected in all: " + reasons.joined(separator: ", "))
    }
    for table in summary.tables {
      for waiting in table.waiting {
        lines.append("still quarantined: \(Words.count(waiting.count)), \(waiting.reason)")
      }
    }
    lines.append(
      "\(summary.database): \(Words.count(ledger.read, summary.file == nil ? "kept record" : "rejected record")) tried in \(Words.seconds(summary.seconds))"
        + earlier(summary))
    for table in summary.tables {
      let entries = table.ledger.entries.dropFirst().filter { $0.count > 0 }
      lines.append(
        "  \(table.name): " + entries.map { "\($0.word) \(Words.count($0.count))" }.joined(separator: " · "))
    }
    if summary.rejectedBefore > 0 {
      lines.append(
        "  \(Words.count(summary.rejectedBefore, "record")) that the replay before this one tried stay rejected"
      )
    }
    if ledger.read > 0, summary.signal != nil || summary.error != nil {
      let start = summary.signal != nil ? "interrupted" : "stopped"
      lines.append(
        "  \(start): what was stored is committed and is not tried again; the next replay tries the rest, and prints the "
          + "ledger of both")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// How much of the ledger an earlier replay has brought.
  private static func earlier(_ summary: ReplaySummary) -> String {
    if summary.resumedCount == 0 { return "" }
    let isAll = summary.resumedCount == summary.ledger.read
    return
      "; \(isAll ? "all" : Words.count(summary.resumedCount)) of them by an earlier replay that ended early"
  }
}
