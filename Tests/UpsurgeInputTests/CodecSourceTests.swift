import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite(
  "CodecSource: streams of xz, bzip2, LZ4 and compress", .enabled(if: Packing.isThere, "\(Packing.need)"))
struct CodecSourceTests {
  /// The codecs whose streams say where they end.
  static let whole: [Compression] = [.xz, .bzip2, .lz4]

  static func pack(_ bytes: [UInt8], as compression: Compression) throws -> [UInt8] {
    switch compression {
    case .xz: try Packing.xz(bytes)
    case .bzip2: try Packing.bzip2(bytes)
    case .lz4: Packing.lz4(bytes)
    case .compress: Packing.compress(bytes)
    default: bytes
    }
  }

  private func unpack(
    _ bytes: [UInt8], _ compression: Compression, pieces: Int = 1 << 16, buffer: Int = 1 << 16
  ) -> Delivery {
    do throws(UpsurgeError) {
      let source = try CodecSource(MemorySource(bytes, pieces: pieces), compression, name: "feed")
      return drain(source, buffer: buffer)
    } catch {
      return Delivery(error: error)
    }
  }

  @Test("all kinds of streams, with every buffer", arguments: whole)
  func decompresses(compression: Compression) throws {
    let (a, b) = (Compressing.table(3_000, seed: 1), Compressing.table(700_000, seed: 2))
    let (first, second) = (try Self.pack(a, as: compression), try Self.pack(b, as: compression))
    let empty = try Self.pack([], as: compression)
    let table: [(what: String, compressed: [UInt8], content: [UInt8])] = [
      ("one stream", second, b), ("two streams", first + second, a + b), ("empty", empty, []),
      ("zeros after it", first + [UInt8](repeating: 0, count: 200_000), a),
    ]
    for (what, compressed, content) in table {
      for (pieces, buffer) in [(5, 1 << 16), (4_099, 7), (1 << 16, 1 << 20)]
      where pieces > 5 || compressed.count < 20_000 {
        let delivery = unpack(compressed, compression, pieces: pieces, buffer: buffer)
        #expect(delivery.error == nil, "\(what), pieces of \(pieces): \(delivery.error?.message ?? "")")
        expectSame(delivery.bytes, content, "\(what), pieces of \(pieces)")
      }
    }
  }

  @Test("what compress has written")
  func decompressesLZW() throws {
    let content = Array(Compressing.table(3_000, seed: 3).prefix(250))
    let delivery = unpack(Packing.compress(content), .compress)
    #expect(delivery.error == nil)
    expectSame(delivery.bytes, content)
  }

  @Test("a stream cut at any byte is an error, and what came before is right", arguments: whole)
  func noticesCuts(compression: Compression) throws {
    let content = Compressing.table(900, seed: 4)
    let compressed = try Self.pack(content, as: compression)
    for cut in 0..<compressed.count {
      let delivery = unpack(Array(compressed[..<cut]), compression)
      let error = try #require(delivery.error, "cut at \(cut) of \(compressed.count)")
      #expect(error.code == .badInput)
      #expect(error.hint != nil)
      expectSame(delivery.bytes, content.prefix(delivery.bytes.count))
    }
    let error = try #require(unpack(compressed.dropLast(), compression).error)
    #expect(
      error.message.hasPrefix(
        "feed is cut off: the \(compression.rawValue) stream ends too early, at byte \(compressed.count - 1) "
      ))
    #expect(error.hint == "get it again; \(compression.rawValue) -t feed checks it")
  }

  @Test("a second stream cut at any byte is an error, except where it would begin", arguments: whole)
  func noticesCutsOfLaterStreams(compression: Compression) throws {
    let content = Compressing.table(400, seed: 5)
    let first = try Self.pack(content, as: compression)
    for cut in 1..<first.count {
      // Zeros may follow a stream of xz, in fours.
      let delivery = unpack(first + first[..<cut], compression)
      #expect(delivery.error?.code == .badInput, "cut at \(cut)")
      expectSame(delivery.bytes, (content + content).prefix(delivery.bytes.count))
    }
  }

  @Test("a flipped bit is an error or changes nothing", arguments: [Compression.xz, .bzip2])
  func noticesFlippedBits(compression: Compression) throws {
    let content = Compressing.table(700, seed: 6)
    let compressed = try Self.pack(content, as: compression)
    for bit in 0..<compressed.count * 8 {
      var flipped = compressed
      flipped[bit / 8] ^= 1 << (bit % 8)
      let delivery = unpack(flipped, compression)
      if delivery.error == nil { expectSame(delivery.bytes, content, "bit \(bit)") }
      if let error = delivery.error { #expect(error.code == .badInput && error.hint != nil) }
    }
  }

  @Test("what follows the last stream is an error, unless it is zeros", arguments: whole)
  func refusesTrailingGarbage(compression: Compression) throws {
    let content = Compressing.table(1_000, seed: 8)
    let stream = try Self.pack(content, as: compression)
    for garbage in [Array("<html>".utf8), [1], [0, 0, 0, 7], [UInt8](repeating: 0, count: 300_000) + [9]] {
      // libarchive takes the next four bytes with an LZ4 stream, whatever they are.
      if compression == .lz4 && garbage.count == 4 { continue }
      let delivery = unpack(stream + garbage, compression)
      #expect(delivery.error?.code == .badInput, "\(garbage.prefix(4))")
      expectSame(delivery.bytes, content.prefix(delivery.bytes.count))
      // What libarchive takes for another stream of xz is said as with the others.
      if compression == .xz && garbage.count < 10 {
        let message = delivery.error?.message ?? ""
        #expect(message.hasPrefix("feed goes on after its last xz stream, at byte "), "\(message)")
        if garbage[0] != 0 { #expect(message.hasSuffix("at byte \(stream.count) of the file"), "\(message)") }
      }
    }
  }

  @Test("an xz stream that is cut is said to be cut, also after a whole one") func cutXZ() throws {
    let whole = try Self.pack(Compressing.table(1_000, seed: 8), as: .xz)
    for stream in [Array(whole.dropLast(20)), whole + whole.prefix(3), whole + whole.dropLast(30)] {
      let error = unpack(stream, .xz).error
      #expect(error?.message.contains("is cut off") == true, "\(error?.message ?? "")")
    }
  }

  @Test("an error of the source is passed on", arguments: whole)
  func passesErrorsOn(compression: Compression) throws {
    let failure = UpsurgeError(.unreadableInput, "the disk is gone")
    let compressed = try Self.pack(Compressing.table(90_000, seed: 9), as: compression)
    let source = MemorySource(Array(compressed.prefix(compressed.count / 2)), failure: failure)
    let found = try #require(throws: UpsurgeError.self) {
      let codec = try CodecSource(source, compression, name: "feed")
      if let error = drain(codec).error { throw error }
    }
    #expect(found.message == failure.message)
  }

  @Test("random bytes never trap", arguments: [Compression.xz, .bzip2, .lz4, .compress])
  func survivesNoise(compression: Compression) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let start = Array(try Self.pack([1, 2, 3], as: compression).prefix(compression == .xz ? 12 : 4))
    for _ in 0..<500 {
      let noise = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let delivery = unpack(start + noise, compression, buffer: 100)
      #expect(delivery.error != nil || compression == .compress, "seed \(seed)")
    }
  }

  @Test("an xz dictionary beyond the limit is refused, with the memory that would do")
  func refusesLargeDictionaries() throws {
    let program = """
      import lzma, sys
      filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": int(sys.argv[1])}]
      sys.stdout.buffer.write(lzma.compress(b"a,b\\n1,2\\n", filters=filters))
      """
    for (size, isRead) in [(128 << 20, true), (192 << 20, false), (1 << 30, false)] {
      let bytes = try Packing.python(program, ["\(size)"])
      #expect(XZHeader.dictionaryByteCount(bytes) == UInt64(size))
      let delivery = unpack(bytes, .xz)
      #expect((delivery.error == nil) == isRead)
      if isRead { continue }
      let mebibytes = size >> 20 == 1024 ? "1GiB" : "\(size >> 20)MiB"
      #expect(
        delivery.error?.message == "feed needs an xz dictionary of \(mebibytes), and 128MiB is the limit")
      #expect(
        delivery.error?.hint?.hasPrefix("--memory \(size >> 20 == 1024 ? "4GiB" : "768MiB") allows it")
          == true)
    }
  }

  @Test("what follows is the same, wherever a run goes on", arguments: [Compression.xz, .bzip2, .lz4])
  func seeks(compression: Compression) throws {
    let content = Compressing.table(200_000, seed: 7)
    let folder = try TemporaryFolder()
    let path = try folder.write("in", try Self.pack(content, as: compression))
    for byte in [0, 1, 77_777, 199_999, 200_000] {
      let source = try OpenedSource(name: path)
      #expect(source.compression == compression)
      let place = min(byte, content.count)
      try source.seek(to: UInt64(place), from: source.anchor(before: UInt64(place)))
      expectSame(drain(source).bytes, content[place...])
    }
  }
}
