import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

/// Chunks of one delivery found in the next.
@Suite("ChunkSearch") struct ChunkSearchTests {
  private enum Piece: Equatable {
    case fresh([UInt8])
    case known([Int])
  }

  private static let sizes = {
    var sizes = SnapshotChunk.Sizes()
    (sizes.usual, sizes.least, sizes.most) = (200, 64, 2_000)
    return sizes
  }()

  private func lines(_ count: Int, _ random: inout SeededGenerator) -> [[UInt8]] {
    (0..<count).map { number in
      let length = Int.random(in: 0...60, using: &random)
      return Array(
        "\(number),\(String(repeating: "x", count: length))\(UInt8.random(in: 0...255, using: &random))\n"
          .utf8)
    }
  }

  /// Chunks of whole lines, as a delivery is cut into.
  private func chunks(of lines: [[UInt8]]) -> (known: [SnapshotChunk], bytes: [[UInt8]]) {
    var (known, contents, open): ([SnapshotChunk], [[UInt8]], [UInt8]) = ([], [], [])
    for (index, line) in lines.enumerated() {
      open += line
      guard open.count >= Self.sizes.usual || index == lines.count - 1 else { continue }
      let isFit = open.count >= Self.sizes.least
      known.append(
        SnapshotChunk(
          byteCount: open.count, head: open.prefix(64).withUnsafeBytesOf { ContentHash.hash($0) },
          hash: isFit ? open.withUnsafeBytes { ContentHash.pair($0) } : nil, lineCount: 0, recordCount: 0))
      contents.append(open)
      open = []
    }
    return (known, contents)
  }

  /// What a search makes of a stream that comes in parts.
  private func pieces(
    _ known: [SnapshotChunk], _ sizes: SnapshotChunk.Sizes, _ stream: [UInt8], most: Int, buffer: Int,
    _ seed: UInt64
  ) throws -> [Piece] {
    var random = SeededGenerator(seed: seed)
    let search = ChunkSearch(known, sizes: sizes, offset: 10)
    var at = 0
    let read: ChunkSearch.Read = { memory throws(UpsurgeError) in
      let count = min(memory.count, stream.count - at, Int.random(in: 1...most, using: &random))
      memory.copyBytes(from: stream[at..<at + count])
      at += count
      return count
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer, alignment: 1)
    defer { memory.deallocate() }
    var (pieces, fresh, place): ([Piece], [UInt8], UInt64) = ([], [], 10)
    while true {
      let count = try search.read(into: memory, from: read)
      fresh += memory[..<count]
      place += UInt64(count)
      #expect(search.offset == place)
      if count > 0 { continue }
      if !fresh.isEmpty { pieces.append(.fresh(fresh)) }
      fresh = []
      if search.isEnded { return pieces }
      let skipped = try search.skip(from: read)
      #expect(!skipped.isEmpty)
      place += skipped.reduce(0) { $0 + UInt64(known[$1].byteCount) }
      #expect(search.offset == place)
      pieces.append(.known(skipped))
      if search.isEnded { return pieces }
    }
  }

  @Test(
    "What is found does not depend on how the bytes come, and is what stands there",
    arguments: SeededGenerator.some(of: 300))
  func found(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let first = lines(Int.random(in: 0...150, using: &random), &random)
    let (known, contents) = chunks(of: first)
    var next = first
    for _ in 0..<Int.random(in: 0...4, using: &random) where !next.isEmpty {
      let place = Int.random(in: 0..<next.count, using: &random)
      switch Int.random(in: 0...3, using: &random) {
      case 0: next[place] = Array("changed\n".utf8)
      case 1: next.insert(Array("new,\"\n\",x\n".utf8), at: place)
      case 2: next.removeSubrange(place..<min(place + 20, next.count))
      default:
        let block = next[place..<min(place + 30, next.count)]
        next.removeSubrange(block.indices)
        next.insert(contentsOf: block, at: Int.random(in: 0...next.count, using: &random))
      }
    }
    var stream = Array("id,v\n".utf8) + next.joined()
    if Bool.random(using: &random), !stream.isEmpty { stream.removeLast() }
    var sizes = Self.sizes
    if Bool.random(using: &random) { sizes.patience = 150 }
    let expected = try pieces(known, sizes, stream, most: .max >> 1, buffer: 1 << 16, seed)
    var joined: [UInt8] = []
    var last = -1
    for piece in expected {
      switch piece {
      case .fresh(let bytes): joined += bytes
      case .known(let indexes):
        for index in indexes {
          #expect(index > last && known[index].hash != nil, "seed \(seed)")
          last = index
          joined += contents[index]
        }
      }
    }
    #expect(joined == stream, "seed \(seed)")
    for (most, buffer) in [(1, 64), (7, 1), (100, 5_000), (64, 1_000)] {
      #expect(try pieces(known, sizes, stream, most: most, buffer: buffer, seed) == expected, "seed \(seed)")
    }
    if next == first, stream.last == 0x0A, sizes.patience > 1_000 {
      let count = expected.reduce(0) { if case .known(let found) = $1 { $0 + found.count } else { $0 } }
      #expect(count == known.count { $0.hash != nil }, "seed \(seed)")
    }
  }

  @Test(
    "Chunks that begin alike are found, and a stream of nothing but beginnings costs no more than its bytes")
  func alike() throws {
    let line = Array("same,same,same,same,same,same,same,same,same,same,same,same,same\n".utf8)
    let known = SnapshotChunk(
      byteCount: line.count * 10, head: line.prefix(64).withUnsafeBytesOf { ContentHash.hash($0) },
      hash: ContentHash.Pair(first: 1, second: 2), lineCount: 10, recordCount: 10)
    let stream = Array((0..<2_000).map { _ in line }.joined())
    #expect(
      try pieces([known], Self.sizes, stream, most: 1_000, buffer: 4_096, 1) == [.fresh(stream)])
  }
}

extension ArraySlice<UInt8> {
  fileprivate func withUnsafeBytesOf<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes { body($0) }
  }
}
