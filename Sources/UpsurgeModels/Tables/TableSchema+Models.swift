import Upsurge

extension TableSchema {
  /// Makes sure that what the rows of a model have is what the table keeps.
  /// - Throws: `usage` where it would store values as others, which the model could not read, and for the index of another table.
  func checkKeepsRows<Model: Table>(of model: Model.Type, on connection: Connection) throws(UpsurgeError) {
    if kind == .virtual { try checkIsNoIndex(on: connection) }
    guard kind == .table else { return }
    for wanted in Model.columnDefinitions {
      guard let column = columns.first(where: { SQLName.isSame($0.name, wanted.name) }),
        !column.affinity.keeps(wanted.storage)
      else { continue }
      throw UpsurgeError(
        .usage,
        "the column \(column.name.escapedForTerminal) of the table \(name.escapedForTerminal) is \(column.declaredType.escapedForTerminal), and \(Model.self) has \(wanted.storage.rawValue) there, which it would store as something else",
        hint: "migrate the table, or change the model; checkTable(\(Model.self).self) tells all differences")
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
    throw UpsurgeError(
      .usage,
      "\(name.escapedForTerminal) is an index of the text in \(content.escapedForTerminal), and has no rows of its own",
      hint: "store rows in \(content.escapedForTerminal): its triggers keep the index right")
  }
}

extension Affinity {
  /// Whether values of a storage class stay what they are (https://www.sqlite.org/datatype3.html#type_affinity). Text that is no
  /// number, as a date is not, stays text in a NUMERIC column.
  fileprivate func keeps(_ storage: StorageClass) -> Bool {
    switch (self, storage) {
    case (.text, .integer), (.text, .real), (.real, .integer), (.integer, .text), (.real, .text): false
    default: true
    }
  }
}
