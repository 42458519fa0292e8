import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

extension MirrorJob {
  /// Looks at the schema of the database for what the job's feeds cannot follow; changes nothing, and reads no feed but the
  /// header of one that is a file.
  /// - Throws: `usage` for a job that cannot be, `database` for a file that is no database.
  public func check() throws(UpsurgeError) -> [SchemaWarning] {
    try validate()
    let connection = isOnServer || !databaseIsThere ? nil : try Connection.looking(at: database)
    let shelves = ServerShelves()
    if isOnServer { _ = try serverGroups(shelves) { _ in } }
    var warnings: [SchemaWarning] = []
    for table in tables {
      let server = try shelves.shelf(of: load(of: table)).map(ServerState.init)
      let state: (any MirrorState)? = server ?? connection
      var check = SchemaCheck(job: self, table: table)
      check.header = header(of: table)
      let schema = try state?.schema(of: table.name)
      warnings += check.wordWarnings(hasTable: schema != nil)
      guard let state, let schema else {
        warnings.append(check.missing())
        continue
      }
      warnings += check.warnings(schema, in: state)
    }
    if let connection {
      warnings += try keptRowFaults(on: connection).map { fault in
        SchemaWarning(table: fault.table, code: .keptRowsChange, message: fault.message, fix: fault.fix)
      }
    }
    return warnings
  }

  /// Looks at the SQL that the job says, as far as that needs neither a feed nor a database.
  /// - Throws: `usage`, in the words of the job.
  package func checkSQL() throws(UpsurgeError) {
    for table in tables {
      let fault = SchemaCheck(job: self, table: table).sqlFault(fields: nil, scope: table.scope)
      guard var fault = file == nil ? fault : fault?.ofJob else { continue }
      fault.said = "table \(table.name.escapedForTerminal): \(saying: fault.said)"
      throw fault
    }
  }

  private func header(of table: MirrorTable) -> [String]? {
    guard table.sources.count == 1, DeliveredFile.Stamp(table.sources[0]) != nil,
      let source = try? PreparedSource.prepare(table.sources[0], options: options(of: table)),
      case .csv(let sniffed) = source.shape, !sniffed.headerNames.isEmpty
    else { return nil }
    return sniffed.headerNames
  }
}
