import UpsurgeRecords
import UpsurgeSQLite

extension TableSchema {
  /// All names of the rowid, where no column has them (https://www.sqlite.org/lang_createtable.html#rowid).
  static let rowidNames = ["rowid", "oid", "_rowid_"]

  /// Whether SQLite takes a name for the rowid: it is one of its names, and no column of the table is called so.
  package func meansRowid(_ name: String) -> Bool {
    kind == .table && !isWithoutRowid && columnIndex(name) == nil
      && Self.rowidNames.contains { SQLName.isSame($0, name) }
  }

  /// The schema in which the rowid is a column and the PRIMARY KEY, where a target names it and the table has no PRIMARY
  /// KEY of its own; else the schema as it is.
  ///
  /// SQLite takes the name in place of a column's in every statement that is made of it.
  package func namingRowid(for target: ConflictTarget) -> TableSchema {
    switch target {
    case .columns(let names, nil) where names.count == 1: namingRowid(names[0])
    case .firstOf(let targets): targets.reduce(self) { $0.namingRowid(for: $1) }
    default: self
    }
  }

  /// This schema with the name for the rowid that another schema of the table has.
  package func namingRowid(as other: TableSchema) -> TableSchema { other.namedRowid.map(namingRowid) ?? self }

  private func namingRowid(_ name: String) -> TableSchema {
    guard namedRowid == nil, meansRowid(name), primaryKeyColumns.isEmpty else { return self }
    var schema = self
    schema.namedRowid = name
    schema.rowidAlias = columns.count
    schema.columns.append(
      Column(
        name: name, declaredType: "INTEGER", affinity: .integer, collation: "BINARY", isNotNull: false,
        notNullConflict: nil, defaultExpression: nil, generation: .none, isHidden: false, keyOrdinal: 1))
    schema.keys.insert(
      Key(
        kind: .primaryKey, indexName: nil, parts: [.init(column: name, collation: "BINARY")],
        isPartial: false, conflictClause: nil),
      at: 0)
    return schema
  }
}
