import UpsurgeRecords
import UpsurgeSQLite

extension TableSchema {
  /// The table's side of records: columns of the key are `.key` or `.newKey`, where a text that would become another key is a reject.
  /// - Parameters:
  ///   - columns: some of the table's; nil is all of them.
  ///   - spellingPolicy: of the other columns; `.reject` for a table that the run has made.
  ///   - consented: columns whose texts are taken for numbers, as somebody has said; any case.
  package func targets(
    of columns: [Column]? = nil, spellingPolicy: ColumnTarget.SpellingPolicy, rules: UpsertRules,
    consented: [String]
  ) -> [ColumnTarget] {
    let key = keyColumns(of: rules)
    return (columns ?? self.columns).map { column in
      let isKey = key.contains { SQLName.isSame($0, column.name) }
      let isConsented = consented.contains { SQLName.isSame($0, column.name) }
      if !isKey { return column.target(spellingPolicy: isConsented ? .warn : spellingPolicy) }
      return column.target(
        spellingPolicy: isConsented ? .warn : spellingPolicy == .reject ? .newKey : .key)
    }
  }

  /// The columns that tell which row a record is about, by name; those that the records lack may be among them.
  package func keyColumns(of rules: UpsertRules) -> [String] {
    let names = keyColumns(of: rules.target)
    // Without a key of its own, a record that conflicts with any key is passed over.
    return names.isEmpty && rules.mode == .ignore ? keyColumns(of: .any) : names
  }

  private func keyColumns(of target: ConflictTarget) -> [String] {
    switch target {
    case .primaryKey: primaryKeyColumns
    case .columns(let names, let predicate):
      key(names, where: predicate).map(columnNames) ?? names.map { rowidColumn($0) ?? $0 }
    case .index(let name):
      keys.first { SQLName.isSame($0.indexName ?? "", name) }.map(columnNames) ?? []
    case .any: keys.flatMap(columnNames)
    case .firstOf(let targets): targets.flatMap(keyColumns)
    }
  }

  private func columnNames(of key: Key) -> [String] {
    columns.indices.filter { key.speaks(of: $0, in: self) }.map { columns[$0].name }
  }
}
