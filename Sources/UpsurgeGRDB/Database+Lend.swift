#if GRDB
  import GRDB
  import UpsurgeModels

  extension GRDB.Database {
    /// Stores the rows of one call: all of them, or none where it throws.
    func store<Row: TableRow>(_ rows: some Sequence<Row>, _ call: BulkCall<Row>) throws -> MirrorResult {
      try lend(for: Row.TableModel.tableName) { connection in
        try call.store(rows, on: connection, rowSize: WriterTarget.maximumRowSize)
      } stored: {
        $0
      }
    }

    /// Lends the connection to the engine, in a savepoint, or in a transaction where none is open. Reports to the observers
    /// what has changed.
    /// - Parameters:
    ///   - table: the table that is written.
    ///   - stored: what has become of rows; nil where what was written is taken back.
    func lend<Result>(
      for table: String, _ work: (Connection) throws -> Result, stored: (Result) -> MirrorResult?
    ) throws -> Result {
      var result: Result?
      try inSavepoint {
        guard let handle = sqliteConnection else {
          throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database connection is closed")
        }
        if try isReading {
          throw UpsurgeError(
            .usage, "rows cannot be stored while the database is only read",
            hint: "call write { db in … }, on a database that is not opened readonly")
        }
        let changes = totalChangesCount
        let end = try work(Connection(borrowing: handle))
        result = end
        if totalChangesCount != changes, let stored = stored(end) {
          // Which rows of which tables a trigger or a foreign key's action has changed, nobody says; a trigger may have done so
          // for a row that was ignored.
          if try hasSideEffects(table) {
            try notifyChanges(in: .fullDatabase)
          } else if stored.hasChanges {
            try notifyChanges(in: GRDB.Table(table))
          }
        }
        return .commit
      }
      guard let result else {
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the transaction did not run")
      }
      return result
    }

    /// Whether what GRDB runs may only read.
    private var isReading: Bool {
      get throws {
        let isQueryOnly = try Bool.fetchOne(self, sql: "PRAGMA query_only") ?? false
        return isQueryOnly || configuration.readonly
      }
    }

    /// Whether changes of a table may change others.
    private func hasSideEffects(_ table: String) throws -> Bool {
      try Bool.fetchOne(
        self,
        sql: """
          SELECT EXISTS (
            SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
            UNION ALL
            SELECT 1 FROM sqlite_temp_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
            UNION ALL
            SELECT 1 FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS reference
            WHERE child.type = 'table' AND reference."table" = ?1 COLLATE NOCASE
              AND (reference.on_delete NOT IN ('NO ACTION', 'RESTRICT')
                OR reference.on_update NOT IN ('NO ACTION', 'RESTRICT')))
          """, arguments: [table]) ?? true
    }
  }
#endif
