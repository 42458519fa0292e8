import CSQLite
import UpsurgePlan
import UpsurgeRecords

/// The one statement for records of all shapes, and which of their cells it takes.
final class FlaggedStatement {
  /// Whether a record may lack the slot, by slot.
  let mayLack: [Bool]
  /// Whether a bit says that it does, by slot; to the others NULL says the same.
  let hasFlag: [Bool]
  /// The cells to bind, in slot order.
  let cellIndexes: UnsafeMutableBufferPointer<Int32>
  var handle: OpaquePointer?
  /// Whether pointers may be bound to it.
  var isBound = false

  /// nil where the table allows no such statement.
  init?(_ plan: UpsertPlan) {
    guard let mayLack = plan.flaggedSlots else { return nil }
    let shapeless = plan.shapelessSlots
    let hasFlag = mayLack.indices.map { mayLack[$0] && !shapeless[$0] }
    (self.mayLack, self.hasFlag) = (mayLack, hasFlag)
    cellIndexes = .allocate(capacity: plan.slots.count)
    _ = cellIndexes.initialize(from: plan.slots.map { Int32($0.cellIndex) })
  }

  deinit {
    finalize()
    cellIndexes.deallocate()
  }

  /// Lets go of the statement; it can be compiled again.
  func finalize() {
    sqlite3_finalize(handle)
    handle = nil
  }
}

extension TableWriter {
  /// Stores a record by the statement for all shapes, if it may lack what it lacks.
  /// - Returns: false where the record needs the statements of its own shape; then nothing has happened.
  func storeFlagged(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) -> Bool {
    guard let flagged = statements.flagged else { return false }
    let cellCount = batch.columnCount
    let row = batch.cells + record * cellCount
    for slot in 0..<flagged.cellIndexes.count where !flagged.mayLack[slot] {
      let index = Int(flagged.cellIndexes[slot])
      if index >= cellCount || row[index].kind == .absent { return false }
    }
    guard let handle = try statements.handle(flagged) else { return false }
    connection.notes.pointee.clear()
    var parameter: Int32 = 1
    var code = bind(batch, record, flagged.cellIndexes, to: handle, &parameter)
    let parameterCount = sqlite3_bind_parameter_count(handle)
    for first in stride(from: 0, to: flagged.cellIndexes.count, by: UpsertPlan.flagsPerParameter)
    where parameter <= parameterCount {
      var bits: Int64 = 0
      for slot in first..<min(first + UpsertPlan.flagsPerParameter, flagged.cellIndexes.count) {
        let index = Int(flagged.cellIndexes[slot])
        if index < cellCount && row[index].kind != .absent { bits |= 1 << Int64(slot - first) }
      }
      code |= sqlite3_bind_int64(handle, parameter, bits)
      parameter += 1
    }
    if code == SQLITE_OK { code = sqlite3_step(handle) }
    sqlite3_reset(handle)
    // What was refused left nothing, and is reported by the record's own statements.
    if code != SQLITE_DONE { return false }
    count(outcomeOfInsert(hasChanged: sqlite3_changes(connection.handle) > 0))
    return true
  }
}
