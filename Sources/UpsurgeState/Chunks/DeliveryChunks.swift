import UpsurgeRecords

/// What the reading and the writing thread of a run tell each other of the chunks of a delivery.
package final class DeliveryChunks: Sendable {
  /// What the last delivery was made of, where the run may skip what it knows; else nil.
  package let manifest: ChunkManifest?
  /// What decides how the bytes become records; nil where the run only forgets what is known.
  package let fingerprint: String?
  /// The cells of a record that make its key.
  package let keyCells: [Int]
  /// More chunks are not remembered.
  package let chunkLimit: Int
  /// More records are not compared by their keys: then all are read.
  package let keyLimit: Int

  /// One that is new, with the keys of its records.
  package struct Made: Sendable {
    package var chunk: SnapshotChunk
    package var keys: [UInt8]

    package init(chunk: SnapshotChunk, keys: [UInt8]) { (self.chunk, self.keys) = (chunk, keys) }
  }

  /// The chunks of the delivery, in order.
  package enum Entry: Sendable {
    /// An index of the manifest's chunks.
    case known(Int)
    /// So many new ones.
    case made(Int)
  }

  private struct State {
    var waiting: [Made] = []
    var entries: [Entry] = []
    var madeCount = 0
    var madeRecordCount = 0
    var skippedRecordCount: UInt64 = 0
    var details: String?
    var isIncomplete = false
    var isVoid = false
    var readsAll = false
  }

  private let state = Guarded(State())

  package init(
    manifest: ChunkManifest?, fingerprint: String, keyCells: [Int], chunkLimit: Int, keyLimit: Int
  ) {
    self.manifest = manifest
    self.fingerprint = fingerprint
    self.keyCells = keyCells
    self.chunkLimit = chunkLimit
    self.keyLimit = keyLimit
  }

  /// For a run after which nothing is known.
  package init(forgetting: Void) {
    manifest = nil
    fingerprint = nil
    keyCells = []
    chunkLimit = 0
    keyLimit = 0
  }

  // MARK: - The reading thread

  /// Hands new chunks over.
  /// - Returns: false where there are too many records to be compared by their keys.
  package func add(_ made: [Made]) -> Bool {
    if made.isEmpty { return true }
    return state.withLock {
      $0.madeCount += made.count
      $0.madeRecordCount += made.reduce(0) { $0 + Int($1.chunk.recordCount) }
      if $0.madeCount > chunkLimit { $0.isIncomplete = true }
      if $0.isIncomplete {
        $0.waiting = []
      } else {
        $0.waiting += made
        if case .made(let count)? = $0.entries.last {
          $0.entries[$0.entries.count - 1] = .made(count + made.count)
        } else {
          $0.entries.append(.made(made.count))
        }
      }
      return $0.skippedRecordCount == 0 || $0.madeRecordCount <= keyLimit
    }
  }

  /// Says that known chunks come next, and were not read.
  package func skip(_ indexes: [Int]) {
    guard let manifest else { return }
    state.withLock {
      for index in indexes {
        $0.entries.append(.known(index))
        $0.skippedRecordCount += manifest.chunks[index].recordCount
      }
    }
  }

  /// Says that no known chunk is looked for any more, and that the delivery is not to be remembered.
  package func noteReadingAll() {
    state.withLock {
      $0.readsAll = true
      $0.isIncomplete = true
      $0.waiting = []
    }
  }

  /// Whether records may be skipped from here on, or were.
  package var maySkip: Bool { manifest != nil && state.withLock { !$0.readsAll } }

  /// Says that a record has no key that could be remembered.
  package func noteUnkeyed() { state.withLock { $0.isIncomplete = true } }

  /// Says that the delivery was read to its end.
  /// - Parameter details: what the parser knows there; nil where it was inside something.
  package func end(details: String?) { state.withLock { $0.details = details } }

  /// Says that what is known does not fit this delivery: all of it must be read.
  package func giveUp() { state.withLock { $0.isVoid = true } }

  package var isVoid: Bool { state.withLock { $0.isVoid } }

  // MARK: - The writing thread

  /// Whether there are new chunks to be taken. Those before the first known one, a MiB at most, wait for it: where none
  /// comes, they were written in vain. SQLite would have to write their pages a second time then, far back in the log, and to
  /// compute the checksums of all of the log after them anew.
  package var hasMade: Bool {
    state.withLock { !$0.waiting.isEmpty && (manifest == nil || $0.skippedRecordCount > 0) }
  }

  /// The new chunks that were not taken yet.
  package func takeMade() -> [Made] {
    state.withLock { state in
      let made = state.waiting
      state.waiting = []
      return made
    }
  }

  /// Records that were not read.
  package var skippedRecordCount: UInt64 { state.withLock { $0.skippedRecordCount } }

  /// What became of the delivery, once the reading thread has ended.
  package var result: (entries: [Entry], madeRecordCount: Int, details: String?) {
    state.withLock { ($0.entries, $0.madeRecordCount, $0.isIncomplete ? nil : $0.details) }
  }
}
