import TestSupport
import Testing

@testable import UpsurgeRecords

/// Keys of records as bytes.
@Suite("RowKeys") struct RowKeysTests {
  @Test("Keys come back as they went in, and bytes that are none are told", arguments: 0..<200)
  func roundTrip(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let partCount = Int.random(in: 1...3, using: &random)
    var batch = Batch()
    batch.begin(columnCount: partCount)
    var expected: [[RowKeys.Part]] = []
    var texts: [[[UInt8]]] = []
    for record in 0..<Int.random(in: 0...40, using: &random) {
      var (parts, contents): ([RowKeys.Part], [[UInt8]]) = ([], [])
      for part in 0..<partCount {
        var content: [UInt8] = []
        let cell: Cell
        switch Int.random(in: 0...4, using: &random) {
        case 0:
          let value = [Int64.min, .max, 0, -1, Int64(record)].randomElement(using: &random) ?? 0
          (cell, _) = (.integer(value), parts.append(.integer(value)))
        case 1:
          (cell, _) = (.real(Double(record) / 3), parts.append(.real((Double(record) / 3).bitPattern)))
        default:
          content = (0..<Int.random(in: 0...200, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          }
          let isText = Bool.random(using: &random)
          for (index, byte) in content.enumerated() { batch.spill[batch.spillByteCount + index] = byte }
          cell = Cell(
            kind: isText ? .text : .blob, isInSpill: true, byteCount: UInt32(content.count),
            payload: UInt64(batch.spillByteCount))
          batch.spillByteCount += content.count
          parts.append(isText ? .text(0..<content.count) : .blob(0..<content.count))
        }
        batch.cells[record * partCount + part] = cell
        contents.append(content)
      }
      batch.recordCount += 1
      expected.append(parts)
      texts.append(contents)
    }
    var writer = RowKeys.Writer(cells: Array(0..<partCount))
    var areAllKeyed = true
    for record in 0..<expected.count where !writer.add(record, of: batch) { areAllKeyed = false }
    #expect(areAllKeyed)
    let bytes = writer.take()
    var reader = RowKeys.Reader(bytes, partCount: partCount)
    for (parts, contents) in zip(expected, texts) {
      let isThere = reader.next()
      #expect(isThere)
      for (index, part) in parts.enumerated() {
        switch (part, reader.parts[index]) {
        case (.text, .text(let range)), (.blob, .blob(let range)):
          #expect(Array(reader.bytes[range]) == contents[index], "seed \(seed)")
        default: #expect(part == reader.parts[index], "seed \(seed)")
        }
      }
    }
    let isMore = reader.next()
    #expect(!isMore && !reader.isDamaged)
    // Bytes that were cut or changed may be other keys, and are no reason to stop.
    var broken = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
    for _ in 0..<3 where !broken.isEmpty {
      broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    var other = RowKeys.Reader(broken, partCount: partCount)
    var count = 0
    while other.next() { count += 1 }
    #expect(count <= broken.count)
  }

  @Test("A record that lacks a part of its key leaves nothing", arguments: [Cell.null, .absent])
  func lacking(cell: Cell) {
    var batch = Batch()
    batch.begin(columnCount: 2)
    (batch.cells[0], batch.cells[1]) = (.integer(1), cell)
    batch.recordCount = 1
    var writer = RowKeys.Writer(cells: [0, 1])
    let isKeyed = writer.add(0, of: batch)
    let bytes = writer.take()
    #expect(!isKeyed && bytes.isEmpty)
  }

  @Test("Two hashes of the same bytes do not depend on the parts in which they come", arguments: 0..<100)
  func pairs(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
    let whole = bytes.withUnsafeBytes { ContentHash.pair($0) }
    #expect(whole.first == bytes.withUnsafeBytes { ContentHash.hash($0) })
    #expect(whole.first != whole.second)
    var stream = ContentHash.Stream()
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(Int.random(in: 1...70, using: &random)))
      part.withUnsafeBytes { stream.add($0) }
      rest = rest.dropFirst(part.count)
    }
    #expect(stream.pair == whole)
    guard !bytes.isEmpty else { return }
    var other = bytes
    other[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
    let changed = other.withUnsafeBytes { ContentHash.pair($0) }
    #expect(changed.first != whole.first && changed.second != whole.second)
  }
}
