extension ReplaySummary {
  /// The summary as one JSON object, with the documented keys, and a line end.
  public var json: [UInt8] {
    var out = JSONText()
    out.beginObject()
    out.key("database")
    out.string(database)
    if let file { out.member("file", file) }
    out.member(ledger)
    out.key("tables")
    out.beginObject()
    for table in tables {
      out.key(table.name)
      out.beginObject()
      out.member(table.ledger)
      write(table.waiting, to: &out)
      write(table.untried, to: &out)
      out.endObject()
    }
    out.endObject()
    if resumedCount > 0 {
      out.key("resumed_records")
      out.number(resumedCount)
    }
    if rejectedBefore > 0 {
      out.key("rejected_before")
      out.number(rejectedBefore)
    }
    writeMeasures(to: &out)
    writeRejects(to: &out)
    out.ending(error, exitCode: exitCode)
    out.endObject()
    out.newline()
    return out.bytes
  }

  private func write(_ waiting: [Waiting], to out: inout JSONText) {
    out.key("waiting")
    out.beginArray()
    for entry in waiting {
      out.beginObject()
      out.key("reason")
      out.string(entry.reason)
      out.key("columns")
      out.strings(entry.columns)
      out.key("count")
      out.number(entry.count)
      out.endObject()
    }
    out.endArray()
  }

  private func write(_ untried: [Untried], to out: inout JSONText) {
    out.key("untried")
    out.beginArray()
    for entry in untried {
      out.beginObject()
      out.member("code", entry.code.rawValue)
      out.member("reason", entry.reason)
      out.key("count")
      out.number(entry.count)
      out.members(of: entry.first)
      out.endObject()
    }
    out.endArray()
  }

  private func writeMeasures(to out: inout JSONText) {
    out.key("seconds")
    out.number(seconds)
    for key in ["bytes_read", "bytes_decoded"] {
      out.key(key)
      out.number(bytesRead)
    }
    out.key("rows_per_second")
    out.number(rowsPerSecond.rounded())
    out.member(stages: stages)
  }

  private func writeRejects(to out: inout JSONText) {
    out.member(rejectsByReason: rejectsByReason)
    out.key("rejects")
    out.beginArray()
    for reject in rejects {
      out.beginObject()
      out.members(of: reject.position)
      out.key("column")
      if let column = reject.column { out.string(column) } else { out.null() }
      out.key("code")
      out.string(reject.code.rawValue)
      out.key("reason")
      out.string(reject.reason)
      out.endObject()
    }
    out.endArray()
    out.member(warnings)
  }
}
