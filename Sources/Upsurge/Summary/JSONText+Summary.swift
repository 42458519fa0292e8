/// The parts that the summaries of all commands share.
extension JSONText {
  /// The member `ledger`.
  package mutating func member(_ ledger: Ledger) {
    key("ledger")
    beginObject()
    for (word, count) in ledger.entries {
      key(word)
      number(count)
    }
    endObject()
  }

  /// The member `stages`: seconds by name.
  package mutating func member(stages: [(name: String, seconds: Double)]) {
    key("stages")
    beginObject()
    for stage in stages {
      key(stage.name)
      number(stage.seconds)
    }
    endObject()
  }

  /// The member `rejects_by_reason`.
  package mutating func member(rejectsByReason: [(code: Reject.Code, count: UInt64)]) {
    key("rejects_by_reason")
    beginObject()
    for (code, count) in rejectsByReason {
      key(code.rawValue)
      number(count)
    }
    endObject()
  }

  /// The member `local_edits`, where there were any.
  package mutating func member(_ edits: LocalEditCounts) {
    if edits == LocalEditCounts() { return }
    key("local_edits")
    beginObject()
    for (word, count) in [("repaired", edits.repaired), ("kept", edits.kept), ("unswept", edits.unswept)] {
      key(word)
      number(count)
    }
    endObject()
  }

  /// The member `warnings`: code, column, count, first position.
  package mutating func member(_ warnings: WarningLog) {
    key("warnings")
    beginArray()
    for entry in warnings.entries {
      beginObject()
      member("code", entry.code.rawValue)
      if let column = entry.column { member("column", column) }
      key("count")
      number(entry.count)
      key("first")
      beginObject()
      members(of: entry.first)
      endObject()
      endObject()
    }
    endArray()
  }

  /// The members `error`, where there is one, and `exit_code`.
  package mutating func ending(_ error: UpsurgeError?, exitCode: Int32) {
    if let error { failure("error", error) }
    key("exit_code")
    number(Int64(exitCode))
  }

  /// An error as an object.
  package mutating func failure(_ name: String, _ error: UpsurgeError) {
    key(name)
    beginObject()
    key("code")
    string(error.code.rawValue)
    key("message")
    string(error.message)
    if let position = error.position {
      key("position")
      beginObject()
      members(of: position)
      endObject()
    }
    if let hint = error.hint {
      key("hint")
      string(hint)
    }
    endObject()
  }

  /// The known parts of a position.
  package mutating func members(of position: Position) {
    key("file")
    string(position.file)
    for (name, value) in [
      ("record", position.record), ("line", position.line), ("byte", position.byte),
    ] {
      guard let value else { continue }
      key(name)
      number(value)
    }
  }
}
