extension ReplaySummary {
  /// The summary as one JSON object, with the documented keys, and a line end.
  public var json: [UInt8] {
    JSONText.line { out in
      out.member("database", database)
      if let file { out.member("file", file) }
      out.member(ledger)
      out.member("tables") { out in
        for table in tables {
          out.member(table.name) { out in
            out.member(table.ledger)
            write(table.waiting, to: &out)
            write(table.untried, to: &out)
          }
        }
      }
      if resumedCount > 0 { out.member("resumed_records", resumedCount) }
      if rejectedBefore > 0 { out.member("rejected_before", rejectedBefore) }
      writeMeasures(to: &out)
      writeRejects(to: &out)
      out.ending(error, exitCode: exitCode)
    }
  }

  private func write(_ waiting: [Waiting], to out: inout JSONText) {
    out.member("waiting", waiting) { out, entry in
      out.member("reason", entry.reason)
      out.member("columns", entry.columns)
      out.member("count", entry.count)
    }
  }

  private func write(_ untried: [Untried], to out: inout JSONText) {
    out.member("untried", untried) { out, entry in
      out.member("code", entry.code.rawValue)
      out.member("reason", entry.reason)
      out.member("count", entry.count)
      out.members(of: entry.first)
    }
  }

  private func writeMeasures(to out: inout JSONText) {
    out.member("seconds", seconds)
    for key in ["bytes_read", "bytes_decoded"] { out.member(key, bytesRead) }
    out.member("rows_per_second", rowsPerSecond.rounded())
    out.member(stages: stages)
  }

  private func writeRejects(to out: inout JSONText) {
    out.member(rejectsByReason: rejectsByReason)
    out.member("rejects", rejects) { out, reject in
      out.members(of: reject.position)
      out.member("column", orNull: reject.column)
      out.member("code", reject.code.rawValue)
      out.member("reason", reject.reason)
    }
    out.member(warnings)
  }
}
