import UpsurgeRecords
import UpsurgeStorage

extension MirrorJob {
  /// Looks at the schema of the database for what the job's feeds cannot follow; reads no feed and changes nothing.
  /// - Throws: `usage` for a job that cannot be, `database` for a file that is no database.
  public func check() throws(UpsurgeError) -> [SchemaWarning] {
    try validate()
    let connection = databaseIsThere ? try Connection.looking(at: database) : nil
    var warnings: [SchemaWarning] = []
    for table in tables {
      let schema = try connection.flatMap { (connection) throws(UpsurgeError) in
        try TableSchema.read(connection, table: table.name)
      }
      let check = SchemaCheck(job: self, table: table)
      guard let connection, let schema else {
        warnings.append(check.missing())
        continue
      }
      warnings += check.warnings(schema, on: connection)
    }
    return warnings
  }
}
