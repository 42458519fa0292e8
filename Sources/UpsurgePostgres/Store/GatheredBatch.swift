import UpsurgeRecords

/// Batches of the reader, put together until they are worth a transaction.
final class GatheredBatch {
  private var room: Batch
  /// False where the system has no room for it; each batch is stored alone then.
  private let hasRoom: Bool
  private let byteLimit: Int
  /// The records as they will be sent, where that is known.
  private var ahead: AheadRows?
  /// What its parts have touched since their memory was let go.
  private var touched = Touched()

  private struct Touched {
    private var (arena, spill, cells, records) = (0, 0, 0, 0)

    var byteCount: Int { arena + spill + cells + records }

    mutating func note(_ batch: borrowing Batch) {
      arena = max(arena, batch.parsedByteCount)
      spill = max(spill, batch.spillByteCount)
      cells = max(cells, batch.recordCount * batch.columnCount * MemoryLayout<Cell>.stride)
      records = max(records, batch.recordCount * MemoryLayout<RecordPosition>.stride)
    }
  }

  /// - Parameter byteLimit: of text, cells and positions together.
  init(byteLimit: Int) {
    self.byteLimit = byteLimit
    if let reserved = Batch.reserved(byteCount: max(byteLimit, 1 << 20)) {
      room = reserved
      hasRoom = true
    } else {
      room = Batch(sizes: Batch.Sizes(arenaByteCount: 1, cellCount: 1, recordCount: 1))
      hasRoom = false
    }
  }

  var recordCount: Int { room.recordCount }
  var usedByteCount: Int { room.usedByteCount }
  var isEmpty: Bool { room.parts.isEmpty }

  /// Takes a batch.
  /// - Returns: false where it does not go together with those that are here, or is too large.
  func take(_ batch: borrowing Batch) -> Bool {
    guard hasRoom, room.takes(batch), isEmpty || room.usedByteCount + batch.usedByteCount <= byteLimit else {
      return false
    }
    room.append(batch)
    return true
  }

  /// Encodes what is here.
  func encode(by recipe: RowRecipe?) {
    guard let recipe, !room.hasAbsentCells else { return }
    if ahead?.recipe.number != recipe.number { ahead = AheadRows(recipe) }
    ahead?.prepare(room)
  }

  /// Lets go of all memory, before a batch that needs much of it. Nothing may be here.
  func letGo() {
    if !hasRoom { return }
    precondition(isEmpty, "what is gathered is stored first")
    room.discard()
    touched = Touched()
    ahead = nil
  }

  /// Hands over what is here, and is empty then.
  func empty<E: Error>(_ body: (inout Batch, AheadRows?) throws(E) -> Void) throws(E) {
    if !hasRoom { return }
    defer { clear() }
    try body(&room, ahead)
  }

  /// Batches that follow are mostly of the same kind, and memory that was touched is had at once. Where they are not, it is let go:
  /// each part has room for all that may be held.
  private func clear() {
    ahead?.forget()
    touched.note(room)
    if touched.byteCount <= byteLimit + byteLimit / 8 { return room.reset() }
    room.discard()
    touched = Touched()
  }
}
