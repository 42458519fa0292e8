import UpsurgeRecords

/// Batches of the reader, put together until they are worth a transaction.
final class GatheredBatch {
  private var room: Batch
  /// False where the system has no room for it; each batch is stored alone then.
  private let hasRoom: Bool
  private let byteLimit: Int

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

  /// Hands over what is here, and is empty then.
  func empty<E: Error>(_ body: (inout Batch) throws(E) -> Void) throws(E) {
    if !hasRoom { return }
    defer { room.discard() }
    try body(&room)
  }
}
