import CSQLite
import UpsurgeRecords

/// When a connection has looked at a schema.
package struct SchemaMoment: Sendable, Equatable {
  /// Nil for a moment that is not known.
  package var dataVersion: DataVersion?
  /// The database's count of changes of its schema.
  package var schemaVersion: Int64?

  package init(dataVersion: DataVersion? = nil, schemaVersion: Int64? = nil) {
    self.dataVersion = dataVersion
    self.schemaVersion = schemaVersion
  }
}

/// A connection's count of changes of its database, its own and those of others.
package struct DataVersion: Sendable, Equatable {
  /// `Connection.serial`.
  var connection: Int
  var number: UInt32
}

extension Connection {
  /// Changes with every commit to the database, also of other connections, which are noticed when a transaction begins
  /// (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion).
  package var dataVersion: DataVersion? {
    var number: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &number)
    return code == SQLITE_OK ? DataVersion(connection: serial, number: number) : nil
  }
}
