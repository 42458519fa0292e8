/// Rows of another SQLite database: `sqlite:PATH#TABLE`, or `sqlite:PATH?query=SELECT …`.
package struct DatabaseSource: Sendable, Hashable {
  package enum Rows: Sendable, Hashable {
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
    let kind = Source.Opening.databaseMark
    guard name.utf8.starts(with: kind.utf8) else { return nil }
    let rest = name.dropFirst(kind.utf8.count)
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

  /// The name of the source, with another path.
  package func name(path: String) -> String {
    switch rows {
    case .table(let table): "\(Source.Opening.databaseMark)\(path)#\(table)"
    case .query(let query): "\(Source.Opening.databaseMark)\(path)\(Self.queryMark)\(query)"
    }
  }
}
