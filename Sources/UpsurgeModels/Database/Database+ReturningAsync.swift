import UpsurgePlan
import UpsurgeRecords

/// The calls that say what became of each of rows that come one after the other.
extension Database {
  /// Upserts rows that come one after the other, and gives a column of each, by batches: of 256 KiB or 32,768 rows at most, or all.
  ///
  /// What gives the rows must not use the database that stores them; what it throws takes back what is not committed.
  /// - Parameters: as of `upsert` of a sequence.
  /// - Throws: `usage`; when it is read, as `upsert`, and what the rows throw.
  public func upsert<Rows: AsyncSequence, Value: Sendable>(
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
  ) throws(UpsurgeError) -> ReturningRows<Rows, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
      model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self, column)
  }

  /// Upserts rows and gives each as it is then.
  public func upsert<Rows: AsyncSequence>(
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
  ) throws(UpsurgeError) -> ReturningRows<Rows, Rows.Element.TableModel> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
      model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self)
  }

  /// Inserts rows and gives a column of each.
  public func insert<Rows: AsyncSequence, Value: Sendable>(
    _ rows: Rows, options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<Rows, Value> where Rows.Element: TableRow {
    let rules = UpsertRules(mode: .insert)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self, column)
  }

  /// Inserts rows and gives each as it is then.
  public func insert<Rows: AsyncSequence>(
    _ rows: Rows, options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<Rows, Rows.Element.TableModel> where Rows.Element: TableRow {
    let rules = UpsertRules(mode: .insert)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self)
  }

  /// Inserts rows whose key does not exist, and gives a column of each, also of those that are there.
  public func insertOrIgnore<Rows: AsyncSequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<Rows, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(.ignore, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self, column)
  }

  /// Inserts rows whose key does not exist, and gives each as it is then, also those that are there.
  public func insertOrIgnore<Rows: AsyncSequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<Rows, Rows.Element.TableModel> where Rows.Element: TableRow {
    let rules = try UpsertRules(.ignore, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self)
  }

  /// Changes rows that exist, and gives a column of each.
  public func update<Rows: AsyncSequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<Rows, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .update, key: key, newer: newer, merge: merge, model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self, column)
  }

  /// Changes rows that exist, and gives each as it is then.
  public func update<Rows: AsyncSequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<Rows, Rows.Element.TableModel> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .update, key: key, newer: newer, merge: merge, model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self)
  }

  /// Deletes rows, and gives a column of each as it was.
  public func delete<Rows: AsyncSequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<Rows, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(.delete, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self, column)
  }

  /// Deletes rows, and gives each as it was.
  public func delete<Rows: AsyncSequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions(),
    returning model: Rows.Element.TableModel.Type
  ) throws(UpsurgeError) -> ReturningRows<Rows, Rows.Element.TableModel> where Rows.Element: TableRow {
    let rules = try UpsertRules(.delete, key: key, model: Rows.Element.TableModel.self)
    return try ReturningRows(rows, BulkCall(rules, options: options), in: self)
  }
}
