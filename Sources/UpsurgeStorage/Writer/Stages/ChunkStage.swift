import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Records that were not read, because the last delivery had them, too (see `DeliveryChunks`).
///
///     gone    keys of known chunks that the delivery does not have; their rows are swept, but for those that new
///             records are about
///     made    keys of new chunks; one that is not among the gone ones must be new to the table, or a record that was not
///             read is about the same row
final class ChunkStage: WriterStage {
  unowned let writer: TableWriter
  /// Keeps what the delivery is made of.
  private let chunks: ChunkWriter
  /// The rows that the delivery no longer has, where that was found out before the sweep.
  private var foundRowids: [Int64]?

  init(_ writer: TableWriter, _ chunks: DeliveryChunks) {
    self.writer = writer
    self.chunks = ChunkWriter(chunks, table: writer.bound.plan.schema.name, on: writer.connection)
  }

  var permits: StorePermits { .all }

  func didBegin() throws(UpsurgeError) { try chunks.didBegin() }

  /// Writes the chunks that the reader has found so far.
  func store() throws(UpsurgeError) {
    guard chunks.chunks.hasMade else { return }
    do throws(UpsurgeError) {
      try writer.begin()
      try chunks.store()
    } catch {
      throw writer.fail(error)
    }
  }

  /// Records that were not read, as the last delivery had them, too.
  var skippedRecordCount: UInt64 { chunks.chunks.skippedRecordCount }

  /// The part of a transaction ends that others go on with. Whether all must be read after all is found out as long as
  /// this part can be taken back alone.
  func willSuspend() throws(UpsurgeError) {
    if skippedRecordCount == 0 { return }
    do throws(UpsurgeError) {
      try writer.begin()
      foundRowids = try goneRows()
    } catch {
      throw writer.fail(error)
    }
  }

  /// The rows that the delivery no longer has; nil where all of it was read.
  /// - Throws: `guardRefused` where all of it must be read; the chunks are void then.
  func goneRowids() throws(UpsurgeError) -> [Int64]? {
    if skippedRecordCount == 0 { return nil }
    if let foundRowids { return foundRowids }
    return try goneRows()
  }

  /// The rows that the delivery no longer has, where a part of it was skipped.
  /// - Throws: `guardRefused` where all of it must be read; the chunks are void then.
  private func goneRows() throws(UpsurgeError) -> [Int64] {
    try chunks.store()
    let goneCount = chunks.goneRecordCount
    let madeCount = chunks.chunks.result.madeRecordCount
    guard goneCount + UInt64(madeCount) <= UInt64(chunks.chunks.keyLimit),
      let seen = writer.stages.sweep?.seen
    else {
      throw void()
    }
    var gone = HashSet(count: Int(goneCount))
    guard try chunks.visitGone({ gone.insert($0.hash) }) else { throw void() }
    guard let made = try newKeys(gone: gone, count: madeCount) else { throw void() }
    var rowids: [Int64] = []
    let search = try KeySearch(plan, condition: nil, on: connection)
    let isWhole = try chunks.visitGone { key throws(UpsurgeError) in
      if made.contains(key.hash) { return }
      guard let rowid = try search.rowid(of: key) else { return }
      if try !seen.contains(rowid) { rowids.append(rowid) }
    }
    if !isWhole { throw void() }
    return rowids.sorted()
  }

  /// The keys of the new chunks.
  /// - Returns: nil where one is about a row that was there before, and is not one of the gone ones, and where nobody can
  ///   say.
  private func newKeys(
    gone: HashSet, count: Int
  ) throws(UpsurgeError) -> HashSet? {
    var made = HashSet(count: count)
    var before: KeySearch?
    var isClean = true
    let isWhole = try chunks.visitMade { key throws(UpsurgeError) in
      let hash = key.hash
      made.insert(hash)
      if !isClean || gone.contains(hash) { return }
      if before == nil { before = searchBefore() }
      if try before.map({ search throws(UpsurgeError) in try search.rowid(of: key) == nil }) != true {
        isClean = false
      }
    }
    return isWhole && isClean ? made : nil
  }

  /// Looks rows up as they were before the transaction; rows that a feed has marked as gone are none.
  /// - Returns: nil where the database cannot be opened once more.
  private func searchBefore() -> KeySearch? {
    do throws(UpsurgeError) {
      let looking = try Connection.looking(at: connection.path)
      var condition: String?
      if case .soft(let column)? = settings.delivery.snapshot?.sweep {
        condition = try SoftMark(column, in: plan.schema).isThere
      }
      return try KeySearch(plan, condition: condition, on: looking)
    } catch {
      return nil
    }
  }

  private func void() -> UpsurgeError {
    chunks.chunks.giveUp()
    return UpsurgeError(
      .guardRefused, "what is known of the last delivery does not fit this one, so all of it is read")
  }

  /// Notes what the delivery was made of, where the table says nothing else.
  func finish() throws(UpsurgeError) {
    let ledger = writer.ledger
    let unreadableCount = writer.stages.sweep?.unreadableCount ?? 0
    let others =
      ledger.rejected + ledger.quarantined + ledger.stale + ledger.ignored + ledger.deleted + unreadableCount
    let readCount = ledger.read - chunks.chunks.skippedRecordCount
    // Each record has a row of its own.
    let isDistinct = writer.stages.sweep?.seen.map { $0.count == readCount } ?? (ledger.inserted == readCount)
    let isRemembered =
      writer.guardRefusal == nil && others == 0 && isDistinct && writer.earlier.ledger.read == 0
    try chunks.finish(recordCount: isRemembered ? ledger.read : nil)
  }
}

extension TableWriter {
  /// Writes the chunks that the reader has found so far; in the transaction of their records.
  package func storeChunks() throws(UpsurgeError) { try stages.chunks?.store() }

  /// Records that were not read, as the last delivery had them, too.
  package var skippedRecordCount: UInt64 { stages.chunks?.skippedRecordCount ?? 0 }

  /// Counts them.
  package func countSkipped() { tally.countUnchanged(skippedRecordCount) }
}
