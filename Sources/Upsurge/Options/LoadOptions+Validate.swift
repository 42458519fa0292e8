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

extension LoadOptions.Input {
  fileprivate func validate() throws(UpsurgeError) {
    try values.validate()
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
