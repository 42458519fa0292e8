import UpsurgeRecords
import UpsurgeState

extension Database {
  /// Changes integer primary keys of these models' tables into UUIDs, and all columns that refer to them by a foreign key. It
  /// is for a migration before models whose `id` is a UUID stored as text in lower case. See `MigrateKeys`.
  ///
  ///     try await database.migratePrimaryKeys(of: List.self, Reminder.self)
  ///
  /// - Parameters:
  ///   - models: whose tables' keys are changed.
  ///   - salt: makes the UUIDs others than those of other databases.
  /// - Throws: `usage` for a table that is missing, or whose key is not one column. It is also thrown for a model that stores UUIDs
  ///   of its key in another form. `guardRefused` where references are broken, or a feed or a load that has not ended would
  ///   bring integers again; `database`. Nothing has changed then.
  @discardableResult
  public func migratePrimaryKeys(
    of models: any Table.Type..., salt: String? = nil
  ) async throws(UpsurgeError) -> KeyMigrationSummary {
    for model in models {
      guard let key = model.columnDefinitions.first(where: \.isPrimaryKey), let sql = key.storing?.newKeySQL,
        sql != KeyMigration.newUUID
      else { continue }
      throw UpsurgeError(
        .usage,
        "\(model) stores the UUIDs of its key \(key.name.escapedForTerminal) in another form than text in lower case, which the migration writes",
        hint: "leave out @Column(as:) at the key")
    }
    let names = models.map { $0.tableName }
    return try await writer.perform { (connection) throws(UpsurgeError) in
      try KeyMigration.run(names, salt: salt, on: connection)
    }
  }
}
