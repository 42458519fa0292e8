import CSQLite
import UpsurgeRecords

/// Records that were not read, because the last delivery had them, too (see `DeliveryChunks`).
///
///     gone    keys of known chunks that the delivery does not have; their rows are swept, but for those that new
///             records are about
///     made    keys of new chunks; one that is none of the gone ones must be new to the table, or a record that was not
///             read is about the same row
extension TableWriter {
  /// Writes the chunks that the reader has found so far; in the transaction of their records.
  package func storeChunks() throws(UpsurgeError) {
    guard let chunkWriter, chunkWriter.chunks.hasMade else { return }
    do throws(UpsurgeError) {
      try begin()
      try chunkWriter.store()
    } catch {
      throw fail(error)
    }
  }

  /// Records that were not read, as the last delivery had them, too.
  package var skippedRecordCount: UInt64 { chunkWriter?.chunks.skippedRecordCount ?? 0 }

  /// Counts them.
  package func countSkipped() {
    tally.countUnchanged(skippedRecordCount)
  }

  /// The rows that the delivery no longer has, where a part of it was skipped.
  /// - Throws: `guardRefused` where all of it must be read; the chunks are void then.
  func goneRows(_ chunkWriter: ChunkWriter) throws(UpsurgeError) -> [Int64] {
    try chunkWriter.store()
    let goneCount = chunkWriter.goneRecordCount
    let madeCount = chunkWriter.chunks.result.madeRecordCount
    guard goneCount + UInt64(madeCount) <= UInt64(chunkWriter.chunks.keyLimit), let seen else {
      throw void(chunkWriter)
    }
    var gone = HashSet(count: Int(goneCount))
    guard try chunkWriter.visitGone({ gone.insert($0.hash) }) else { throw void(chunkWriter) }
    guard let made = try newKeys(chunkWriter, gone: gone, count: madeCount) else { throw void(chunkWriter) }
    var rowids: [Int64] = []
    let search = try KeySearch(plan, condition: nil, on: connection)
    let isWhole = try chunkWriter.visitGone { key throws(UpsurgeError) in
      if made.contains(key.hash) { return }
      guard let rowid = try search.rowid(of: key) else { return }
      if try !seen.contains(rowid) { rowids.append(rowid) }
    }
    if !isWhole { throw void(chunkWriter) }
    return rowids.sorted()
  }

  /// The keys of the new chunks.
  /// - Returns: nil where one is about a row that was there before, and is none of the gone ones, and where nobody can
  ///   tell.
  private func newKeys(
    _ chunkWriter: ChunkWriter, gone: HashSet, count: Int
  ) throws(UpsurgeError) -> HashSet? {
    var made = HashSet(count: count)
    var before: KeySearch?
    var isClean = true
    let isWhole = try chunkWriter.visitMade { key throws(UpsurgeError) in
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
      if case .soft(let column)? = settings.snapshot?.sweep {
        condition = try SoftMark(column, in: plan.schema).isThere
      }
      return try KeySearch(plan, condition: condition, on: looking)
    } catch {
      return nil
    }
  }

  private func void(_ chunkWriter: ChunkWriter) -> UpsurgeError {
    chunkWriter.chunks.giveUp()
    return UpsurgeError(
      .guardRefused, "what is known of the last delivery does not fit this one, so all of it is read")
  }

  /// Notes what the delivery was made of, where the table says nothing else.
  func finishChunks() throws(UpsurgeError) {
    guard let chunkWriter else { return }
    let others =
      ledger.rejected + ledger.quarantined + ledger.stale + ledger.ignored + ledger.deleted + unreadableCount
    let readCount = ledger.read - chunkWriter.chunks.skippedRecordCount
    // Each record has a row of its own.
    let isDistinct = seen.map { $0.count == readCount } ?? (ledger.inserted == readCount)
    let isRemembered = guardRefusal == nil && others == 0 && isDistinct && earlier.ledger.read == 0
    try chunkWriter.finish(recordCount: isRemembered ? ledger.read : nil)
  }
}

/// Finds the rows of keys that were remembered.
final class KeySearch {
  private let statement: Statement
  /// The parameter of each part.
  private let parameters: [Int32]

  /// - Parameter condition: SQL that must be true of the row.
  init(_ plan: UpsertPlan, condition: String?, on connection: Connection) throws(UpsurgeError) {
    var parameters: [Int32] = []
    for name in plan.key?.columns ?? [] {
      let slot = plan.slots.firstIndex {
        SQLName.isSame(plan.schema.columns[$0.columnIndex].name, name)
      }
      parameters.append(Int32(slot ?? 0) + 1)
    }
    self.parameters = parameters
    let find = try plan.findSQL(
      shape: SlotShape(full: plan.slots.count), columns: [TableSchema.rowidIndex], .numbered)
    let rowid = plan.schema.rowidName ?? "rowid"
    let table = try SQLName.quote(plan.schema.name)
    statement = try connection.prepare(
      condition.map { "SELECT \(rowid) FROM main.\(table) WHERE \(rowid) = (\(find)) AND (\($0))" } ?? find,
      isPersistent: true)
  }

  func rowid(of key: RowKeys.Reader) throws(UpsurgeError) -> Int64? {
    defer { statement.reset() }
    for (part, parameter) in zip(key.parts, parameters) {
      switch part {
      case .null: try statement.bind(SQLValue.null, at: parameter)
      case .integer(let value): try statement.bind(value, at: parameter)
      case .real(let bits): try statement.bind(.real(Double(bitPattern: bits)), at: parameter)
      case .text(let range):
        try statement.bind(.text(String(decoding: key.bytes[range], as: UTF8.self)), at: parameter)
      case .blob(let range): try statement.bind(.blob(Array(key.bytes[range])), at: parameter)
      }
    }
    return try statement.step() ? statement.integer(at: 0) : nil
  }
}
