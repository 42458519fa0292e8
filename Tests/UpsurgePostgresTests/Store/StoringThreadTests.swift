import Foundation
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("The thread that stores")
struct StoringThreadTests {
  private func batch() -> GatheredBatch { GatheredBatch(byteLimit: 1 << 20) }

  @Test("Batches are stored one after another, each by the time that `finish` returns")
  func order() throws {
    let stored = Guarded<[ObjectIdentifier]>([])
    let thread = StoringThread { (batch) throws(UpsurgeError) in stored.withLock { $0.append(ObjectIdentifier(batch)) } }
    let batches = (0..<5).map { _ in batch() }
    for (index, batch) in batches.enumerated() {
      try thread.begin(batch)
      try thread.finish()
      #expect(stored.withLock { $0 } == batches[...index].map { ObjectIdentifier($0) })
    }
    // Nothing is stored: it returns at once.
    try thread.finish()
    thread.end()
    thread.end()
  }

  @Test("An error is thrown once, and the next batch is stored")
  func failure() throws {
    let count = Guarded(0)
    let thread = StoringThread { (_) throws(UpsurgeError) in
      if count.withLock({ $0 += 1; return $0 }) == 1 { throw UpsurgeError(.database, "no room") }
    }
    try thread.begin(batch())
    let error = #expect(throws: UpsurgeError.self) { try thread.finish() }
    #expect(error?.message == "no room")
    try thread.finish()
    try thread.begin(batch())
    try thread.finish()
    #expect(count.withLock { $0 } == 2)
    thread.end()
  }

  @Test("The end waits for the batch that is stored")
  func end() throws {
    let isDone = Guarded(false)
    let thread = StoringThread { (_) throws(UpsurgeError) in
      usleep(50_000)
      isDone.withLock { $0 = true }
    }
    try thread.begin(batch())
    thread.end()
    #expect(isDone.withLock { $0 })
    // One that stored nothing has no thread.
    StoringThread { (_) throws(UpsurgeError) in }.end()
  }
}
