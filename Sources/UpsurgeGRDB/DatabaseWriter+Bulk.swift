#if GRDB
  import GRDB
  import UpsurgeModels

  /// Many models a call, each call in a transaction of its own.
  ///
  /// Rows are made on the caller's task while others are stored. What gives the rows must not use the database's writer, which
  /// waits for them. The task's cancellation takes all of a call back.
  extension DatabaseWriter {
    /// Inserts rows, and changes those that exist; rows that already say so are not touched.
    /// - Parameters: as of `GRDB.Database.upsert`.
    /// - Returns: what became of the rows.
    /// - Throws: `CancellationError`; as `GRDB.Database.upsert`.
    @discardableResult
    public func upsert<Row: TableRow>(
      _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>...,
      where predicate: (@Sendable (Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>)? = nil,
      newer: ColumnPath<Row>? = nil,
      when condition: (
        @Sendable (Row.TableModel.TableColumns, Row.TableModel.TableColumns) ->
          UpsurgeModels.SQLExpression<Bool>
      )? = nil,
      merge: (@Sendable (inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions()
    ) async throws -> Ledger {
      let rules = try UpsertRules(
        .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
        model: Row.TableModel.self)
      return try await store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Inserts rows; one whose key exists cannot be stored.
    @discardableResult
    public func insert<Row: TableRow>(
      _ rows: sending some Sequence<Row>, options: BulkOptions = BulkOptions()
    ) async throws -> Ledger {
      try await store(rows, BulkCall(UpsertRules(mode: .insert), options: options)).ledger
    }

    /// Inserts rows whose key does not exist; others are ignored.
    /// - Parameters: as of `upsert`.
    @discardableResult
    public func insertOrIgnore<Row: TableRow>(
      _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions()
    ) async throws -> Ledger {
      let rules = try UpsertRules(.ignore, key: key, model: Row.TableModel.self)
      return try await store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Changes rows that exist; rows that do not are ignored.
    /// - Parameters: as of `upsert`.
    @discardableResult
    public func update<Row: TableRow>(
      _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>..., newer: ColumnPath<Row>? = nil,
      merge: (@Sendable (inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions()
    ) async throws -> Ledger {
      let rules = try UpsertRules(.update, key: key, newer: newer, merge: merge, model: Row.TableModel.self)
      return try await store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Deletes the rows that have the same key; those that do not exist are ignored.
    /// - Parameters: as of `upsert`.
    @discardableResult
    public func delete<Row: TableRow>(
      _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions()
    ) async throws -> Ledger {
      let rules = try UpsertRules(.delete, key: key, model: Row.TableModel.self)
      return try await store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Brings a table in step with a snapshot.
    /// - Parameters: as of `GRDB.Database.mirror`.
    /// - Throws: as `upsert`; `guardRefused` for a row outside of the scope: nothing is stored then.
    public func mirror<Row: TableRow>(
      _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>...,
      newer: ColumnPath<Row>? = nil,
      when condition: (
        @Sendable (Row.TableModel.TableColumns, Row.TableModel.TableColumns) ->
          UpsurgeModels.SQLExpression<Bool>
      )? =
        nil,
      merge: (@Sendable (inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      sweeping sweep: Sweep<Row.TableModel>,
      scope: (@Sendable (Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>)? = nil,
      guards: SweepGuards = SweepGuards(), options: BulkOptions = BulkOptions()
    ) async throws -> MirrorResult {
      let rules = try UpsertRules(
        .upsert, key: key, newer: newer, when: condition, merge: merge,
        model: Row.TableModel.self)
      return try await store(
        rows, BulkCall(rules, mirroring: sweep, scope: scope, guards: guards, options: options))
    }

    private func store<Row: TableRow>(
      _ rows: sending some Sequence<Row>, _ call: BulkCall<Row>
    ) async throws -> MirrorResult {
      try await BulkWrite(call, in: WriterTarget(writer: self, table: Row.TableModel.tableName)).store(rows)
    }
  }

  /// A table of a database of GRDB's.
  struct WriterTarget: BulkTarget {
    let writer: any DatabaseWriter
    let table: String

    static var maximumRowSize: ByteSize { .mebibytes(16) }
    var maximumRowSize: ByteSize { Self.maximumRowSize }
    var identity: ObjectIdentifier { ObjectIdentifier(writer) }

    func withConnection(
      _ work: @escaping @Sendable (Connection) throws(UpsurgeError) -> BulkStored?
    ) async throws -> BulkStored? {
      try await writer.write { db in
        try db.lend(for: table, work) { $0?.result }
      }
    }
  }
#endif
