#if GRDB
  import GRDB
  import UpsurgeModels

  /// Many models a call, inside of a transaction of GRDB's:
  ///
  ///     try dbQueue.write { db in
  ///       try db.upsert(players, on: \.name)
  ///     }
  ///
  /// Each call is whole: where it throws, nothing of it stays, whatever becomes of the transaction. Observers are told once, when
  /// the transaction is committed, and only where something has changed; a `TransactionObserver` gets `databaseDidChange()`
  /// instead of an event for each row. Foreign keys that are DEFERRABLE are looked at by the transaction's own COMMIT.
  /// `BulkOptions.commitEvery` means nothing here.
  extension GRDB.Database {
    /// Inserts rows, and changes those that exist; rows that already say so are not touched.
    /// - Parameters:
    ///   - rows: models, or drafts of them.
    ///   - key: the columns of a primary key, a UNIQUE constraint or a UNIQUE index, in any order; none for the primary key.
    ///   - predicate: the condition of a partial UNIQUE index.
    ///   - newer: last-write-wins: a row only changes where its column is not larger than the record's.
    ///   - condition: a row only changes where this is true.
    ///   - merge: what a row that exists becomes; without it every column takes the record's value.
    ///   - options: errors, keys.
    /// - Returns: what became of the rows.
    /// - Throws: `UpsurgeError`: `usage`, where the table or its keys do not fit; `badInput` at the first row that cannot be stored,
    ///   unless the options go on; `database`. `DatabaseError`.
    @discardableResult
    public func upsert<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>...,
      where predicate: ((Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>)? = nil,
      newer: ColumnPath<Row>? = nil,
      when condition: (
        (Row.TableModel.TableColumns, Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>
      )? = nil,
      merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions()
    ) throws -> Ledger {
      let rules = try UpsertRules(
        .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
        model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Inserts rows; one whose key exists cannot be stored.
    @discardableResult
    public func insert<Row: TableRow>(
      _ rows: some Sequence<Row>, options: BulkOptions = BulkOptions()
    ) throws -> Ledger {
      try store(rows, BulkCall(UpsertRules(mode: .insert), options: options)).ledger
    }

    /// Inserts rows whose key does not exist; others are ignored.
    /// - Parameters: as of `upsert`.
    @discardableResult
    public func insertOrIgnore<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions()
    ) throws -> Ledger {
      let rules = try UpsertRules(.ignore, key: key, model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Changes rows that exist; rows that do not are ignored.
    /// - Parameters: as of `upsert`.
    @discardableResult
    public func update<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., newer: ColumnPath<Row>? = nil,
      merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions()
    ) throws -> Ledger {
      let rules = try UpsertRules(.update, key: key, newer: newer, merge: merge, model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Deletes the rows that have the same key; those that do not exist are ignored.
    /// - Parameters: as of `upsert`.
    @discardableResult
    public func delete<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions()
    ) throws -> Ledger {
      let rules = try UpsertRules(.delete, key: key, model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options)).ledger
    }

    /// Brings a table in step with a snapshot: new rows are inserted, changed ones changed, equal ones not touched, and rows that
    /// the snapshot does not have are swept.
    /// - Parameters:
    ///   - rows: all that the table is to have; a draft without its key is rejected, unless another one is named.
    ///   - key: as of `upsert`.
    ///   - newer: as of `upsert`; a row that stays as it is for it is in the snapshot all the same.
    ///   - condition: the same.
    ///   - merge: as of `upsert`.
    ///   - sweep: what becomes of rows that are not among them.
    ///   - scope: the rows that the snapshot speaks of; others are neither swept nor may they be in it.
    ///   - guards: what keeps a snapshot that is cut off from emptying the table.
    ///   - options: as of `upsert`, but `commitEvery`: a snapshot is one transaction.
    /// - Throws: as `upsert`; `guardRefused` for a row outside of the scope: nothing is stored then.
    public func mirror<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>...,
      newer: ColumnPath<Row>? = nil,
      when condition: (
        (Row.TableModel.TableColumns, Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>
      )? =
        nil,
      merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      sweeping sweep: Sweep<Row.TableModel>,
      scope: ((Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>)? = nil,
      guards: SweepGuards = SweepGuards(), options: BulkOptions = BulkOptions()
    ) throws -> MirrorResult {
      let rules = try UpsertRules(
        .upsert, key: key, newer: newer, when: condition, merge: merge,
        model: Row.TableModel.self)
      return try store(
        rows, BulkCall(rules, mirroring: sweep, scope: scope, guards: guards, options: options))
    }

    /// Makes the table of a model, in a migration for example.
    public func create<Model: UpsurgeModels.Table>(table model: Model.Type) throws {
      try Model.checkIsOrdinary(otherwise: "create(searchTable: ")
      try execute(sql: Model.createTableSQL)
    }

    /// Makes the full-text index of a model's table, with the triggers that keep it right, and fills it.
    /// - Throws: `UpsurgeError`: `usage` for a column that the table does not have. `DatabaseError`, also when the index is there
    ///   already. Nothing is made then.
    public func create<Search: SearchTable, Content: UpsurgeModels.Table>(
      searchTable search: Search.Type, of content: Content.Type, tokenizer: String? = nil
    ) throws {
      try inSavepoint {
        for statement in try Search.createSearchTableStatements(of: content, tokenizer: tokenizer) {
          try execute(sql: statement)
        }
        return .commit
      }
    }
  }
#endif
