import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

/// Gathers what became of each record of a `BulkUpsert`.
package final class ReturnedRows: RecordObserver {
  /// What stands for a file in the positions of rejects.
  static let source = "append"

  package let wantedRows: ObservedRows
  package let wantsRowid: Bool
  private let names: [String]
  /// Where the columns asked for stand in an observed row.
  private var places: [Int] = []
  private var rows: [BulkUpsert.Returned] = []
  /// How many of the rows that wait are committed.
  private var committedCount = 0
  private var reject: Reject?

  /// - Parameter names: columns of the table, or `rowid`, whose values are given; empty for the outcome alone.
  package init(_ names: [String], rules: UpsertRules) {
    self.names = names
    wantsRowid = names.contains { SQLName.isSame($0, "rowid") }
    let mayDelete = rules.mode == .delete || rules.tombstone != nil
    wantedRows = names.isEmpty ? .none : mayDelete ? .beforeAndAfter : .after
  }

  package func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError) {
    let known = columns.map { plan.schema.columns[$0].name }
    places = []
    for name in names {
      if let place = known.firstIndex(where: { SQLName.isSame($0, name) }) {
        places.append(place)
      } else if SQLName.isSame(name, "rowid"), plan.schema.rowidName != nil {
        places.append(known.count)
      } else {
        let table = plan.schema.name.escapedForTerminal
        throw UpsurgeError(
          .usage, "\(name.escapedForTerminal) cannot be returned: table \(table) has no such column",
          hint: "its columns are: \(known.joined(separator: ", ").escapedForTerminal)")
      }
    }
  }

  /// The reason of the record that is observed next.
  package func note(_ reject: Reject) {
    self.reject = reject
    self.reject?.position = Position(file: ReturnedRows.source, record: reject.position.record)
  }

  package func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    let row = outcome == .deleted ? before : after
    let hasRow = outcome != .rejected && outcome != .quarantined
    let returned = BulkUpsert.Returned(
      record: position.record ?? 0, outcome: outcome,
      values: names.isEmpty && hasRow ? [] : row.map { row in places.map { row[$0] } },
      reject: outcome == .rejected ? reject : nil)
    reject = nil
    // A record that is taken back at the end of the transaction has been seen before, and later ones, too.
    if let index = index(of: returned.record) { rows[index] = returned } else { rows.append(returned) }
  }

  /// Where a record stands in `rows`, which are in input order.
  private func index(of record: UInt64) -> Int? {
    var (low, high) = (0, (rows.last?.record ?? 0) >= record ? rows.count : 0)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].record == record { return middle }
      if rows[middle].record < record { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  package func didCommit() throws(UpsurgeError) { committedCount = rows.count }

  package func didRollBack() { rows.removeSubrange(committedCount...) }

  /// The rows that wait, in input order.
  package func take() -> [BulkUpsert.Returned] {
    defer {
      rows = []
      committedCount = 0
    }
    return rows
  }
}
