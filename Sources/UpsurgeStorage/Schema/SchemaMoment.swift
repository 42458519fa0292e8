import CSQLite
import UpsurgeRecords

/// When a connection has looked at a schema. It says nothing of the schema itself: all moments are equal.
package struct SchemaMoment: Sendable, Equatable {
  /// Nil for a moment that is not known.
  var dataVersion: DataVersion?
  /// The database's count of changes of its schema.
  var schemaVersion: Int64?

  package static func == (left: Self, right: Self) -> Bool { true }
}

/// A connection's count of changes of its database, its own and those of others.
struct DataVersion: Sendable, Equatable {
  var connection: Int
  var number: UInt32
}

extension Connection {
  /// Changes with every commit to the database, also of other connections, which are noticed when a transaction begins
  /// (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion).
  var dataVersion: DataVersion? {
    var number: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &number)
    return code == SQLITE_OK ? DataVersion(connection: Int(bitPattern: handle), number: number) : nil
  }
}

extension TableSchema {
  /// Whether rows for the columns that were can go into the table as it is: they are all there and the same, in front of
  /// what has come.
  fileprivate func takesRows(of old: TableSchema) -> Bool {
    kind == old.kind && isStrict == old.isStrict && isWithoutRowid == old.isWithoutRowid
      && columns.starts(with: old.columns)
  }
}

extension TableWriter {
  /// Makes sure, in a transaction that has just begun, that the table still has the columns that the records were read
  /// for: another program may have changed it since.
  /// - Throws: `database` where it has.
  func checkColumns() throws(UpsurgeError) {
    let known = schemaMoment ?? plan.schema.moment
    let version = connection.dataVersion
    if let version, version == known.dataVersion { return }
    let schemaVersion = try connection.integer("PRAGMA main.schema_version")
    schemaMoment = SchemaMoment(dataVersion: version, schemaVersion: schemaVersion)
    if schemaVersion == known.schemaVersion || plan.schema.columns.isEmpty { return }
    let table = plan.schema.name
    if let schema = try TableSchema.read(connection, table: table), schema.takesRows(of: plan.schema) {
      return
    }
    throw UpsurgeError(
      .database,
      "another program has changed the columns of table \(table.escapedForTerminal) since records were read for it",
      hint: "run it again: records are read for the table as it is then, behind the last commit")
  }

  /// Notes that what has changed the database was the writer itself.
  func noteOwnCommit() {
    var moment = schemaMoment ?? plan.schema.moment
    moment.dataVersion = connection.dataVersion
    schemaMoment = moment
  }
}
