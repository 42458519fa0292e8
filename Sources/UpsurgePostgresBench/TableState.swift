import UpsurgePostgres
import UpsurgeRecords

/// What distinguishes two tables of a server: columns, key, rows, and a digest that does not depend on their order.
struct TableState: Equatable {
  /// Names and types, in their order.
  let columns: String
  let rowCount: Int64
  /// Sums of two hashes of each row's text.
  let sums: [String]

  /// Reads all rows.
  /// - Parameter relation: a table, or a SELECT in brackets.
  init(of relation: String, _ connection: PostgresConnection) throws(PostgresFailure) {
    // No row, only the types of the columns.
    let types = BenchSchema.columnNames.map { "pg_typeof(t.\($0))" }.joined(separator: ", ")
    let names = try connection.run("SELECT * FROM \(relation) AS t LIMIT 0", [])
    let row = try connection.run("SELECT concat_ws(' ', \(types)) FROM \(relation) AS t LIMIT 1", []).first
    let listed = (0..<names.columnCount).map(names.columnName).joined(separator: ", ")
    columns = "\(listed): \(row?.text(0) ?? "no rows")"
    let sums = (1...2).map { "coalesce(sum(hashtextextended(t::text, \($0))::numeric), 0)" }
    let found = try connection.run(
      "SELECT count(*), \(sums.joined(separator: ", ")) FROM \(relation) AS t", []
    ).first
    rowCount = found?.integer(0) ?? 0
    self.sums = [found?.text(1) ?? "", found?.text(2) ?? ""]
  }

  /// In what a table differs from one that it should equal, in words; nil where it does not.
  func difference(from expected: TableState) -> String? {
    if columns != expected.columns { return "its columns are \(columns) instead of \(expected.columns)" }
    if rowCount != expected.rowCount { return "it holds \(rowCount) rows instead of \(expected.rowCount)" }
    return self == expected ? nil : "it holds as many rows, with other values"
  }
}
