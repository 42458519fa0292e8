import UpsurgeState

extension LoadOptions {
  /// - Throws: `usage` where two options contradict each other.
  package func validate() throws(UpsurgeError) {
    try input.validate()
    try output.validate()
    try validateRules()
    try validateResume()
    try transaction.validateMemory()
    try rejects.validate()
    try table.validateTypes()
    try validateComputed()
    try transaction.validateCommits()
  }

  /// Where no record of the run is kept, nothing can go on and nothing stays listed.
  private func validateResume() throws(UpsurgeError) {
    let reason: Wording? =
      output.dryRun != nil
      ? "\(.dryRun) keeps nothing"
      : transaction.durability == .off ? "\(.durability, "off") keeps no record" : nil
    guard let reason else { return }
    if transaction.resume == .require {
      throw UpsurgeError(
        .usage, "\(.resume, "require") goes on with an earlier run, and \(saying: reason)",
        hint: "leave out one of them")
    }
    if transaction.keepsHistory {
      throw UpsurgeError(
        .usage, "\(.history) keeps the run listed, and \(saying: reason)", hint: "leave out \(.history)")
    }
  }
}

extension LoadOptions {
  /// Each column has one value.
  private func validateComputed() throws(UpsurgeError) {
    var seen: Set<String> = []
    for column in table.computedColumns {
      let name = column.name.escapedForTerminal
      if column.name.isEmpty || column.name.utf8.contains(0) {
        throw UpsurgeError(.usage, "\(.let) takes the name of a column")
      }
      if !seen.insert(SQLName.folded(column.name)).inserted {
        throw UpsurgeError(
          .usage, "\(.let) names the column \(name) twice", hint: "put both into one expression")
      }
      if table.isAdded(column.name) {
        throw UpsurgeError(
          .usage, "the column \(name) is named by \(.let) and by \(.add)", hint: "leave out one of them")
      }
      if input.csv.ragged == .extra, SQLName.isSame(column.name, LoadOptions.Table.extraColumn) {
        throw UpsurgeError(
          .usage,
          "the column \(name) is named by \(.let), and \(.ragged, "extra") keeps surplus fields there",
          hint: "leave out one of them")
      }
      if let mark = rules.softColumn, SQLName.isSame(column.name, mark) {
        throw UpsurgeError(
          .usage, "\(.let) fills the column \(name), which marks rows as gone: only the sweep may set it")
      }
    }
  }
}

extension LoadOptions.Input {
  fileprivate func validate() throws(UpsurgeError) {
    try values.validate()
    try validateWidths()
    guard let jsonMap else { return }
    if jsonMap.isEmpty || jsonMap.utf8.contains(0) {
      throw UpsurgeError(.usage, "\(.jsonMap) takes the name of a column", hint: "\(.jsonMap, "id")")
    }
    if let format, format != .json {
      throw UpsurgeError(
        .usage, "\(.jsonMap) is for a JSON document, and \(.format) is \(format.rawValue)",
        hint: "leave out \(.format), or give \(.format, "json")")
    }
  }
}

extension LoadOptions.Input {
  /// A line that is cut by widths has no marks, and as many names as widths.
  private func validateWidths() throws(UpsurgeError) {
    guard let widths = csv.widths else { return }
    try widths.validate()
    let marks: [(Term, Bool)] = [
      (.delimiter, csv.delimiter != nil), (.quote, csv.quote != nil), (.escape, csv.escape != nil),
      (.jsonPath, !jsonPath.isEmpty), (.jsonMap, jsonMap != nil),
    ]
    let other: Wording? =
      if let format, format != .csv { "\(.format, format.rawValue)" } else { marks.first { $0.1 }.map { "\(saying: $0.0)" } }
    if let other {
      throw UpsurgeError(
        .usage, "\(.widths) cuts lines that have no marks between their fields, and \(saying: other) is for others",
        hint: "leave out \(saying: other), or \(.widths)")
    }
    if let names = csv.columnNames, names.count != widths.fields.count {
      throw UpsurgeError(
        .usage, "\(.names) has \(Words.count(UInt64(names.count), "name")), and \(.widths) has \(widths.fields.count)",
        hint: "name each width: \(.widths, "id:6,name:20,note:*")")
    }
  }
}

extension LoadOptions.Output {
  fileprivate func validate() throws(UpsurgeError) {
    if emitPath != nil && maxStatement.byteCount < 256 {
      throw UpsurgeError(
        .usage, "\(.maxStatement, maxStatement) is too small", hint: "give at least \(.maxStatement, "256")")
    }
  }
}

extension LoadOptions.Rejects {
  fileprivate func validate() throws(UpsurgeError) {
    if limit != nil && onError == .stop {
      throw UpsurgeError(
        .usage, "\(.maxRejects) says how many rejects are borne, and \(.onError, "stop") bears none",
        hint: "add \(.onError, "reject")")
    }
  }
}

extension LoadOptions.Transaction {
  fileprivate func validateMemory() throws(UpsurgeError) {
    if memory.byteCount < 16 << 20 {
      throw UpsurgeError(
        .usage, "\(.memory, memory) is too small", hint: "give at least \(.memory, "16MiB")")
    }
  }

  fileprivate func validateCommits() throws(UpsurgeError) {
    if !commitEvery.isPositive {
      throw UpsurgeError(
        .usage, "\(.commitEvery, commitEvery) is too small", hint: "give at least 1, 1B or 1ms")
    }
    if !(1...RunPosition.Lanes.mostCount).contains(connections) {
      throw UpsurgeError(
        .usage, "\(.connections, connections) is not a number of connections",
        hint: "give a number from 1 to \(RunPosition.Lanes.mostCount)")
    }
    if connections > 1 && isAtomic {
      throw UpsurgeError(
        .usage, "\(.atomic) makes one transaction of all records, and \(.connections, connections) makes many",
        hint: "leave out one of them; a mirror has atomic: bounded for many")
    }
    if walLimit.byteCount < 4 << 20 {
      throw UpsurgeError(
        .usage, "\(.walLimit, walLimit) is too small", hint: "give at least \(.walLimit, "4MiB")")
    }
  }
}

extension LoadOptions.Table {
  /// A type is words and at most two sizes, so that nothing else gets into the CREATE TABLE.
  fileprivate func validateTypes() throws(UpsurgeError) {
    let constraints: Set = [
      "PRIMARY", "KEY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
      "REFERENCES", "GENERATED", "ALWAYS", "AS", "CONSTRAINT",
    ]
    let strictTypes: Set = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
    for (column, type) in types {
      let parts = type.split(separator: "(", maxSplits: 1)
      let words = parts.first?.split(separator: " ") ?? []
      let isName = !words.isEmpty && words.allSatisfy(isTypeWord)
      let isSize =
        parts.count < 2
        || parts[1].hasSuffix(")") && parts[1].dropLast().allSatisfy { ", 0123456789".contains($0) }
      let isConstraint = words.contains { constraints.contains(String($0)) }
      if !isName || !isSize || isConstraint {
        throw UpsurgeError(
          .usage, "\(.type, "\(column):\(type)") is no type",
          hint: "give one such as INTEGER, REAL, TEXT or BLOB")
      }
      if isStrict && !strictTypes.contains(type) {
        throw UpsurgeError(
          .usage, "\(.type, "\(column):\(type)") is not for a STRICT table",
          hint: "STRICT tables know INT, INTEGER, REAL, TEXT, BLOB and ANY")
      }
    }
  }

  /// Whether a word is one of letters, as `double` is, or of letters and numbers, as `int8` is.
  private func isTypeWord(_ word: Substring) -> Bool {
    word.first?.isNumber == false
      && word.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
  }
}
