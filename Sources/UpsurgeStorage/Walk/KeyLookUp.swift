import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Finds the rowid of a record's row by its key.
struct KeyLookUp {
  private let statement: Statement
  /// The cells of the key's columns, in their order.
  private let cellIndexes: [Int]

  init(
    _ plan: UpsertPlan, _ key: TableSchema.Key, rowidName: String, on connection: Connection
  ) throws(UpsurgeError) {
    var cells: [Int] = []
    var conditions: [String] = []
    for name in key.columns ?? [] {
      guard let index = plan.schema.columnIndex(name),
        let slot = plan.slots.first(where: { $0.columnIndex == index })
      else { preconditionFailure("a key that is not in the input cannot be looked up") }
      cells.append(slot.cellIndex)
      conditions.append("\(try SQLName.quote(plan.schema.columns[index].name)) = ? COLLATE BINARY")
    }
    cellIndexes = cells
    let table = try SQLName.quote(plan.schema.name)
    statement = try connection.prepare(
      "SELECT \(rowidName) FROM main.\(table) WHERE \(conditions.joined(separator: " AND "))",
      isPersistent: true)
  }

  /// - Returns: nil where there is no such row.
  func rowid(of record: Int, in batch: borrowing Batch) throws(UpsurgeError) -> Int64? {
    let cells = batch.cells + record * batch.columnCount
    defer { statement.reset() }
    for (index, cellIndex) in cellIndexes.enumerated() {
      try statement.bind(cells[cellIndex], of: batch, at: Int32(index + 1))
    }
    return try statement.step() ? statement.integer(at: 0) : nil
  }
}
