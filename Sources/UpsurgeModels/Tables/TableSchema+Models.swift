import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

extension TableSchema {
  /// Makes sure that what a call stores of a model's rows is what the table keeps.
  /// - Throws: `usage` where it would store values as others, which the model could not read, and for the index of another table.
  func checkKeepsRows<Model: Table>(
    of model: Model.Type, _ rules: UpsertRules, on connection: Connection
  ) throws(UpsurgeError) {
    if kind == .virtual { try checkIsNoIndex(on: connection) }
    guard kind == .table, rules.mode != .delete else { return }
    for wanted in Model.columnDefinitions {
      // What a row has and keeps is not stored.
      let isKept = rules.merge.columns[wanted.name] == .expression(wanted.name.quotedIdentifier)
      guard let column = columns.first(where: { SQLName.isSame($0.name, wanted.name) }),
        !(rules.mode == .update && isKept), !column.keeps(wanted)
      else { continue }
      throw UpsurgeError(
        .usage,
        "the column \(column.name.escapedForTerminal) of the table \(name.escapedForTerminal) is \(column.declaredType.escapedForTerminal), and \(Model.self) has \(wanted.storage.rawValue) there, which it would store as something else",
        hint: "migrate the table, or change the model; checkTable(\(Model.self).self) lists all differences")
    }
  }

  /// Rows that are written to an index alone are not in the table that it is of: FTS5 takes it for damaged then.
  private func checkIsNoIndex(on connection: Connection) throws(UpsurgeError) {
    let sql = try connection.text(
      "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = \(try SQLName.literal(name)) COLLATE NOCASE"
    )
    guard let sql, case .external(let content)? = FullTextTable.parse(name: name, sql: sql)?.content else {
      return
    }
    // Without triggers a program keeps the index right itself.
    let isKept = try connection.integer(
      """
      SELECT 1 FROM main.sqlite_schema
      WHERE type = 'trigger' AND tbl_name = \(try SQLName.literal(content)) COLLATE NOCASE
        AND instr(lower(sql), lower(\(try SQLName.literal(name)))) LIMIT 1
      """)
    if isKept == nil { return }
    throw UpsurgeError(
      .usage,
      "\(name.escapedForTerminal) is an index of the text in \(content.escapedForTerminal), and has no rows of its own",
      hint: "store rows in \(content.escapedForTerminal): its triggers keep the index right")
  }
}

extension TableSchema.Column {
  /// Whether values of a model's column stay what they are (https://www.sqlite.org/datatype3.html#type_affinity). Text of a date, say,
  /// is no number, and stays text in any column; of any text, as of a String, that is not sure.
  fileprivate func keeps(_ column: ColumnDefinition) -> Bool {
    switch (affinity, column.storage) {
    case (.text, .integer), (.text, .real), (.real, .integer): false
    case (.integer, .text), (.real, .text):
      !["INT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "FLOAT"].contains(declaredType.uppercased())
        || column.storing?.stored("") == nil
    default: true
    }
  }
}
