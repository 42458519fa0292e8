import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

@Suite("ZstdSource: frames, windows, cuts and corruption")
struct ZstdSourceTests {
  private func decompress(
    _ compressed: [UInt8], pieces: Int = 1 << 16, buffer: Int = 1 << 16, limit: Int = 128 << 20
  ) throws -> Delivery {
    let source = MemorySource(compressed, pieces: pieces)
    return drain(try ZstdSource(source, name: "feed.zst", windowByteLimit: limit), buffer: buffer)
  }

  @Test("all kinds of streams, with every buffer", arguments: [1, 2, 3, 7, 1000, 1 << 16, 1 << 20])
  func decompressesFrames(buffer: Int) throws {
    let a = Compressing.table(3_000, seed: 1)
    let b = Compressing.table(buffer < 8 ? 9_000 : 700_000, seed: 2)
    let note = [UInt8](repeating: 0x28, count: 300)
    let table: [(what: String, compressed: [UInt8], content: [UInt8])] = [
      ("one frame", Compressing.zstd(b), b),
      ("with its size", Compressing.zstd(b, contentSize: true), b),
      ("without checksum", Compressing.zstd(b, checksum: false), b),
      ("two frames", Compressing.zstd(a) + Compressing.zstd(b), a + b),
      ("empty frame", Compressing.zstd([]), []),
      ("empty frames around", Compressing.zstd([]) + Compressing.zstd(a) + Compressing.zstd([]), a),
      ("skippable first", Compressing.skippable(note) + Compressing.zstd(a), a),
      ("skippable last", Compressing.zstd(a) + Compressing.skippable(note, variant: 15), a),
      (
        "skippable between",
        Compressing.zstd(a) + Compressing.skippable([]) + Compressing.skippable(note, variant: 7)
          + Compressing.zstd(b), a + b
      ),
      ("only skippable", Compressing.skippable(note), []),
    ]
    for (what, compressed, content) in table {
      for pieces in [1, 5, 4_099] where pieces > 5 || compressed.count < 20_000 {
        let delivery = try decompress(compressed, pieces: pieces, buffer: buffer)
        #expect(delivery.error == nil, "\(what), pieces of \(pieces)")
        expectSame(delivery.bytes, content, "\(what), pieces of \(pieces)")
      }
    }
  }

  @Test("thousands of small frames")
  func decompressesManyFrames() throws {
    let lines = (0..<1_500).map { Array("\($0),name \($0)\n".utf8) }
    let compressed = lines.flatMap { Compressing.zstd($0, contentSize: $0.count % 2 == 0) }
    for pieces in [7, 1 << 16] {
      try expectSame(decompress(compressed, pieces: pieces).bytes, lines.flatMap { $0 })
    }
  }

  @Test("a window of 128 MiB is taken by default, a byte more is refused with the option")
  func limitsWindows() throws {
    let content = Compressing.table(2_000_000, seed: 3)
    let long = Compressing.zstd(content, windowLog: 27)
    try expectSame(decompress(long).bytes, content)
    let refused = try #require(try decompress(long, limit: 128 << 20 - 1).error)
    #expect(refused.code == .badInput)
    #expect(
      refused.description
        == "feed.zst needs a zstd window of 128MiB, and 127MiB is the limit\n  at feed.zst, byte 0\n"
        + "  fix: --memory 512MiB allows it; or compress it again with --long=27")
    let longer = Compressing.zstd(content, windowLog: 30)
    #expect(
      try decompress(longer).error?.description
        == "feed.zst needs a zstd window of 1GiB, and 128MiB is the limit\n  at feed.zst, byte 0\n"
        + "  fix: --memory 4GiB allows it; or compress it again with --long=27")
  }

  @Test("windows are limited to the byte, not to a power of two")
  func limitsWindowsExactly() throws {
    // 3 MiB: base 2 MiB and four eighths of it.
    let header: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, UInt8(11 << 3 | 4)]
    let empty = header + [0x01, 0x00, 0x00]
    #expect(try decompress(empty, limit: 3 << 20).error == nil)
    #expect(try decompress(empty, limit: 3 << 20 - 1).error?.code == .badInput)
    // Content sizes of a petabyte count as windows when the frame is a single segment.
    let huge: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0]
    #expect(
      try decompress(huge).error?.message
        == "feed.zst needs a zstd window of 1048576GiB, and 128MiB is the limit")
  }

  @Test("a stream cut at any byte is an error, and what came before is right", arguments: [1, 1 << 16])
  func noticesCuts(pieces: Int) throws {
    let content = Compressing.table(900, seed: 4)
    for compressed in [
      Compressing.zstd(content), Compressing.zstd(content, checksum: false, contentSize: true),
      Compressing.skippable([1, 2, 3]), Compressing.zstd([]),
    ] {
      for cut in 0..<compressed.count {
        let delivery = try decompress(Array(compressed[..<cut]), pieces: pieces, buffer: 64)
        let error = try #require(delivery.error, "cut at \(cut) of \(compressed.count)")
        #expect(error.code == .badInput)
        #expect(
          error.message
            == "feed.zst is cut off: the zstd stream ends inside a frame, at byte \(cut) of the file and byte "
            + "\(delivery.bytes.count) of its content")
        #expect(error.position?.byte == UInt64(delivery.bytes.count))
        expectSame(delivery.bytes, content.prefix(delivery.bytes.count))
      }
    }
  }

  @Test("a cut behind a good frame gives that frame, then the error, again and again")
  func delivers() throws {
    let content = Compressing.table(10_000, seed: 5)
    let cut = Compressing.zstd(content) + Compressing.zstd(content).dropLast()
    let source = try ZstdSource(MemorySource(cut), name: "-")
    let delivery = drain(source)
    #expect(delivery.bytes.count >= content.count)
    #expect(
      delivery.error?.description
        == "standard input is cut off: the zstd stream ends inside a frame, at byte \(cut.count) of the file and "
        + "byte \(delivery.bytes.count) of its content\n  at -, byte \(delivery.bytes.count)\n  fix: get it again"
    )
    #expect(drain(source).error?.message == delivery.error?.message)
  }

  @Test("a flipped bit is an error or changes nothing")
  func noticesFlippedBits() throws {
    let content = Compressing.table(700, seed: 6)
    let compressed = Compressing.zstd(content)
    for bit in 0..<compressed.count * 8 {
      var flipped = compressed
      flipped[bit / 8] ^= 1 << (bit % 8)
      let delivery = try decompress(flipped)
      if delivery.error == nil { expectSame(delivery.bytes, content, "bit \(bit)") }
      if let error = delivery.error { #expect(error.code == .badInput && error.hint != nil) }
    }
  }

  @Test("corruption far inside says where")
  func locatesCorruption() throws {
    let good = Compressing.table(500_000, seed: 7)
    let first = Compressing.zstd(good)
    var second = Compressing.zstd(good)
    second[second.count - 1] ^= 1
    let delivery = try decompress(first + second)
    let error = try #require(delivery.error)
    #expect(
      error.description
        == "feed.zst is corrupt: Restored data doesn't match checksum in the zstd stream, near byte "
        + "\(first.count + second.count - 4) of the file and after byte \(delivery.bytes.count) of its content\n"
        + "  at feed.zst, byte \(delivery.bytes.count)\n  fix: get it again; zstd -t feed.zst checks it")
    #expect(error.underlyingCode == 22)
    expectSame(delivery.bytes, (good + good).prefix(delivery.bytes.count))
  }

  @Test("what follows the last frame is an error")
  func refusesTrailingGarbage() throws {
    let content = Compressing.table(1_000, seed: 8)
    let frame = Compressing.zstd(content)
    for garbage: [UInt8] in [
      [0], [0, 0, 0, 0, 0, 0, 0], Array("<html>".utf8), [0x28, 0xB4], [0x1F, 0x8B, 8, 0, 0],
    ] {
      for pieces in [1, 1 << 16] {
        let delivery = try decompress(frame + garbage, pieces: pieces)
        expectSame(delivery.bytes, content)
        let shown = garbage.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        #expect(
          delivery.error?.description
            == "feed.zst goes on after its last zstd frame, with the bytes \(shown.joined(separator: " ")) at byte "
            + "\(frame.count) of the file\n  at feed.zst, byte 1000\n"
            + "  fix: get it again; zstd -t feed.zst checks it; head -c \(frame.count) keeps the part before, "
            + "if that is all there should be")
      }
    }
  }

  @Test("a frame that needs a dictionary names the way around")
  func refusesDictionaries() throws {
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x23, 0x39, 0x30, 0, 0, 5, 1, 0, 0]
    #expect(
      try decompress(frame).error?.description
        == "feed.zst was compressed with a zstd dictionary (number 12345)\n  at feed.zst, byte 0\n"
        + "  fix: zstd -D DICTIONARY -dc feed.zst | upsurge load DB TABLE -")
  }

  @Test("random bytes never trap and never pass")
  func survivesNoise() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<1_000 {
      let count = Int.random(in: 0..<60, using: &random)
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let delivery = try decompress([0x28, 0xB5, 0x2F, 0xFD] + noise, pieces: 1 + round % 9, buffer: 100)
      if delivery.error == nil {
        // Noise can be a frame of raw blocks without a checksum, but only down to its last byte.
        #expect(delivery.bytes.count <= 128 << 10 * 20, "seed \(seed), round \(round)")
      }
    }
  }

  @Test("an error of the source below comes through, behind the bytes before it")
  func passesErrorsOn() throws {
    let content = Compressing.table(200_000, seed: 9)
    let compressed = Compressing.zstd(content)
    let failure = UpsurgeError.cannotRead("feed.zst", offset: 5, 5)
    let source = MemorySource(Array(compressed.dropLast(100)), failure: failure)
    let delivery = drain(try ZstdSource(source, name: "feed.zst"))
    #expect(delivery.error?.description == failure.description)
    expectSame(delivery.bytes, content.prefix(delivery.bytes.count))
  }
}
