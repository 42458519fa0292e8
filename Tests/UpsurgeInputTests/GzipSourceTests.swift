import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

@Suite("GzipSource: members, padding, cuts and corruption")
struct GzipSourceTests {
  private func decompress(_ compressed: [UInt8], pieces: Int = 1 << 16, buffer: Int = 1 << 16) throws
    -> Delivery
  {
    drain(try GzipSource(MemorySource(compressed, pieces: pieces), name: "feed.gz"), buffer: buffer)
  }

  @Test("all kinds of streams, with every buffer", arguments: [1, 2, 3, 7, 1000, 1 << 16, 1 << 20])
  func decompressesMembers(buffer: Int) throws {
    let a = Compressing.table(3_000, seed: 1)
    let b = Compressing.table(buffer < 8 ? 9_000 : 700_000, seed: 2)
    let zeros = [UInt8](repeating: 0, count: 200_000)
    let table: [(what: String, compressed: [UInt8], content: [UInt8])] = [
      ("one member", Compressing.gzip(b), b),
      ("with a name and a header CRC", Compressing.gzip(a, name: "feed.csv"), a),
      ("two members", Compressing.gzip(a) + Compressing.gzip(b, name: "x"), a + b),
      ("empty member", Compressing.gzip([]), []),
      ("empty members around", Compressing.gzip([]) + Compressing.gzip(a) + Compressing.gzip([]), a),
      ("one zero behind", Compressing.gzip(a) + [0], a),
      ("padded", Compressing.gzip(a) + Compressing.gzip(b) + zeros, a + b),
    ]
    for (what, compressed, content) in table {
      for pieces in [1, 5, 4_099] where pieces > 5 || compressed.count < 20_000 {
        let delivery = try decompress(compressed, pieces: pieces, buffer: buffer)
        #expect(delivery.error == nil, "\(what), pieces of \(pieces)")
        expectSame(delivery.bytes, content, "\(what), pieces of \(pieces)")
      }
    }
  }

  @Test("thousands of small members, as bgzip writes them")
  func decompressesManyMembers() throws {
    let lines = (0..<1_500).map { Array("\($0),name \($0)\n".utf8) }
    let compressed = lines.flatMap { Compressing.gzip($0) }
    for pieces in [7, 1 << 16] {
      try expectSame(decompress(compressed, pieces: pieces).bytes, lines.flatMap { $0 })
    }
  }

  @Test("a stream cut at any byte is an error, and what came before is right", arguments: [1, 1 << 16])
  func noticesCuts(pieces: Int) throws {
    let content = Compressing.table(900, seed: 4)
    for compressed in [
      Compressing.gzip(content), Compressing.gzip(content, name: "feed"), Compressing.gzip([]),
    ] {
      for cut in 0..<compressed.count {
        let delivery = try decompress(Array(compressed[..<cut]), pieces: pieces, buffer: 64)
        let error = try #require(delivery.error, "cut at \(cut) of \(compressed.count)")
        #expect(error.code == .badInput)
        #expect(
          error.description
            == "feed.gz is cut off: the gzip stream ends inside a member, at byte \(cut) of the file and byte "
            + "\(delivery.bytes.count) of its content\n  at feed.gz, byte \(delivery.bytes.count)\n"
            + "  fix: get it again; gzip -t feed.gz checks it")
        expectSame(delivery.bytes, content.prefix(delivery.bytes.count))
      }
    }
  }

  @Test("a second member cut at any byte is an error, except where it would begin")
  func noticesCutsOfLaterMembers() throws {
    let content = Compressing.table(400, seed: 5)
    let first = Compressing.gzip(content)
    for cut in 1..<first.count {
      let delivery = try decompress(first + first[..<cut])
      #expect(delivery.error?.code == .badInput, "cut at \(cut)")
      expectSame(delivery.bytes, (content + content).prefix(delivery.bytes.count))
    }
  }

  @Test("a flipped bit is an error or changes nothing")
  func noticesFlippedBits() throws {
    let content = Compressing.table(700, seed: 6)
    let compressed = Compressing.gzip(content, name: "n")
    for bit in 0..<compressed.count * 8 {
      var flipped = compressed
      flipped[bit / 8] ^= 1 << (bit % 8)
      let delivery = try decompress(flipped)
      if delivery.error == nil { expectSame(delivery.bytes, content, "bit \(bit)") }
      if let error = delivery.error { #expect(error.code == .badInput && error.hint != nil) }
    }
  }

  @Test(
    "wrong CRC and wrong length are told apart",
    arguments: [(8, "incorrect data check"), (4, "incorrect length check")])
  func locatesCorruption(fromEnd: Int, reason: String) throws {
    let content = Compressing.table(300_000, seed: 7)
    var compressed = Compressing.gzip(content)
    compressed[compressed.count - fromEnd] ^= 1
    let delivery = try decompress(compressed)
    #expect(
      delivery.error?.description
        == "feed.gz is corrupt: \(reason) in the gzip stream, near byte \(compressed.count - fromEnd + 4) of the file "
        + "and after byte 300000 of its content\n  at feed.gz, byte 300000\n"
        + "  fix: get it again; gzip -t feed.gz checks it")
  }

  @Test("what follows the last member is an error, unless it is zeros")
  func refusesTrailingGarbage() throws {
    let content = Compressing.table(1_000, seed: 8)
    let member = Compressing.gzip(content)
    let table: [(garbage: [UInt8], offset: Int, shown: String)] = [
      (Array("<html>".utf8), 0, "3C 68 74 6D"), ([0x1F, 0x8C], 0, "1F 8C"), ([1], 0, "01"),
      ([0, 0, 0, 7], 3, "07"), ([UInt8](repeating: 0, count: 300_000) + [0x1F, 0x8B], 300_000, "1F 8B"),
    ]
    for (garbage, offset, shown) in table {
      let delivery = try decompress(member + garbage)
      expectSame(delivery.bytes, content)
      #expect(
        delivery.error?.message
          == "feed.gz goes on after its last gzip member, with the bytes \(shown) at byte "
          + "\(member.count + offset) of the file")
      #expect(delivery.error?.code == .badInput)
    }
  }

  @Test("random bytes never trap")
  func survivesNoise() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<1_000 {
      let count = Int.random(in: 0..<60, using: &random)
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let delivery = try decompress(
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + noise, pieces: 1 + round % 9, buffer: 100)
      #expect(delivery.error != nil, "seed \(seed), round \(round): noise with a right CRC?")
    }
  }
}
