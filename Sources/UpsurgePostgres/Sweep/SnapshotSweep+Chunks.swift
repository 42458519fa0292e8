import Upsurge
import UpsurgeRecords
import UpsurgeState

/// A delivery of which parts were skipped, because the last one had them, too.
///
///     left    keys of known chunks that the delivery does not have; their rows go, but for those that records are about
///     seen    keys of the records that were read; one that is not among those that are left must be new to the table, or a
///             record that was not read is about the same row
extension SnapshotSweep {
  /// Puts the keys of rows that no record was about into a temporary table.
  /// - Returns: how many there are; nil where all of the delivery must be read.
  func gather(
    leftBy memory: ChunkMemory, _ target: SweepTarget, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> UInt64? {
    let gone = memory.gone
    let recordCount = gone.reduce(0) { $0 + $1.recordCount } + UInt64(memory.chunks.result.madeRecordCount)
    guard recordCount <= UInt64(memory.chunks.keyLimit), seen != nil else { return nil }
    let rows = target.rows
    try seen!.bringUp(connection)
    guard try bringUp(gone, memory, target, connection) else { return nil }
    // Without that the server would take them for as many as the table's rows.
    try connection.run("ANALYZE \(KeyTable.seen.quotedName)")
    try connection.run("ANALYZE \(KeyTable.left.quotedName)")
    guard try areNew(rows, connection) else { return nil }
    try connection.run(
      """
      CREATE TEMPORARY TABLE \(KeyTable.gone.name) ON COMMIT DROP AS SELECT \(rows.keyList), true AS upsurge_accepted
      FROM \(rows.table) WHERE (\(rows.isLive)) AND \(rows.isIn(.left)) AND NOT \(rows.isIn(.seen))
      """, [])
    try connection.run("ANALYZE \(KeyTable.gone.quotedName)")
    return UInt64(try connection.run("SELECT count(*) FROM \(KeyTable.gone.quotedName)", []).first?.integer(0) ?? 0)
  }

  /// Brings the keys of known chunks into a temporary table.
  /// - Returns: false where they cannot be read.
  private func bringUp(
    _ gone: [SnapshotChunk], _ memory: ChunkMemory, _ target: SweepTarget, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    guard let shape = target.keys?.shape else { return false }
    let partCount = memory.chunks.keyCells.count
    var left = SeenKeys(target.rows, shape, slots: Array(0..<partCount), numbers: nil, in: .left)
    try left.make(connection)
    var keys = KeyBatch(columnCount: partCount)
    var faultCount = 0
    func empty() throws(PostgresFailure) {
      faultCount += try left.add(keys.records, of: keys.batch, mayFail: false, connection)
      keys.empty()
    }
    let isWhole = try memory.notes.visit(gone, partCount: partCount, connection) { (key) throws(PostgresFailure) in
      if keys.add(key) { return }
      try empty()
      if !keys.add(key) { faultCount += 1 }
    }
    try empty()
    return isWhole && faultCount == 0
  }

  /// Whether each key that was read, and that no chunk which is gone had, is new to the table.
  private func areNew(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    let terms = rows.keyNames.indices.map { index in
      "l.\(rows.keyNames[index]) = s.\(rows.keyNames[index])\(rows.collations[index])"
    }
    let new = """
      SELECT \(rows.keyNames.map { "s.\($0)" }.joined(separator: ", ")) FROM \(KeyTable.seen.quotedName) AS s
      WHERE NOT EXISTS (SELECT FROM \(KeyTable.left.quotedName) AS l WHERE \(terms.joined(separator: " AND ")))
      """
    if try connection.run("SELECT EXISTS (\(new))", []).first?.flag(0) == false { return true }
    var isThere = true
    do throws(PostgresFailure) {
      try looking { (other) throws(PostgresFailure) in
        try other.run(KeyTable.seen.creation(for: rows))
        _ = try other.beginCopy(KeyTable.seen.copy)
        _ = try connection.copyOut("COPY (\(new)) TO STDOUT (FORMAT binary)") { (bytes) throws(PostgresFailure) -> Bool in
          try other.put(bytes)
          return true
        }
        _ = try other.endCopy()
        try other.run("ANALYZE \(KeyTable.seen.quotedName)")
        let condition = "\(rows.mark.map { "\($0.isThere) AND " } ?? "")\(rows.isIn(.seen))"
        isThere = try other.run("SELECT EXISTS (SELECT FROM \(rows.table) WHERE \(condition))", []).first?.flag(0) ?? true
      }
    } catch {
      // Where the last commit cannot be looked at, nobody can say.
      if !connection.isOpen { throw error }
      return false
    }
    return !isThere
  }

  // MARK: - What is remembered

  /// Remembers what the delivery was made of, where the rows say nothing else.
  /// - Parameter ledger: of all records of the delivery.
  func remember(_ ledger: Ledger, _ connection: PostgresConnection) throws(PostgresFailure) {
    guard let chunks, let target, !isTrial else { return }
    let others = ledger.rejected + ledger.quarantined + ledger.stale + ledger.ignored + ledger.deleted + unreadableCount
    var mark: StoredRows?
    if refusal == nil, others == 0, chunks.isQuiet { mark = try self.mark(chunks, target, ledger, connection) }
    try chunks.finish(recordCount: ledger.read, mark, connection)
  }

  /// What the rows are now.
  /// - Returns: nil where two records were about one row, or others have written to the table meanwhile.
  private func mark(
    _ chunks: ChunkMemory, _ target: SweepTarget, _ ledger: Ledger, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> StoredRows? {
    var rows = target.rows
    if let name = target.finalName { rows = rows.named(name) }
    guard let floor = chunks.floor, let table = try StoredRows.table(rows.quotedName, connection),
      let next = try connection.run("SELECT pg_snapshot_xmax(pg_current_snapshot())::text", []).first?.text(0).flatMap({ UInt64($0) }),
      // Numbers that are farther from its own do not count as new ones.
      next >= floor, next - floor < 100_000_000
    else { return nil }
    let marked = rows.mark == nil ? 0 : Int64(sweptCount)
    let (rowCount, new) = try chunks.skippedRecordCount > 0
      ? skippedRows(chunks, rows, ledger, floor, connection) : readRows(rows, ledger, floor, connection)
    guard new.count == Int64(ledger.inserted + ledger.updated) + Int64(revivedCount) + marked, let rowCount else { return nil }
    return StoredRows(table: table, floor: floor, rowCount: rowCount, new: new)
  }

  /// Of a delivery that was read: all rows are looked at.
  /// - Returns: how many there are; nil where two records were about one.
  private func readRows(
    _ rows: SweptRows, _ ledger: Ledger, _ floor: UInt64, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> (Int64?, StoredRows.NewRows) {
    if isNewTable {
      // All of its rows are those of the delivery.
      let new = StoredRows.NewRows(
        try connection.run(StoredRows.newRows(of: rows, since: floor, where: rows.isInScope), []).first, from: 0)
      return (new.count == Int64(ledger.read) ? new.count : nil, new)
    }
    let row = try connection.run(
      "SELECT count(*), count(*) FILTER (WHERE \(rows.isLive)) FROM \(rows.table) WHERE \(rows.isInScope)", []
    ).first
    let isDistinct = row?.integer(1) == Int64(ledger.read)
    let new = try connection.run(StoredRows.newRows(of: rows, since: floor, where: rows.isInScope), []).first
    return (isDistinct ? row?.integer(0) : nil, StoredRows.NewRows(new, from: 0))
  }

  /// Of a delivery of which a part was skipped: only rows that the rest was about are looked at.
  private func skippedRows(
    _ chunks: ChunkMemory, _ rows: SweptRows, _ ledger: Ledger, _ floor: UInt64, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> (Int64?, StoredRows.NewRows) {
    func new(_ keys: KeyTable) throws(PostgresFailure) -> StoredRows.NewRows {
      let sql = StoredRows.newRows(of: rows, since: floor, where: "\(rows.isInScope) AND \(rows.isIn(keys))")
      return StoredRows.NewRows(try connection.run(sql, []).first, from: 0)
    }
    let keys = zip(rows.keyNames, rows.collations).map { "\($0)\($1)" }.joined(separator: ", ")
    let seen = KeyTable.seen.quotedName
    let row = try connection.run(
      "SELECT (SELECT count(*) FROM (SELECT DISTINCT \(keys) FROM \(seen)) AS s), (SELECT count(*) FROM \(seen))", []
    ).first
    let isDistinct = row?.integer(0) == row?.integer(1) && row?.integer(1) == Int64(ledger.read - chunks.skippedRecordCount)
    let rowCount = chunks.rowCount + Int64(ledger.inserted) - (rows.mark == nil ? Int64(sweptCount) : 0)
    let all = try rows.mark == nil ? new(.seen) : new(.seen) + new(.gone)
    return (isDistinct ? rowCount : nil, all)
  }
}
