import UpsurgeRecords
import UpsurgeSQLite

extension Database {
  /// In what the table of a model is different from what the model says; empty where rows go from one to the other. Columns that
  /// the model does not have are no difference, unless a row cannot be inserted without them.
  public func differences<Model: Table>(
    of model: Model.Type
  ) async throws(UpsurgeError) -> [SchemaDifference] {
    try await reader.perform { (connection) throws(UpsurgeError) in
      guard let schema = try TableSchema.read(connection, table: Model.tableName), !schema.columns.isEmpty
      else {
        return [SchemaDifference(text: "there is no such table")]
      }
      return schema.differences(from: model)
    }
  }

  /// Makes sure that the table of a model is what the model says.
  /// - Throws: `usage` where it is not, with all differences.
  public func checkTable<Model: Table>(_ model: Model.Type) async throws(UpsurgeError) {
    let differences = try await differences(of: model)
    if differences.isEmpty { return }
    let lines = differences.map { "\n  \($0.description.escapedForTerminal)" }.joined()
    throw UpsurgeError(
      .usage, "the table \(Model.tableName.escapedForTerminal) is not what \(Model.self) says:\(lines)",
      hint: "migrate the table, or change the model; createTableSQL is what it would be")
  }
}
