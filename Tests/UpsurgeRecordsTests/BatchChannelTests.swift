import Testing

@testable import UpsurgeRecords

@Suite("Batches between two threads")
struct BatchChannelTests {
  private let sizes = Batch.Sizes(arenaByteCount: 8, cellCount: 8, recordCount: 8)

  @Test("Batches come out in the order in which they went in, and the end is seen after them")
  func order() {
    let channel = BatchChannel(capacity: 3)
    for index in 0..<3 {
      var batch = Batch(sizes: sizes)
      batch.origin.sourceIndex = index
      let isTaken = channel.send(batch)
      #expect(isTaken)
    }
    channel.close()
    var seen: [Int] = []
    while let batch = channel.receive() { seen.append(batch.origin.sourceIndex) }
    #expect(seen == [0, 1, 2])
    let isTaken = channel.send(Batch(sizes: sizes))
    #expect(!isTaken)
  }

  @Test("A sender waits for room and a receiver for a batch, whatever the capacity", arguments: [1, 2, 7])
  func twoThreads(capacity: Int) async {
    let channel = BatchChannel(capacity: capacity)
    let sizes = sizes
    let sender = Task.detached {
      for index in 0..<1_000 {
        var batch = Batch(sizes: sizes)
        batch.origin.sourceIndex = index
        channel.send(batch)
      }
      channel.close()
    }
    let receiver = Task.detached {
      var seen: [Int] = []
      while let batch = channel.receive() { seen.append(batch.origin.sourceIndex) }
      return seen
    }
    await sender.value
    #expect(await receiver.value == Array(0..<1_000))
  }

  @Test("Closing wakes a sender that waits, and its batch is freed")
  func closeWakes() async {
    let channel = BatchChannel(capacity: 1)
    channel.send(Batch(sizes: sizes))
    let sizes = sizes
    let sender = Task.detached { channel.send(Batch(sizes: sizes)) }
    channel.close()
    #expect(await sender.value == false)
  }
}
