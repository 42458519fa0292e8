import UpsurgeRecords

/// Rows of another SQLite database: `sqlite:PATH#TABLE`, or `sqlite:PATH?query=SELECT …`.
package struct DatabaseSource: Sendable, Equatable {
  package enum Rows: Sendable, Equatable {
    /// All rows of a table or view.
    case table(String)
    /// What a SELECT gives.
    case query(String)
  }

  /// The whole name as it was given.
  package var name: String
  package var path: String
  package var rows: Rows

  package var isQuery: Bool {
    if case .query = rows { return true }
    return false
  }

  private static let queryMark = "?query="

  /// nil for a name of something else, and where the path, the table or the query is missing.
  package init?(_ name: String) {
    guard SourceName.isDatabase(name) else { return nil }
    let rest = name.dropFirst(SourceName.databaseMark.utf8.count)
    self.name = name
    if let mark = rest.firstRange(of: Self.queryMark) {
      path = String(rest[..<mark.lowerBound])
      rows = .query(String(rest[mark.upperBound...]))
      if rest[mark.upperBound...].allSatisfy(\.isWhitespace) { return nil }
    } else if let mark = rest.lastIndex(of: "#") {
      path = String(rest[..<mark])
      rows = .table(String(rest[rest.index(after: mark)...]))
      if rest.index(after: mark) == rest.endIndex { return nil }
    } else {
      return nil
    }
    if path.isEmpty { return nil }
  }

  /// The same with another path.
  package func name(path: String) -> String {
    switch rows {
    case .table(let table): "\(SourceName.databaseMark)\(path)#\(table)"
    case .query(let query): "\(SourceName.databaseMark)\(path)\(Self.queryMark)\(query)"
    }
  }
}

extension SourceName {
  /// What stands in front of the path of a database whose rows are read.
  package static let databaseMark = "sqlite:"

  package static func isDatabase(_ name: String) -> Bool { name.utf8.starts(with: databaseMark.utf8) }

  /// - Throws: `usage` for a name that begins as one of a database and says no rows.
  package static func database(of name: String) throws(UpsurgeError) -> DatabaseSource? {
    guard isDatabase(name) else { return nil }
    if let source = DatabaseSource(name) { return source }
    throw UpsurgeError(
      .usage, "\(name.escapedForTerminal) names no rows of a database",
      hint: "give \(databaseMark)PATH#TABLE, or '\(databaseMark)PATH?query=SELECT …'")
  }
}
