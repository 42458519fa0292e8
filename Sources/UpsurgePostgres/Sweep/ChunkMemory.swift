import Upsurge
import UpsurgeRecords
import UpsurgeState

/// What is known of the last delivery in parts, and what is remembered of this one; in the transaction of its rows.
///
///     begin     reads once more what is known: another run may have stored a delivery meanwhile
///     look      judges whether the rows are still those that the last delivery has left
///     store     new chunks go up as they come
///     finish    what the delivery was made of takes the place of what was known
final class ChunkMemory {
  let chunks: DeliveryChunks
  let notes: ChunkNotes
  private let known: ChunkNotes.Known?
  /// Distinguishes what this run writes from what others have written.
  private let run: String
  /// What is written from now on is of transactions from it on; nil before the first record.
  private(set) var floor: UInt64?
  /// Rows of the feed before the first record.
  private(set) var rowCount: Int64 = 0
  /// Whether all of them were written before the floor.
  private(set) var isQuiet = true
  private var madeCount = 0

  init(_ chunks: DeliveryChunks, _ notes: ChunkNotes, known: ChunkNotes.Known?, run: String) {
    (self.chunks, self.notes, self.run) = (chunks, notes, run)
    self.known = chunks.manifest == nil ? nil : known
  }

  /// Whether parts of the delivery may be skipped.
  var isUsed: Bool { known != nil }

  /// Records that were not read, as the last delivery had them, too.
  var skippedRecordCount: UInt64 { chunks.skippedRecordCount }

  /// Says that all must be read.
  /// - Returns: the error that the transaction ends with.
  func giveUp() -> UpsurgeError {
    chunks.giveUp()
    return UpsurgeError(.guardRefused, "what is known of the last delivery does not fit this one, so all of it is read")
  }

  // MARK: - Before the first record

  /// - Returns: false where what is known is not what it was.
  func begin(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    if floor != nil { return true }
    floor = try connection.run("SELECT \(StoredRows.nextFloor)", []).first?.text(0).flatMap { UInt64($0) }
    guard let known else { return true }
    return try notes.header(connection) == known.header
  }

  /// Looks at the rows before the first record.
  /// - Parameter count: how many there are.
  /// - Returns: false where others have written to the table since the last delivery.
  func look(at rows: SweptRows, count: Int64, _ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    guard let floor else { return false }
    rowCount = count
    if let known, !StoredRows.isNear(known.mark.floor, next: floor) { return false }
    let newest = ", count(*) FILTER (WHERE \(StoredRows.isNew(rows.alias, since: floor)))"
    let sql = StoredRows.newRows(of: rows, since: known?.mark.floor ?? floor, where: rows.isInScope, more: newest)
    let row = try connection.run(sql, []).first
    isQuiet = row?.integer(3) == 0
    guard let known else { return true }
    guard let table = try StoredRows.table(rows.quotedName, connection) else { return false }
    return known.mark == StoredRows(table: table, floor: known.mark.floor, rowCount: count, new: StoredRows.NewRows(row, from: 0))
  }

  // MARK: - The delivery

  /// Stores the new chunks that have come so far.
  func store(_ connection: PostgresConnection) throws(PostgresFailure) {
    let made = chunks.takeMade()
    if made.isEmpty { return }
    if madeCount == 0 { try notes.makeWaiting(connection) }
    try notes.add(made, behind: madeCount, connection)
    madeCount += made.count
  }

  /// The known chunks that the delivery does not have any more.
  var gone: [SnapshotChunk] {
    guard let manifest = chunks.manifest else { return [] }
    var isThere = Array(repeating: false, count: manifest.chunks.count)
    for case .known(let index) in chunks.result.entries { isThere[index] = true }
    return zip(manifest.chunks, isThere).filter { !$1 }.map(\.0)
  }

  // MARK: - The end

  /// Remembers what the delivery was made of.
  /// - Parameter mark: what the rows are now; nil where it is not to be remembered.
  func finish(recordCount: UInt64, _ mark: StoredRows?, _ connection: PostgresConnection) throws(PostgresFailure) {
    try store(connection)
    let result = chunks.result
    guard let mark, let details = result.details, let fingerprint = chunks.fingerprint,
      try write(result.entries, connection)
    else { return try notes.forget(connection) }
    try notes.write("\(fingerprint)|\(mark.text)|\(run)", details: details, recordCount: recordCount, connection)
  }

  private func write(
    _ entries: [DeliveryChunks.Entry], _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    if skippedRecordCount > 0 {
      return try notes.merge(entries, known: chunks.manifest?.chunks ?? [], gone: gone, connection)
    }
    // A delivery without a record has none.
    if madeCount == 0 { return false }
    try notes.replaceAll(connection)
    return true
  }
}
