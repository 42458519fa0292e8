#if GRDB
  import GRDB
  import UpsurgeModels

  extension GRDB.Database {
    /// Adds the SQL functions of the engine: `uuid()`, where the connection has none, and `upsurge_is_synchronizing()`, which is true in
    /// bulk calls with `BulkOptions.isSynchronizing`. Where triggers or defaults call them, add them to every connection:
    ///
    ///     configuration.prepareDatabase { db in try db.addUpsurgeFunctions() }
    public func addUpsurgeFunctions() throws {
      guard let handle = sqliteConnection else {
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database connection is closed")
      }
      try BorrowedHandle.prepare(handle)
    }
  }
#endif
