import Foundation
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// What becomes of rows that a snapshot no longer has.
public struct Sweep<Model: Table>: Sendable {
  package let rows: RowSweep

  /// Rows that are gone stay.
  public static var none: Sweep { Sweep(rows: .none) }
  /// Rows that are gone are deleted.
  public static var hard: Sweep { Sweep(rows: .hard) }
  /// Rows that are gone are marked in the column of this name. A column of dates gets the time of the call. One of Bool gets `true`, as the
  /// model stores them. Any other text column gets the time as text, and one of numbers 1.
  ///
  /// The column is one of the table. Where the model has it, too, each row of the snapshot says itself that it is not marked,
  /// and one that says otherwise is rejected. NULL, 0, an empty text and the text "0" say of a row that it is there, anything
  /// else that it is gone. The mark of a row that comes back is taken back when it is stored. A UNIQUE index on rows that are
  /// there refuses it as long as another row has its value, also one that the sweep would mark.
  public static func soft(column: String) -> Sweep { Sweep(rows: .soft(column: column)) }

  /// Rows that are gone are marked in a column.
  public static func soft<Value>(_ column: KeyPath<Model.TableColumns, SQLExpression<Value>>) -> Sweep {
    .soft(column: Model.columns(of: .row)[keyPath: column].columnName ?? "")
  }
}

/// What must hold before rows are removed because a snapshot does not have them.
public struct SweepGuards: Sendable {
  /// The guards of a sweep among all that there are; the others concern files and feeds.
  package var all = DeliveryGuards()

  public init() {}

  /// Of the rows that could go, so many may.
  public var maximumDeletes: RowLimit {
    get { all.maximumDeletes }
    set { all.maximumDeletes = newValue }
  }

  /// Whether a snapshot without rows is believed.
  public var allowsEmpty: Bool {
    get { all.allowsEmpty }
    set { all.allowsEmpty = newValue }
  }

  /// A snapshot has at least so many rows.
  public var leastRows: UInt64 {
    get { all.leastRows }
    set { all.leastRows = newValue }
  }

  /// How many rows the snapshot has, where that is known.
  public var expectedCount: UInt64? {
    get { all.expectedCount }
    set { all.expectedCount = newValue }
  }
}

/// What a mirror has done.
public struct MirrorResult: Sendable {
  /// What became of the rows; `swept` counts those that went.
  public var ledger: Ledger
  /// Why no row went, where a guard has spoken; the rows of the snapshot are stored all the same.
  public var refusal: UpsurgeError?
  /// Rows whose mark the sweep has taken back, as nothing else of them has changed.
  package var revivedCount: UInt64 = 0

  /// Whether a row is another one than before.
  package var hasChanges: Bool {
    ledger.inserted + ledger.updated + ledger.deleted + ledger.swept + revivedCount > 0
  }
}

extension Database {
  /// Brings a table in step with a snapshot, in one transaction: new rows are inserted, changed ones changed, equal ones not
  /// touched, and rows that the snapshot does not have are swept.
  ///
  ///     let result = try await database.mirror(players, sweeping: .hard, scope: { $0.team == "x" })
  ///
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

extension ConflictTarget {
  /// Whether a row without this column of the primary key may be told by nothing else.
  /// - Parameter isRowid: whether the key is the rowid, which has no index.
  fileprivate func needs(_ column: String, isRowid: Bool) -> Bool {
    switch self {
    // Of any key the others may not be there, or say nothing of the row.
    case .primaryKey, .any: true
    case .columns(let names, _):
      names.contains {
        SQLName.isSame($0, column) || ["rowid", "oid", "_rowid_"].contains(SQLName.folded($0))
      }
    case .index(let name): !isRowid && SQLName.folded(name).hasPrefix("sqlite_autoindex_")
    case .firstOf(let targets):
      !targets.isEmpty && targets.allSatisfy { $0.needs(column, isRowid: isRowid) }
    }
  }
}

extension BulkCall {
  /// What a mirror comes to.
  /// - Throws: `usage` for a key in the call and another in the options, for `commitEvery`, and for a mark in a column that cannot be one.
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
    snapshot.guards = guards.all
    snapshot.scope = try scope?(Row.TableModel.columns(of: .row)).truth.spelled()
    snapshot.sweep = sweep.rows
    try self.init(rules, options: options, snapshot: snapshot)
    var check = SnapshotCheck()
    let columns = Row.TableModel.columnDefinitions
    // Also one with a default: the table's may be another than the model's, and a number is made anew for each row.
    let isRowid = Row.TableModel.rowidColumn != nil
    check.keys = columns.enumerated()
      .filter { $1.isPrimaryKey && self.rules.target.needs($1.name, isRowid: isRowid) }
      .map { ($0.offset, $0.element.name) }
    if case .soft(let name) = sweep.rows {
      if name.isEmpty {
        throw UpsurgeError(
          .usage, "sweeping: .soft leads to no column of \(Row.TableModel.self)",
          hint: #"name a column, as in .soft(\.deletedAt)"#)
      }
      if let index = columns.firstIndex(where: { SQLName.isSame($0.name, name) }) {
        check.mark = try mark(columns[index], at: index)
      } else {
        self.rules.softColumn = name
      }
    }
    self.check = check
  }

  /// Has a column of the model say which rows are gone.
  private mutating func mark(_ column: ColumnDefinition, at index: Int) throws(UpsurgeError) -> SnapshotMark {
    var isInKey = column.isPrimaryKey
    if case .columns(let names, _) = rules.target {
      isInKey = isInKey || names.contains { SQLName.isSame($0, column.name) }
    }
    if isInKey {
      throw UpsurgeError(
        .usage,
        "the column \(column.name.escapedForTerminal) is part of the key, and cannot say that a row is gone",
        hint: "mark rows in a column of their own, as deletedAt: Date?")
    }
    // As what is read back, the mark comes with the record, whatever the others are merged by.
    rules.merge.columns[column.name] = nil
    // What is stored in any form says both.
    guard let storing = column.storing else { return SnapshotMark(index: index, name: column.name) }
    guard let marks = storing.marks(at: Date(), isNullable: column.isNullable) else {
      throw UpsurgeError(
        .usage,
        "the column \(column.name.escapedForTerminal) cannot say both that a row is gone and that it is there",
        hint: "a Bool, a number, a String or an optional Date can")
    }
    snapshot?.softMark = try marks.gone.literal()
    let absence = try marks.there?.literal()
    snapshot?.softAbsence = absence
    if !column.isNullable { snapshot?.softRevival = absence }
    return SnapshotMark(index: index, name: column.name, there: marks.there)
  }
}
