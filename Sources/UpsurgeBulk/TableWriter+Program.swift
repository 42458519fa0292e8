import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

extension TableWriter {
  /// A writer for records that a program holds.
  /// - Parameters:
  ///   - connection: configured, and owned by the calling thread.
  ///   - columns: the columns of the table that the records speak of, in the order of their values.
  /// - Throws: `usage` when there is no such table or column, or the rules do not fit it; `databaseBusy`; `database`.
  package convenience init(
    on connection: Connection, table: String, columns: [String], rules: UpsertRules, settings: WriterSettings,
    observer: (any RecordObserver)? = nil, rejectSink: @escaping (Reject) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) {
    guard let schema = try TableSchema.read(connection, table: table) else {
      throw UpsurgeError(
        .usage, "\(connection.path.escapedForTerminal) has no table \(table.escapedForTerminal)",
        hint: "make the table first")
    }
    var targets: [ColumnTarget] = []
    for name in columns {
      guard let target = schema.columnTarget(name, spellingPolicy: .warn) else {
        throw UpsurgeError(
          .usage,
          "table \(schema.name.escapedForTerminal) has no column \(name.escapedForTerminal)",
          hint: "its columns are: \(schema.columns.map(\.name).joined(separator: ", ").escapedForTerminal)")
      }
      targets.append(target)
    }
    try self.init(
      connection: connection, plan: UpsertPlan(schema: schema, rules: rules, columns: targets),
      sourceNames: [ReturnedRows.source], settings: settings, observer: observer, rejectSink: rejectSink)
  }
}
