import UpsurgeRecords
import UpsurgeSQLite

/// A secondary index that is to be made: `TABLE_A_B_idx` on the columns A and B.
package struct IndexDefinition: Sendable, Equatable {
  package var name: String
  package var table: String
  package var columns: [String]

  /// The statement that makes it; it does nothing where an index of that name exists.
  package func sql() throws(UpsurgeError) -> String {
    "CREATE INDEX IF NOT EXISTS \(try SQLName.quote(name)) ON \(try SQLName.quote(table))"
      + " (\(try SQLName.quoteList(columns)))"
  }

  /// The requested indexes that a table lacks. An index or key on the same columns in the same order
  /// counts, whatever its name.
  /// - Parameter indexes: the table's secondary indexes.
  /// - Throws: `usage` for a column that the table lacks, and for what is no table.
  package static func missing(
    _ requests: [[String]], schema: TableSchema, indexes: [SecondaryIndex], on connection: Connection
  ) throws(UpsurgeError) -> [IndexDefinition] {
    if requests.isEmpty { return [] }
    guard schema.kind == .table else {
      let kind = schema.kind == .view ? "view" : "\(schema.kind.rawValue) table"
      throw UpsurgeError(
        .usage, "\(schema.name.escapedForTerminal) is a \(kind), which can have no index",
        hint: "leave out \(.index)")
    }
    var taken = try namesInUse(connection)
    var definitions: [IndexDefinition] = []
    for request in requests {
      let columns = try known(request, schema: schema)
      let exists =
        indexes.contains { $0.serves(columns, of: schema) }
        || schema.keys.contains { !$0.isPartial && SecondaryIndex.isSame($0.parts, columns, schema) }
        || definitions.contains { $0.columns == columns }
      if exists { continue }
      let plain = ([schema.name] + columns).joined(separator: "_") + "_idx"
      var name = plain
      var number = 2
      while !taken.insert(SQLName.folded(name)).inserted {
        name = "\(plain)_\(number)"
        number += 1
      }
      definitions.append(IndexDefinition(name: name, table: schema.name, columns: columns))
    }
    return definitions
  }

  /// The columns as the table spells them.
  private static func known(_ request: [String], schema: TableSchema) throws(UpsurgeError) -> [String] {
    var columns: [String] = []
    for name in request {
      guard let index = schema.columnIndex(name) else {
        throw UpsurgeError(
          .usage,
          "\(.index) names \(name.escapedForTerminal), which is not a column of table \(schema.name.escapedForTerminal)",
          hint: "its columns are: \(schema.columns.map(\.name).joined(separator: ", ").escapedForTerminal)")
      }
      columns.append(schema.columns[index].name)
    }
    return columns
  }

  /// Tables and indexes share their names.
  private static func namesInUse(_ connection: Connection) throws(UpsurgeError) -> Set<String> {
    let statement = try connection.prepare("SELECT name FROM main.sqlite_schema")
    var names: Set<String> = []
    while try statement.step() { names.insert(SQLName.folded(statement.text(at: 0) ?? "")) }
    return names
  }
}
