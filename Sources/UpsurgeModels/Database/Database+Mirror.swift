import Foundation
import Upsurge

/// What becomes of rows that a snapshot no longer has.
public enum Sweep<Model: Table>: Sendable {
  /// They stay.
  case none
  /// They are deleted.
  case hard
  /// They are marked in the column of this name: by the time of the call in one of dates, `true` in one of truths, as the model stores them; by
  /// the time as text in any other text column, 1 in one of numbers. A row of the snapshot says itself that it is not marked.
  case soft(column: String)

  /// They are marked in a column.
  public static func soft<Value>(_ column: KeyPath<Model.TableColumns, SQLExpression<Value>>) -> Sweep {
    .soft(column: Model.columns(of: .row)[keyPath: column].columnName ?? "")
  }
}

/// What must hold before rows are removed because a snapshot does not have them.
public struct SweepGuards: Sendable {
  /// Of the rows that could go, so many may.
  public var maximumDeletes = RowLimit.percent(10)
  /// Whether a snapshot without rows is believed.
  public var allowsEmpty = false
  /// A snapshot has at least so many rows.
  public var leastRows: UInt64 = 1
  /// How many rows the snapshot has, where that is known.
  public var expectedCount: UInt64?

  public init() {}
}

/// What a mirror has done.
public struct MirrorResult: Sendable {
  /// What became of the rows; `swept` counts those that went.
  public var ledger: Ledger
  /// Why no row went, where a guard has spoken; the rows of the snapshot are stored all the same.
  public var refusal: UpsurgeError?
}

extension Database {
  /// Brings a table in step with a snapshot, in one transaction: new rows are inserted, changed ones changed, equal ones not
  /// touched, and rows that the snapshot does not have are swept.
  ///
  ///     let result = try await database.mirror(players, sweeping: .hard, scope: { $0.team == "x" })
  ///
  /// - Parameters:
  ///   - rows: all that the table is to have.
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
    _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>...,
    newer: ColumnPath<Row>? = nil,
    when condition: (
      @Sendable (Row.TableModel.TableColumns, Row.TableModel.TableColumns) -> SQLExpression<Bool>
    )? =
      nil,
    merge: (@Sendable (inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
    sweeping sweep: Sweep<Row.TableModel>,
    scope: (@Sendable (Row.TableModel.TableColumns) -> SQLExpression<Bool>)? = nil,
    guards: SweepGuards = SweepGuards(), options: BulkOptions = BulkOptions()
  ) async throws -> MirrorResult {
    let rules = try UpsertRules(
      .upsert, key: key, newer: newer, when: condition, merge: merge,
      model: Row.TableModel.self)
    let call = try BulkCall<Row>(rules, mirroring: sweep, scope: scope, guards: guards, options: options)
    return try await BulkWrite(call, in: self).store(rows)
  }
}

extension BulkCall {
  /// What a mirror comes to.
  /// - Throws: `usage` for a key in the call and another in the options, and for `commitEvery`.
  package init(
    _ rules: UpsertRules, mirroring sweep: Sweep<Row.TableModel>,
    scope: ((Row.TableModel.TableColumns) -> SQLExpression<Bool>)?, guards: SweepGuards, options: BulkOptions
  ) throws(UpsurgeError) {
    if options.commitEvery != nil {
      throw UpsurgeError(
        .usage, "a mirror is one transaction: it cannot commit in between",
        hint: "leave out BulkOptions.commitEvery")
    }
    var snapshot = SnapshotRules()
    snapshot.maximumDeletes = guards.maximumDeletes
    snapshot.allowsEmpty = guards.allowsEmpty
    snapshot.leastRows = guards.leastRows
    snapshot.expectedCount = guards.expectedCount
    snapshot.scope = try scope?(Row.TableModel.columns(of: .row)).sql.spelled()
    switch sweep {
    case .none: snapshot.sweep = .none
    case .hard: snapshot.sweep = .hard
    case .soft(let name):
      snapshot.sweep = .soft(column: name)
      let storage = Row.TableModel.columnDefinitions.first { SQLName.isSame($0.name, name) }?.storing
      snapshot.softMark = try (storage?.stored(Date()) ?? storage?.stored(true))?.literal()
      snapshot.softAbsence = try storage?.stored(false)?.literal()
    }
    try self.init(rules, options: options, snapshot: snapshot)
  }
}
