import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Spells the key of a record as `upsurge_rows` would have it, were the record stored; lives on the writer's thread.
///
/// SQLite itself makes of the values what the table's columns would (`'07'` is 7 in an INTEGER column), in a temporary
/// database with one row.
package final class RecordKey {
  private let store: Connection
  private let update: Statement
  private let question: Statement
  /// The cells of the key, in the order of its columns.
  package let cellIndexes: UnsafeMutableBufferPointer<Int32>

  /// Takes those cells, from the first parameter on.
  package var handle: OpaquePointer { update.handle }

  /// - Returns: nil where the records lack a column of the key.
  package init?(_ names: [String], _ plan: UpsertPlan) throws(UpsurgeError) {
    var cells: [Int32] = []
    var columns: [String] = []
    for name in names {
      guard let index = plan.schema.columnIndex(name),
        let slot = plan.slots.first(where: { $0.columnIndex == index })
      else { return nil }
      cells.append(Int32(slot.cellIndex))
      columns.append("\(try SQLName.quote(name)) \(Self.type(plan.schema.columns[index].affinity))")
    }
    store = try Connection(path: "the temporary database", createIfMissing: true, isTemporary: true)
    try store.execute(
      """
      PRAGMA temp_store=MEMORY; PRAGMA synchronous=OFF; BEGIN;
      CREATE TABLE record(\(columns.joined(separator: ", "))); INSERT INTO record DEFAULT VALUES;
      """)
    var assignments: [String] = []
    for (place, name) in names.enumerated() {
      assignments.append("\(try SQLName.quote(name)) = ?\(place + 1)")
    }
    update = try store.prepare("UPDATE record SET \(assignments.joined(separator: ", "))", isPersistent: true)
    question = try store.prepare(
      "SELECT \(try RowStateTable.keySQL(names, of: plan.schema)) FROM record", isPersistent: true)
    cellIndexes = .allocate(capacity: cells.count)
    _ = cellIndexes.initialize(from: cells)
  }

  deinit { cellIndexes.deallocate() }

  package func moveToCurrentThread() { store.moveToCurrentThread() }

  /// Whether a record has a value in each column of the key.
  package func isWhole(_ row: UnsafeMutablePointer<Cell>, cellCount: Int) -> Bool {
    cellIndexes.allSatisfy { cell in
      let cell = Int(cell)
      return cell < cellCount && row[cell].kind != .absent && row[cell].kind != .null
    }
  }

  /// The key of the record whose cells are bound to `handle`, which lets go of them.
  package func text() throws(UpsurgeError) -> String {
    defer {
      update.reset()
      sqlite3_clear_bindings(update.handle)
      question.reset()
    }
    _ = try update.step()
    return try question.step() ? question.text(at: 0) ?? "" : ""
  }

  private static func type(_ affinity: Affinity) -> String {
    switch affinity {
    case .text: "TEXT"
    case .numeric: "NUMERIC"
    case .integer: "INTEGER"
    case .real: "REAL"
    case .none: "BLOB"
    }
  }
}
