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
  /// `Connection.serial`.
  var connection: Int
  var number: UInt32
}

extension Connection {
  /// Changes with every commit to the database, also of other connections, which are noticed when a transaction begins
  /// (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion).
  var dataVersion: DataVersion? {
    var number: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &number)
    return code == SQLITE_OK ? DataVersion(connection: serial, number: number) : nil
  }
}

extension TableSchema {
  /// Makes sure that rows for the columns that were can go into the table as it is: they are all there, and the same.
  /// - Throws: `database` where they are not.
  package func checkTakesRows(of old: TableSchema) throws(UpsurgeError) {
    let indexes = namingRowid(as: old).columnIndexes
    let columns = namingRowid(as: old).columns
    let isSame =
      kind == old.kind && isStrict == old.isStrict && isWithoutRowid == old.isWithoutRowid
      && old.columns.allSatisfy { column in
        indexes[SQLName.folded(column.name)].map { columns[$0] == column } ?? false
      }
    if !isSame { throw old.columnsHaveChanged }
  }

  /// The error for records of columns that the table no longer has as they were.
  package var columnsHaveChanged: UpsurgeError {
    UpsurgeError(
      .database,
      "another program has changed the columns of table \(name.escapedForTerminal) since records were read for it",
      hint: "run it again: records are read for the table as it is then, behind the last commit")
  }
}

extension TableWriter {
  /// Makes sure, in a transaction that has just begun, that the table still has the columns that the records were read
  /// for: another program may have changed it since.
  /// - Throws: `database` where it has.
  func checkColumns() throws(UpsurgeError) {
    var moment = schemaMoment ?? plan.schema.moment
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
    schemaMoment = moment
  }

  /// Notes that what has changed the database was the writer itself.
  func noteOwnCommit() { schemaMoment?.dataVersion = connection.dataVersion }
}
