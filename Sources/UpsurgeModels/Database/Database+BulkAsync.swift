import UpsurgePlan
import UpsurgeRecords

/// The calls for rows that come one after the other.
extension Database {
  /// Upserts rows that come one after the other; no more are asked for than can be stored.
  ///
  /// Rows are stored by batches of 256 KiB at most, or at the end: rows that come slowly wait for others, and while they come
  /// other writes wait. An error of storing is told when the next row comes. What gives the rows must not use the
  /// database that stores them.
  @discardableResult
  public func upsert<Rows: AsyncSequence>(
    _ rows: sending Rows, on key: ColumnPath<Rows.Element>...,
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
    options: BulkOptions = BulkOptions()
  ) async throws -> Ledger where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
      model: Rows.Element.TableModel.self)
    return try await store(rows, BulkCall(rules, options: options)).ledger
  }

  /// Inserts rows that come one after the other; one whose key exists cannot be stored.
  @discardableResult
  public func insert<Rows: AsyncSequence>(
    _ rows: sending Rows, options: BulkOptions = BulkOptions()
  ) async throws -> Ledger where Rows.Element: TableRow {
    try await store(rows, BulkCall(UpsertRules(mode: .insert), options: options)).ledger
  }

  /// Inserts rows that come one after the other where their key does not exist; others are ignored.
  /// - Parameters: as of `upsert`.
  @discardableResult
  public func insertOrIgnore<Rows: AsyncSequence>(
    _ rows: sending Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions()
  ) async throws -> Ledger where Rows.Element: TableRow {
    let rules = try UpsertRules(.ignore, key: key, model: Rows.Element.TableModel.self)
    return try await store(rows, BulkCall(rules, options: options)).ledger
  }

  /// Changes rows that exist by rows that come one after the other.
  /// - Parameters: as of `upsert`.
  @discardableResult
  public func update<Rows: AsyncSequence>(
    _ rows: sending Rows, on key: ColumnPath<Rows.Element>..., newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions()
  ) async throws -> Ledger where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .update, key: key, newer: newer, merge: merge, model: Rows.Element.TableModel.self)
    return try await store(rows, BulkCall(rules, options: options)).ledger
  }

  /// Deletes the rows that have the same key as rows that come one after the other.
  /// - Parameters: as of `upsert`.
  @discardableResult
  public func delete<Rows: AsyncSequence>(
    _ rows: sending Rows, on key: ColumnPath<Rows.Element>..., options: BulkOptions = BulkOptions()
  ) async throws -> Ledger where Rows.Element: TableRow {
    let rules = try UpsertRules(.delete, key: key, model: Rows.Element.TableModel.self)
    return try await store(rows, BulkCall(rules, options: options)).ledger
  }

  /// Brings a table in step with a snapshot that comes row after row; where it ends by an error, nothing of it is stored.
  /// - Parameters: as of `mirror` for a sequence.
  public func mirror<Rows: AsyncSequence>(
    _ rows: sending Rows, on key: ColumnPath<Rows.Element>...,
    newer: ColumnPath<Rows.Element>? = nil,
    when condition: (
      @Sendable (Rows.Element.TableModel.TableColumns, Rows.Element.TableModel.TableColumns) -> SQLExpression<
        Bool
      >
    )? =
      nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.TableModel>, Rows.Element.TableModel.TableColumns) -> Void
    )? = nil,
    sweeping sweep: Sweep<Rows.Element.TableModel>,
    scope: (@Sendable (Rows.Element.TableModel.TableColumns) -> SQLExpression<Bool>)? = nil,
    guards: SweepGuards = SweepGuards(), options: BulkOptions = BulkOptions()
  ) async throws -> MirrorResult where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, newer: newer, when: condition, merge: merge,
      model: Rows.Element.TableModel.self)
    return try await store(
      rows, BulkCall(rules, mirroring: sweep, scope: scope, guards: guards, options: options))
  }

  private func store<Rows: AsyncSequence>(
    _ rows: sending Rows, _ call: BulkCall<Rows.Element>
  ) async throws -> MirrorResult where Rows.Element: TableRow {
    try await BulkWrite(call, in: self).store(rows)
  }
}
