import UpsurgeRecords
import UpsurgeSQLite

/// What keeps a move from beginning.
enum MoveProblems {
  /// So many are named.
  private static let shownCount = 10

  /// - Throws: `badInput` where there is a problem: all of them, before anything is written.
  static func check(_ problems: [ContentScan.Problem]) throws(UpsurgeError) {
    guard let first = problems.first else { return }
    var words = first.words
    for problem in problems.dropFirst().prefix(shownCount - 1) { words += "; " + problem.words }
    if problems.count > shownCount { words += "; and \(problems.count - shownCount) more" }
    let types = problems.prefix(shownCount).compactMap(\.type)
    throw UpsurgeError(.badInput, Wording(words.escapedForTerminal), hint: hint(types))
  }

  private static func hint(_ types: [String]) -> Wording {
    let others = types.map { type -> Wording in
      "\(.type, type.quotedForShell) moves these values under another type"
    }
    return Wording(clauses: others + ["correct these rows in the source; nothing was written"])
  }

  /// - Throws: `usage` for names that the other database would cut, or that a load cannot name.
  static func checkNames(_ tables: [TableShape], byteLimit: Int?) throws(UpsurgeError) {
    if tables.isEmpty {
      throw UpsurgeError(
        .usage, "there is no table to move", hint: "upsurge inspect shows what a database holds")
    }
    for table in tables {
      if table.name.contains("\"") {
        throw UpsurgeError(
          .usage, "the name \(table.name.escapedForTerminal) has a quote, so no load can name the table",
          hint: "rename it in the source; or leave it out: \(.except, table.name.quotedForShell)")
      }
      guard let byteLimit else { continue }
      for name in [table.name] + table.columns.map(\.name) where name.utf8.count > byteLimit {
        throw UpsurgeError(
          .usage,
          "the name \(name.escapedForTerminal) in \(table.name.escapedForTerminal) has \(name.utf8.count) bytes, and PostgreSQL cuts names after \(byteLimit)",
          hint: "rename it in the source: ALTER TABLE … RENAME")
      }
    }
    var seen: [String: String] = [:]
    for table in tables {
      if let other = seen.updateValue(table.name, forKey: SQLName.folded(table.name)) {
        throw UpsurgeError(
          .usage, "\(other.escapedForTerminal) and \(table.name.escapedForTerminal) are one name in SQLite",
          hint: "rename one of them in the source; or leave one out: \(.except, table.name.quotedForShell)")
      }
    }
  }
}
