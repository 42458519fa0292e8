import UpsurgePlan
import UpsurgeRecords

/// The calls that say what became of each row, in the order of the rows.
extension Database {
  /// Upserts rows and gives a column of each, such as the key that a draft got.
  ///
  ///     for try await row in try database.upsert(drafts, on: \.name, returning: \.id) {
  ///       print(row.number, row.outcome, row.value ?? 0)
  ///     }
  ///
  /// Rows are stored one by one for that, which is slower than without.
  /// - Parameters: as of `upsert` that returns a ledger.
  /// - Throws: `usage`; when it is read, as `upsert`.
  public func upsert<Rows: Sequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>...,
    where predicate: (@Sendable (Rows.Element.TableModel.TableColumns) -> SQLExpression<Bool>)? = nil,
    newer: ColumnPath<Rows.Element>? = nil,
    when condition: (
      @Sendable (Rows.Element.TableModel.TableColumns, Rows.Element.TableModel.TableColumns) -> SQLExpression<
        Bool
      >
    )? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
      model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self, column)
  }

  /// Upserts rows and gives each as it is then.
  public func upsert<Rows: Sequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>...,
    where predicate: (@Sendable (Rows.Element.TableModel.TableColumns) -> SQLExpression<Bool>)? = nil,
    newer: ColumnPath<Rows.Element>? = nil,
    when condition: (
      @Sendable (Rows.Element.TableModel.TableColumns, Rows.Element.TableModel.TableColumns) -> SQLExpression<
        Bool
      >
    )? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Rows.Element.TableModel>
  where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
      model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self)
  }

  /// Inserts rows and gives a column of each.
  public func insert<Rows: Sequence, Value: Sendable>(
    _ rows: Rows, options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Value> where Rows.Element: TableRow {
    let rules = UpsertRules(mode: .insert)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self, column)
  }

  /// Inserts rows and gives each as it is then.
  public func insert<Rows: Sequence>(
    _ rows: Rows, options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Rows.Element.TableModel>
  where Rows.Element: TableRow {
    let rules = UpsertRules(mode: .insert)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self)
  }

  /// Inserts rows whose key does not exist, and gives a column of each, also of those that are there.
  public func insertOrIgnore<Rows: Sequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(.ignore, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self, column)
  }

  /// Inserts rows whose key does not exist, and gives each as it is then, also those that are there.
  public func insertOrIgnore<Rows: Sequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Rows.Element.TableModel>
  where Rows.Element: TableRow {
    let rules = try UpsertRules(.ignore, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self)
  }

  /// Changes rows that exist, and gives a column of each.
  public func update<Rows: Sequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .update, key: key, newer: newer, merge: merge, model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self, column)
  }

  /// Changes rows that exist, and gives each as it is then.
  public func update<Rows: Sequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Rows.Element.TableModel>
  where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .update, key: key, newer: newer, merge: merge, model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self)
  }

  /// Deletes rows, and gives a column of each as it was.
  public func delete<Rows: Sequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(.delete, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self, column)
  }

  /// Deletes rows, and gives each as it was.
  public func delete<Rows: Sequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<GivenRows<Rows>, Rows.Element.TableModel>
  where Rows.Element: TableRow {
    let rules = try UpsertRules(.delete, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(GivenRows(rows), BulkCall(rules, options: options), in: self)
  }
}
