import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

extension TableWriter {
  /// Adds the columns that the table lacks, inside the transaction.
  /// - Throws: `guardRefused` when the settings do not let columns be added.
  func addMissing(_ columns: [ColumnTarget], at position: Position?) throws(UpsurgeError) {
    var missing = missing(columns, in: plan.schema)
    if missing.isEmpty { return }
    if !settings.addsColumns {
      var error = UpsertPlan.lacking(missing.map(\.name), table: plan.schema.name)
      error.position = position
      throw error
    }
    try begin()
    // Where the schema has not changed since the plan was made, nor has the table.
    let version = try connection.integer("PRAGMA main.schema_version")
    if version != plan.schema.moment.schemaVersion,
      let schema = try TableSchema.read(connection, table: plan.schema.name)?.namingRowid(as: plan.schema)
    {
      // Another load may have added some of them, which is fine where they are what this one would have made.
      let come = missing
      missing = self.missing(columns, in: schema)
      for column in come where schema.columnIndex(column.name) != nil {
        let found = schema.columnTarget(column.name, spellingPolicy: column.spellingPolicy)
        if found?.affinity != column.affinity { throw plan.schema.columnsHaveChanged }
      }
    }
    for column in missing {
      let type = TableDefinition.declaredType(for: column.affinity, isStrict: plan.schema.isStrict)
      let added = TableDefinition.Column(name: column.name, declaredType: type)
      let sql = try TableDefinition.addColumnSQL(
        table: plan.schema.name, column: added, isStrict: plan.schema.isStrict)
      try connection.execute(sql)
      stages.references?.didAddColumn(sql)
      tally.warnings.add(
        .columnAdded, column: column.name, at: position ?? Position(file: self.sourceName(0)))
    }
  }

  private func missing(_ columns: [ColumnTarget], in schema: TableSchema) -> [ColumnTarget] {
    let known = schema.columnIndexes
    return columns.filter { column in
      // A tombstone's column need not be one of the table.
      known[SQLName.folded(column.name)] == nil
        && !SQLName.isSame(column.name, plan.rules.tombstone?.column ?? "")
    }
  }
}
