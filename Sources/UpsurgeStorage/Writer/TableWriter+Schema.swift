import UpsurgeRecords
import UpsurgeSQLite

extension TableWriter {
  /// Makes sure, in a transaction that has just begun, that the table still has the columns that the records were read
  /// for: another program may have changed it since.
  /// - Throws: `database` where it has.
  func checkColumns() throws(UpsurgeError) {
    var moment = bound.moment ?? plan.schema.moment
    let version = connection.dataVersion
    if version == nil || version != moment.dataVersion {
      let schemaVersion = try connection.integer("PRAGMA main.schema_version")
      if schemaVersion != moment.schemaVersion && !plan.schema.columns.isEmpty {
        guard let schema = try TableSchema.read(connection, table: plan.schema.name) else {
          throw plan.schema.columnsHaveChanged
        }
        try schema.checkTakesRows(of: plan.schema)
      }
      moment = SchemaMoment(dataVersion: version, schemaVersion: schemaVersion)
    }
    bound.moment = moment
  }

  /// Notes that what has changed the database was the writer itself.
  func noteOwnCommit() { bound.moment?.dataVersion = connection.dataVersion }
}
