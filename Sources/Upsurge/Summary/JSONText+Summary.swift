/// The parts that the summaries of all commands share.
extension JSONText {
  /// The member `ledger`.
  package mutating func member(_ ledger: Ledger) {
    member("ledger") { text in
      for (word, count) in ledger.entries { text.member(word, count) }
    }
  }

  /// The member `stages`: seconds by name.
  package mutating func member(stages: [(name: String, seconds: Double)]) {
    member("stages") { text in
      for stage in stages { text.member(stage.name, stage.seconds) }
    }
  }

  /// The member `rejects_by_reason`.
  package mutating func member(rejectsByReason: [(code: Reject.Code, count: UInt64)]) {
    member("rejects_by_reason") { text in
      for (code, count) in rejectsByReason { text.member(code.rawValue, count) }
    }
  }

  /// The member `local_edits`, where there were any.
  package mutating func member(_ edits: LocalEditCounts) {
    if edits == LocalEditCounts() { return }
    member("local_edits") { text in
      text.member("repaired", edits.repaired)
      text.member("kept", edits.kept)
      text.member("unswept", edits.unswept)
    }
  }

  /// The member `warnings`: code, column, count, first position.
  package mutating func member(_ warnings: WarningLog) {
    member("warnings", warnings.entries) { text, entry in
      text.member("code", entry.code.rawValue)
      if let column = entry.column { text.member("column", column) }
      text.member("count", entry.count)
      text.member("first") { $0.members(of: entry.first) }
    }
  }

  /// The members `error`, where there is one, and `exit_code`.
  package mutating func ending(_ error: UpsurgeError?, exitCode: Int32) {
    if let error { failure("error", error) }
    member("exit_code", Int64(exitCode))
  }

  /// An error as an object.
  package mutating func failure(_ name: String, _ error: UpsurgeError) {
    member(name) { text in
      text.member("code", error.code.rawValue)
      text.member("message", error.message)
      if let position = error.position { text.member("position") { $0.members(of: position) } }
      if let hint = error.hint { text.member("hint", hint) }
    }
  }

  /// The known parts of a position.
  package mutating func members(of position: Position) {
    member("file", position.file)
    for (name, value) in [
      ("record", position.record), ("line", position.line), ("byte", position.byte),
    ] {
      if let value { member(name, value) }
    }
  }
}
