extension ReplaySummary {
  /// The summary as one JSON object, with the documented keys, and a line end.
  public var json: [UInt8] {
    var out = JSONText()
    out.beginObject()
    out.key("database")
    out.string(database)
    write(ledger, to: &out)
    out.key("tables")
    out.beginObject()
    for table in tables {
      out.key(table.name)
      out.beginObject()
      write(table.ledger, to: &out)
      write(table.waiting, to: &out)
      out.endObject()
    }
    out.endObject()
    writeMeasures(to: &out)
    writeRejects(to: &out)
    writeEnding(to: &out)
    out.endObject()
    out.newline()
    return out.bytes
  }

  private func write(_ ledger: Ledger, to out: inout JSONText) {
    out.key("ledger")
    out.beginObject()
    for (word, count) in ledger.entries {
      out.key(word)
      out.number(count)
    }
    out.endObject()
  }

  private func write(_ waiting: [Waiting], to out: inout JSONText) {
    out.key("waiting")
    out.beginArray()
    for entry in waiting {
      out.beginObject()
      out.key("reason")
      out.string(entry.reason)
      out.key("columns")
      out.beginArray()
      for column in entry.columns { out.string(column) }
      out.endArray()
      out.key("count")
      out.number(entry.count)
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
    out.key("stages")
    out.beginObject()
    for stage in stages {
      out.key(stage.name)
      out.number(stage.seconds)
    }
    out.endObject()
  }

  private func writeRejects(to out: inout JSONText) {
    out.key("rejects_by_reason")
    out.beginObject()
    for (code, count) in rejectsByReason {
      out.key(code.rawValue)
      out.number(count)
    }
    out.endObject()
    out.key("rejects")
    out.beginArray()
    for reject in rejects {
      out.beginObject()
      out.position(reject.position)
      out.key("column")
      if let column = reject.column { out.string(column) } else { out.null() }
      out.key("code")
      out.string(reject.code.rawValue)
      out.key("reason")
      out.string(reject.reason)
      out.endObject()
    }
    out.endArray()
    out.key("warnings")
    out.beginArray()
    out.endArray()
  }

  private func writeEnding(to out: inout JSONText) {
    if let error {
      out.key("error")
      out.beginObject()
      out.key("code")
      out.string(error.code.rawValue)
      out.key("message")
      out.string(error.message)
      if let hint = error.hint {
        out.key("hint")
        out.string(hint)
      }
      out.endObject()
    }
    out.key("exit_code")
    out.number(Int64(exitCode))
  }
}

extension JSONText {
  /// The known parts of a position as members.
  fileprivate mutating func position(_ position: Position) {
    key("file")
    string(position.file)
    for (name, value) in [
      ("record", position.record), ("line", position.line), ("byte", position.byte),
    ] {
      key(name)
      if let value { number(value) } else { null() }
    }
  }
}
