import UpsurgeRecords

extension Table {
  /// The statement that makes the model's table, a STRICT one; without a semicolon.
  ///
  /// A key of one INTEGER column is the rowid itself. Columns are NOT NULL unless their properties are optional.
  /// A key that is a UUID has a DEFAULT that makes one, which drafts get.
  public static var createTableSQL: String { createTableSQL(ifNotExists: false) }

  /// - Throws: `usage` for a model of a full-text index, which `createTableSQL` is not for.
  /// - Parameter call: what makes such an index.
  package static func checkIsOrdinary(otherwise call: String) throws(UpsurgeError) {
    if self is any SearchTable.Type {
      throw UpsurgeError(
        .usage, "\(self) is a full-text index, and no table",
        hint: "\(call)\(self).self, of: TABLE.self) makes it")
    }
  }

  static func createTableSQL(ifNotExists: Bool) -> String {
    let keys = columnDefinitions.filter(\.isPrimaryKey)
    let rowid = rowidColumn
    var lines = columnDefinitions.map { column in
      var line = "  \(column.name.quotedIdentifier) \(column.storage.rawValue)"
      if column.name == rowid { return line + " PRIMARY KEY" }
      if !column.isNullable { line += " NOT NULL" }
      // Text with a NUL, which SQL cannot spell, is no default.
      if let value = column.defaultValue, let literal = try? value.literal() {
        line += " DEFAULT \(literal)"
      } else if keys.count == 1 && column.isPrimaryKey, let sql = column.storing?.newKeySQL {
        line += " DEFAULT (\(sql))"
      }
      return line
    }
    if !keys.isEmpty && rowid == nil {
      lines.append("  PRIMARY KEY (\(keys.map(\.name.quotedIdentifier).joined(separator: ", ")))")
    }
    let condition = ifNotExists ? "IF NOT EXISTS " : ""
    return
      "CREATE TABLE \(condition)\(tableName.quotedIdentifier) (\n\(lines.joined(separator: ",\n"))\n) STRICT"
  }
}
