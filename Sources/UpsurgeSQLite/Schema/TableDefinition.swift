import UpsurgeRecords

/// A table to be made.
package struct TableDefinition: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package var name: String
    /// `INTEGER`, `REAL`, `TEXT`, `NUMERIC`, `BLOB`, `ANY`, or nothing.
    package var declaredType: String
    package var isNotNull = false
    /// What a record that lacks the column gets; stored as a number where it is one and the column is not of text.
    package var defaultValue: String?

    package init(name: String, declaredType: String) {
      self.name = name
      self.declaredType = declaredType
    }

    /// The constraints after the type.
    fileprivate func constraints(isKey: Bool) throws(UpsurgeError) -> String {
      var text = isKey || isNotNull ? " NOT NULL" : ""
      if let value = defaultValue {
        let isNumber =
          Int64(value).map { String($0) == value } ?? Double(value).map { "\($0)" == value } ?? false
        let isPlain =
          isNumber && Double(value)?.isFinite == true && Affinity(declaredType: declaredType) != .text
        text += " DEFAULT " + (isPlain ? value : try SQLName.literal(value))
      }
      return text
    }
  }

  package var name: String
  package var columns: [Column]
  /// The PRIMARY KEY's columns in order; empty for none.
  package var keyColumns: [String]
  package var isStrict: Bool

  package init(name: String, columns: [Column], keyColumns: [String] = [], isStrict: Bool = false) {
    self.name = name
    self.columns = columns
    self.keyColumns = keyColumns
    self.isStrict = isStrict
  }

  /// The CREATE TABLE statement, without a final semicolon.
  ///
  /// A key of one INTEGER column becomes `INTEGER PRIMARY KEY`, the rowid itself; another key becomes a
  /// `PRIMARY KEY (a, b)` whose columns are NOT NULL.
  /// - Throws: `usage` for a name that cannot be, a column twice, or a key column that is missing.
  package func sql() throws(UpsurgeError) -> String {
    try checkNames()
    let rowidColumn = keyColumns.count == 1 ? columns.first { isRowid($0) }?.name : nil
    var lines: [String] = []
    for column in columns {
      var line = "  " + (try SQLName.quote(column.name))
      let type = isStrict && column.declaredType.isEmpty ? "ANY" : column.declaredType
      if !type.isEmpty { line += " " + type }
      if let rowidColumn, SQLName.isSame(column.name, rowidColumn) {
        line += " PRIMARY KEY"
      } else {
        line += try column.constraints(isKey: keyColumns.contains { SQLName.isSame($0, column.name) })
      }
      lines.append(line)
    }
    if !keyColumns.isEmpty && rowidColumn == nil {
      lines.append("  PRIMARY KEY (\(try SQLName.quoteList(keyColumns)))")
    }
    let body = lines.joined(separator: ",\n")
    return "CREATE TABLE \(try SQLName.quote(name)) (\n\(body)\n)\(isStrict ? " STRICT" : "")"
  }

  /// The statement that adds a column to a table that exists.
  package static func addColumnSQL(table: String, column: Column, isStrict: Bool) throws(UpsurgeError)
    -> String
  {
    let type = isStrict && column.declaredType.isEmpty ? "ANY" : column.declaredType
    let name = try SQLName.quote(column.name)
    return "ALTER TABLE \(try SQLName.quote(table)) ADD COLUMN \(name)\(type.isEmpty ? "" : " " + type)"
  }

  /// The type to declare for a column of this affinity.
  package static func declaredType(for affinity: Affinity, isStrict: Bool) -> String {
    switch affinity {
    case .none: isStrict ? "ANY" : ""
    case .text: "TEXT"
    case .numeric: isStrict ? "ANY" : "NUMERIC"
    case .integer: "INTEGER"
    case .real: "REAL"
    }
  }

  private func isRowid(_ column: Column) -> Bool {
    SQLName.isSame(column.declaredType, "INTEGER") && SQLName.isSame(column.name, keyColumns[0])
  }

  private func checkNames() throws(UpsurgeError) {
    if columns.isEmpty {
      throw UpsurgeError(.usage, "the table \(name.escapedForTerminal) would have no column")
    }
    if SQLName.folded(name).hasPrefix("sqlite_") {
      throw UpsurgeError(
        .usage,
        "the table name \(name.escapedForTerminal) is reserved: names that begin with sqlite_ are SQLite's own"
      )
    }
    var seen: Set<String> = []
    for column in columns where !seen.insert(SQLName.folded(column.name)).inserted {
      throw UpsurgeError(
        .usage,
        "the table \(name.escapedForTerminal) would have two columns named \(column.name.escapedForTerminal)",
        hint: "give one of them another name: SQLite does not tell A from a")
    }
    for key in keyColumns where !seen.contains(SQLName.folded(key)) {
      throw UpsurgeError(
        .usage, "the key column \(key.escapedForTerminal) is not among the columns of the input",
        hint: "\(.key) takes names of: \(columns.map(\.name).joined(separator: ", ").escapedForTerminal)")
    }
  }
}
