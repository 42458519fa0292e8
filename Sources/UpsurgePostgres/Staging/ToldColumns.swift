/// The columns of rows that a statement returns for a file of changes, as the parts of its SQL.
///
///     RETURNING upsurge_row."id" AS upsurge_c0, …     returned
///     SELECT place, kind, w.upsurge_c0, …             told
struct ToldColumns: Sendable, Equatable {
  let columns: [PostgresColumn]

  /// What a row of such a statement says.
  enum Kind: Int64 {
    case inserted = 0
    /// A row that was changed, as it was; the next one says what it is now.
    case before = 1
    case after = 2
    case deleted = 3
    /// No row: how many records were not to change theirs.
    case kept = 10
    /// No row: how many records found none, or whose row a trigger has left out.
    case missing = 11
    /// No row: how many records were to be written.
    case found = 12
  }

  /// The place and the kind, and how each column comes in a copy.
  var binaryColumns: [BinaryColumn] {
    [BinaryColumn(.int8), BinaryColumn(.int8)] + columns.map { BinaryColumn($0) }
  }

  /// What RETURNING takes.
  /// - Parameter row: what the statement calls the row that it writes.
  func returned(_ row: String = "upsurge_row") -> String {
    columns.enumerated().map { "\(row).\($1.name.quotedForPostgres) AS upsurge_c\($0)" }.joined(
      separator: ", ")
  }

  /// A row that was returned.
  /// - Parameters:
  ///   - place: SQL for the place of its record.
  ///   - kind: SQL for what it says.
  ///   - query: what stands after the list, from FROM on.
  func told(_ place: String, _ kind: String, of name: String, _ query: String) -> String {
    select(place, kind, columns.indices.map { "\(name).upsurge_c\($0)" }, query)
  }

  /// A row as the statement has found it.
  func found(_ place: String, _ kind: Kind, of name: String, _ query: String) -> String {
    select(place, "\(kind.rawValue)", columns.map { "\(name).\($0.name.quotedForPostgres)" }, query)
  }

  /// A number in the place of a row.
  func number(_ number: String, _ kind: Kind) -> String {
    let nulls = columns.map { "NULL::\(BinaryColumn($0).stagingType)" }
    return "SELECT \((["(\(number))::int8", "\(kind.rawValue)::int8"] + nulls).joined(separator: ", "))"
  }

  private func select(_ place: String, _ kind: String, _ values: [String], _ query: String) -> String {
    let list = zip(columns, values).map { BinaryColumn($0).form == .castText ? "\($1)::text" : $1 }
    return "SELECT \((["(\(place))::int8", "(\(kind))::int8"] + list).joined(separator: ", ")) \(query)"
  }

  /// Several such queries as one, in the order of the records.
  static func all(_ queries: [String]) -> String {
    queries.joined(separator: " UNION ALL ") + " ORDER BY 1, 2"
  }
}
