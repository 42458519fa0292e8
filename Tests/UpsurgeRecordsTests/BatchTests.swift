import Testing

@testable import UpsurgeRecords

@Suite("Batch")
struct BatchTests {
  @Test("The unparsed tail moves to the next batch with its offset in the stream", arguments: [0, 1, 5, 8])
  func tail(parsed: Int) {
    let sizes = Batch.Sizes(arenaByteCount: 8, cellCount: 4, recordCount: 4)
    var first = Batch(sizes: sizes)
    for (index, byte) in "abcdefgh".utf8.enumerated() { first.arena[index] = byte }
    first.arenaByteCount = 8
    first.parsedByteCount = parsed
    first.origin.sourceOffset = 100
    var next = Batch(sizes: sizes)
    next.takeTail(of: &first)
    let bytes = UnsafeBufferPointer(start: next.arena, count: next.arenaByteCount)
    #expect(String(decoding: bytes, as: UTF8.self) == String("abcdefgh".dropFirst(parsed)))
    let (offset, room, left) = (
      next.origin.sourceOffset, next.arenaCapacity - next.arenaByteCount, first.arenaByteCount
    )
    #expect(offset == UInt64(100 + parsed))
    #expect(room > 0, "there must be room to read on")
    #expect(left == parsed)
  }

  @Test("A batch that grew has its first sizes after a reset and holds nothing of before")
  func reset() {
    var batch = Batch(sizes: Batch.Sizes(arenaByteCount: 4, cellCount: 2, recordCount: 2))
    for (index, byte) in "abcd".utf8.enumerated() { batch.arena[index] = byte }
    batch.arenaByteCount = 4
    batch.growArena(to: 64)
    let last = batch.arena[3]
    #expect(last == UInt8(ascii: "d"))
    batch.begin(columnCount: 5)
    let hasRoomAtFirst = batch.hasRoomForRecord
    batch.recordCount = 1
    let hasRoomLater = batch.hasRoomForRecord
    #expect(hasRoomAtFirst && !hasRoomLater)
    batch.reset()
    let isAsNew = batch.arenaCapacity == 4 && batch.isEmpty && batch.columnCount == 0
    #expect(isAsNew)
  }
}
