import UpsurgePlan
import UpsurgeRecords

/// Says which records are deletes.
package struct TombstoneTest {
  private let cellIndex: Int
  private let text: [UInt8]
  private let integer: Int64?
  private let real: Double?

  init?(_ plan: UpsertPlan) {
    guard let cell = plan.tombstoneCell, let value = plan.rules.tombstone?.value else { return nil }
    self.init(cellIndex: cell, value: value)
  }

  /// - Parameters:
  ///   - cellIndex: the slot of the column that says it.
  ///   - value: as in `Tombstone`.
  package init(cellIndex: Int, value: String) {
    self.cellIndex = cellIndex
    text = Array(value.utf8)
    // JSON's true and false are stored as 1 and 0.
    integer = value == "true" ? 1 : value == "false" ? 0 : Int64(value)
    real = Double(value)
  }

  package func holds(_ record: UnsafeMutablePointer<Cell>, cellCount: Int, batch: borrowing Batch) -> Bool {
    let cell = cellIndex < cellCount ? record[cellIndex] : .absent
    switch cell.kind {
    case .absent: return false
    case .null: return text.isEmpty
    case .integer: return Int64(bitPattern: cell.payload) == integer
    case .real: return Double(bitPattern: cell.payload) == real
    case .text, .blob: return batch.bytes(of: cell).elementsEqual(text)
    }
  }
}
