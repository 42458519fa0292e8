extension RunSummary {
  /// The summary as one JSON object, with the documented keys, and a line end.
  public var json: [UInt8] {
    var out = JSONText()
    out.beginObject()
    out.key("database")
    out.string(database)
    out.key("table")
    out.string(table)
    out.key("sources")
    out.strings(sources)
    out.key("dialects")
    out.strings(dialects)
    out.key("ledger")
    out.beginObject()
    for (word, count) in ledger.entries {
      out.key(word)
      out.number(count)
    }
    out.endObject()
    writeMeasures(to: &out)
    writeUpkeep(to: &out)
    writeRejects(to: &out)
    writeWarnings(to: &out)
    writeEnding(to: &out)
    out.endObject()
    out.newline()
    return out.bytes
  }

  private func writeMeasures(to out: inout JSONText) {
    out.key("seconds")
    out.number(seconds)
    out.key("bytes_read")
    out.number(bytesRead)
    out.key("bytes_decoded")
    out.number(bytesDecoded)
    out.key("rows_per_second")
    out.number(rowsPerSecond.rounded())
    out.key("stages")
    out.beginObject()
    for stage in stages {
      out.key(stage.name)
      out.number(stage.seconds)
    }
    out.endObject()
    out.key("wal_bytes_written")
    out.number(walBytesWritten)
    out.key("wal_bytes_peak")
    out.number(walBytesPeak)
    out.key("peak_memory_bytes")
    out.number(peakMemoryBytes)
    out.key("settings")
    out.beginObject()
    for setting in settings {
      out.key(setting.name)
      out.number(setting.value)
    }
    out.endObject()
  }

  private func writeUpkeep(to out: inout JSONText) {
    if upkeep.isEmpty { return }
    out.key("upkeep")
    out.beginArray()
    for decision in upkeep {
      out.beginObject()
      out.key("kind")
      out.string(decision.kind.rawValue)
      out.key("name")
      out.string(decision.name)
      out.key("decision")
      out.string(decision.upkeep.rawValue)
      out.key("reason")
      out.string(decision.reason)
      out.endObject()
    }
    out.endArray()
  }

  private func writeRejects(to out: inout JSONText) {
    out.key("rejects_by_reason")
    out.beginObject()
    for (code, count) in rejectsByReason {
      out.key(code.rawValue)
      out.number(count)
    }
    out.endObject()
  }

  private func writeWarnings(to out: inout JSONText) {
    out.key("warnings")
    out.beginArray()
    for entry in warnings.entries {
      out.beginObject()
      out.key("code")
      out.string(entry.code.rawValue)
      if let column = entry.column {
        out.key("column")
        out.string(column)
      }
      out.key("count")
      out.number(entry.count)
      out.key("first")
      out.position(entry.first)
      out.endObject()
    }
    out.endArray()
  }

  private func writeEnding(to out: inout JSONText) {
    if let createdTable {
      out.key("created_table")
      out.string(createdTable)
    }
    out.key("superseded")
    out.number(supersededCount)
    if isDryRun {
      out.key("dry_run")
      out.bool(true)
    }
    out.key("committed_records")
    out.number(committedCount)
    if let committedThrough {
      out.key("committed_through")
      out.position(committedThrough)
    }
    if let error {
      out.key("error")
      out.beginObject()
      out.key("code")
      out.string(error.code.rawValue)
      out.key("message")
      out.string(error.message)
      if let position = error.position {
        out.key("position")
        out.position(position)
      }
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
  fileprivate mutating func strings(_ values: [String]) {
    beginArray()
    for value in values { string(value) }
    endArray()
  }

  /// A position as an object of its known parts.
  fileprivate mutating func position(_ position: Position) {
    beginObject()
    key("file")
    string(position.file)
    for (name, value) in [
      ("record", position.record), ("line", position.line), ("byte", position.byte),
    ] {
      guard let value else { continue }
      key(name)
      number(value)
    }
    endObject()
  }
}
