#if GRDB
  import GRDB
  import UpsurgeModels

  /// The calls that say what became of each row, in the order of the rows.
  extension GRDB.Database {
    /// Upserts rows and gives a column of each, such as the key that a draft got.
    ///
    ///     let ids = try db.upsert(drafts, on: \.name, returning: \.id).compactMap(\.value)
    ///
    /// Rows are stored one by one for that, which is slower than without.
    /// - Parameters: as of `upsert` that returns a ledger.
    public func upsert<Row: TableRow, Value: Sendable>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>...,
      where predicate: ((Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>)? = nil,
      newer: ColumnPath<Row>? = nil,
      when condition: (
        (Row.TableModel.TableColumns, Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>
      )? = nil, merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions(),
      returning column: KeyPath<Row.TableModel.TableColumns, UpsurgeModels.SQLExpression<Value>>
    ) throws -> [Returned<Value>] {
      let rules = try UpsertRules(
        .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
        model: Row.TableModel.self)
      return try store(
        rows, BulkCall(rules, options: options), ReturnedColumns(column, of: Row.TableModel.self))
    }

    /// Upserts rows and gives each as it is then.
    public func upsert<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>...,
      where predicate: ((Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>)? = nil,
      newer: ColumnPath<Row>? = nil,
      when condition: (
        (Row.TableModel.TableColumns, Row.TableModel.TableColumns) -> UpsurgeModels.SQLExpression<Bool>
      )? = nil, merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions(),
      returning model: Row.TableModel.Type
    ) throws -> [Returned<Row.TableModel>] {
      let rules = try UpsertRules(
        .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
        model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options), ReturnedColumns(of: Row.TableModel.self))
    }

    /// Inserts rows and gives a column of each.
    public func insert<Row: TableRow, Value: Sendable>(
      _ rows: some Sequence<Row>, options: BulkOptions = BulkOptions(),
      returning column: KeyPath<Row.TableModel.TableColumns, UpsurgeModels.SQLExpression<Value>>
    ) throws -> [Returned<Value>] {
      let rules = UpsertRules(mode: .insert)
      return try store(
        rows, BulkCall(rules, options: options), ReturnedColumns(column, of: Row.TableModel.self))
    }

    /// Inserts rows and gives each as it is then.
    public func insert<Row: TableRow>(
      _ rows: some Sequence<Row>, options: BulkOptions = BulkOptions(),
      returning model: Row.TableModel.Type
    ) throws -> [Returned<Row.TableModel>] {
      let rules = UpsertRules(mode: .insert)
      return try store(rows, BulkCall(rules, options: options), ReturnedColumns(of: Row.TableModel.self))
    }

    /// Inserts rows whose key does not exist, and gives a column of each, also of those that are there.
    public func insertOrIgnore<Row: TableRow, Value: Sendable>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions(),
      returning column: KeyPath<Row.TableModel.TableColumns, UpsurgeModels.SQLExpression<Value>>
    ) throws -> [Returned<Value>] {
      let rules = try UpsertRules(.ignore, key: key, model: Row.TableModel.self)
      return try store(
        rows, BulkCall(rules, options: options), ReturnedColumns(column, of: Row.TableModel.self))
    }

    /// Inserts rows whose key does not exist, and gives each as it is then, also those that are there.
    public func insertOrIgnore<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions(),
      returning model: Row.TableModel.Type
    ) throws -> [Returned<Row.TableModel>] {
      let rules = try UpsertRules(.ignore, key: key, model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options), ReturnedColumns(of: Row.TableModel.self))
    }

    /// Changes rows that exist, and gives a column of each.
    public func update<Row: TableRow, Value: Sendable>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., newer: ColumnPath<Row>? = nil,
      merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions(),
      returning column: KeyPath<Row.TableModel.TableColumns, UpsurgeModels.SQLExpression<Value>>
    ) throws -> [Returned<Value>] {
      let rules = try UpsertRules(.update, key: key, newer: newer, merge: merge, model: Row.TableModel.self)
      return try store(
        rows, BulkCall(rules, options: options), ReturnedColumns(column, of: Row.TableModel.self))
    }

    /// Changes rows that exist, and gives each as it is then.
    public func update<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., newer: ColumnPath<Row>? = nil,
      merge: ((inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
      options: BulkOptions = BulkOptions(),
      returning model: Row.TableModel.Type
    ) throws -> [Returned<Row.TableModel>] {
      let rules = try UpsertRules(.update, key: key, newer: newer, merge: merge, model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options), ReturnedColumns(of: Row.TableModel.self))
    }

    /// Deletes rows, and gives a column of each as it was.
    public func delete<Row: TableRow, Value: Sendable>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions(),
      returning column: KeyPath<Row.TableModel.TableColumns, UpsurgeModels.SQLExpression<Value>>
    ) throws -> [Returned<Value>] {
      let rules = try UpsertRules(.delete, key: key, model: Row.TableModel.self)
      return try store(
        rows, BulkCall(rules, options: options), ReturnedColumns(column, of: Row.TableModel.self))
    }

    /// Deletes rows, and gives each as it was.
    public func delete<Row: TableRow>(
      _ rows: some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions(),
      returning model: Row.TableModel.Type
    ) throws -> [Returned<Row.TableModel>] {
      let rules = try UpsertRules(.delete, key: key, model: Row.TableModel.self)
      return try store(rows, BulkCall(rules, options: options), ReturnedColumns(of: Row.TableModel.self))
    }

    private func store<Row: TableRow, Value>(
      _ rows: some Sequence<Row>, _ call: BulkCall<Row>, _ columns: ReturnedColumns<Value>
    ) throws -> [Returned<Value>] {
      let returned = ReturnedRows(columns.names, rules: call.rules)
      _ = try lend(for: Row.TableModel.tableName) { connection in
        try call.store(rows, on: connection, rowSize: WriterTarget.maximumRowSize, returned: returned)
      } stored: {
        $0
      }
      return try returned.take().map { (row) throws(UpsurgeError) in try columns.returned(row) }
    }
  }
#endif
