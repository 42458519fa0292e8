import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// - Parameter key: the columns of the key; empty is the table's primary key.
  package init(
    schema: TableSchema, key: [String] = [], mode: WriteMode? = nil, columns: [ColumnTarget]
  ) throws(UpsurgeError) {
    let target: ConflictTarget = key.isEmpty ? .primaryKey : .columns(key)
    try self.init(schema: schema, rules: UpsertRules(target: target, mode: mode), columns: columns)
  }
}
