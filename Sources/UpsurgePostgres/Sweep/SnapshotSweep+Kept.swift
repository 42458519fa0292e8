import UpsurgeRecords
import UpsurgeStorage

/// Records about rows that were edited here, and are to be kept: they are passed over.
extension SnapshotSweep {
  /// The records of a batch that are not to be stored. One that says that a deleted row is gone is stored, and so are those after it.
  /// - Parameter tombstone: says which records are deletes; nil where none is one.
  func passedOver(
    _ batch: borrowing Batch, _ range: Range<Int>, _ tombstone: TombstoneTest?,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Set<Int32> {
    guard let rowNotes, rowNotes.keepsChanged || rowNotes.keepsDeleted, let target, let keys = target.keys,
      !range.isEmpty
    else {
      return []
    }
    var asked = SeenKeys(
      target.rows, keys.shape, slots: keys.slots, numbers: nil, in: .asked, numbersRecords: true)
    try asked.make(connection)
    _ = try asked.add(range.map { Int32(truncatingIfNeeded: $0) }, of: batch, mayFail: true, connection)
    let found = try rowNotes.aboutEdited(target.rows, withKeys: tombstone != nil, connection)
    try connection.run("DROP TABLE \(KeyTable.asked.quotedName)")
    var passedOver: Set<Int32> = []
    var forgotten: Set<String> = []
    for entry in found {
      if let key = entry.deletedKey {
        if forgotten.contains(key) { continue }
        let row = batch.cells + entry.record * batch.columnCount
        if tombstone?.holds(row, cellCount: batch.columnCount, batch: batch) == true {
          forgotten.insert(key)
          continue
        }
      }
      passedOver.insert(Int32(truncatingIfNeeded: entry.record))
    }
    if !forgotten.isEmpty { try rowNotes.forgetDeleted(forgotten.sorted(), connection) }
    return passedOver
  }

  /// SQL that is true of rows that no sweep takes, beginning with AND; empty where there are none.
  var exceptKept: String {
    guard let target, rowNotes?.keepsChanged == true else { return "" }
    return " AND NOT \(target.rows.isIn(.kept))"
  }

  /// How many edited rows the delivery does not have, which stay all the same.
  func unsweptCount(_ connection: PostgresConnection) throws(PostgresFailure) -> UInt64 {
    guard let target, let rowNotes, rowNotes.keepsChanged, seen != nil else { return 0 }
    let rows = target.rows
    let owned = rowNotes.rules.isOwned ? " AND \(rowNotes.sweptTerm(rows))" : ""
    let terms = "(\(rows.isLive))\(owned) AND \(rows.isIn(.kept)) AND NOT \(rows.isIn(.seen))"
    return UInt64(
      try connection.run("SELECT count(*) FROM \(rows.table) WHERE \(terms)", []).first?.integer(0) ?? 0)
  }
}
