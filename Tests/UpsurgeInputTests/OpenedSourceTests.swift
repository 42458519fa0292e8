import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("OpenedSource: the whole way from a file to UTF-8")
struct OpenedSourceTests {
  static let text = String(decoding: Compressing.table(60_000, seed: 11), as: UTF8.self) + "😀,é,€\n"
  static let utf8 = Array(text.utf8)
  static let utf16le: [UInt8] = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }

  private func options(_ change: (inout OpenedSource.Options) -> Void = { _ in }) -> OpenedSource.Options {
    var options = OpenedSource.Options()
    change(&options)
    return options
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var encoding: TextEncoding
    var startOffset: UInt64 = 0
  }

  static let cases = [
    Case(testDescription: "utf-8", bytes: utf8, encoding: .utf8),
    Case(
      testDescription: "utf-8 with mark", bytes: [0xEF, 0xBB, 0xBF] + utf8, encoding: .utf8, startOffset: 3),
    Case(testDescription: "utf-16le", bytes: utf16le, encoding: .utf16le),
    Case(testDescription: "utf-16le with mark", bytes: [0xFF, 0xFE] + utf16le, encoding: .utf16le),
    Case(
      testDescription: "utf-16be with mark",
      bytes: [0xFE, 0xFF]
        + stride(from: 0, to: utf16le.count, by: 2).flatMap { [utf16le[$0 + 1], utf16le[$0]] },
      encoding: .utf16be),
  ]

  @Test("every compression, sample size and buffer gives the same text", arguments: cases)
  func opens(one: Case) throws {
    let folder = try TemporaryFolder()
    for (compression, file) in [
      (Compression.none, one.bytes), (.zstd, Compressing.zstd(one.bytes)),
      (.gzip, Compressing.gzip(one.bytes)),
      (
        .zstd,
        Compressing.skippable([9]) + Compressing.zstd(Array(one.bytes.prefix(777)))
          + Compressing.zstd(Array(one.bytes.dropFirst(777)))
      ),
    ] {
      let path = try folder.write("feed", file)
      for sampleByteCount in [512, 513, 4_097, 1 << 20] {
        for buffer in sampleByteCount == 513 ? [3, 7, 1 << 16] : [1 << 16] {
          let counter = ByteCounter()
          let source = try OpenedSource(
            name: path, options: options { $0.sampleByteCount = sampleByteCount }, counter: counter)
          #expect(source.name == path)
          #expect(source.compression == compression)
          #expect(source.encoding == one.encoding)
          #expect(source.startOffset == one.startOffset)
          #expect(source.decodedByteCount == one.startOffset)
          #expect(source.fileByteCount == UInt64(file.count))
          #expect(source.isSeekable)
          #expect(source.isSampleWhole == (sampleByteCount == 1 << 20))
          expectSame(source.sample, Self.utf8.prefix(source.sample.count))
          #expect(source.isSampleWhole ? source.sample.count == Self.utf8.count : source.sample.count > 200)
          let delivery = drain(source, buffer: buffer)
          #expect(delivery.error == nil)
          expectSame(delivery.bytes, Self.utf8)
          #expect(source.decodedByteCount == one.startOffset + UInt64(Self.utf8.count))
          #expect(source.sample.isEmpty)
          #expect(counter.count == UInt64(file.count))
        }
      }
      let source = try OpenedSource(name: path, options: options { $0.sampleByteCount = 1_000 })
      for rounds in 0..<3 {
        var some = [UInt8](repeating: 0, count: 70_000 * rounds + 1)
        _ = try some.withUnsafeMutableBytes { try source.read(into: $0) }
        try source.rewind()
        #expect(source.decodedByteCount == one.startOffset)
        expectSame(source.sample, Self.utf8.prefix(source.sample.count))
      }
      expectSame(drain(source).bytes, Self.utf8)
      #expect(source.counter.count == UInt64(file.count))
    }
  }

  @Test("the smallest inputs")
  func opensSmallInputs() throws {
    let folder = try TemporaryFolder()
    for content in ["", "a", "a\n", "é"].map({ Array($0.utf8) }) {
      for file in [
        content, Compressing.zstd(content), Compressing.gzip(content), [0xEF, 0xBB, 0xBF] + content,
      ] {
        let source = try OpenedSource(name: folder.write("feed", file))
        #expect(source.isSampleWhole)
        #expect(source.sample == content)
        expectSame(drain(source).bytes, content)
        expectSame(drain(source).bytes, [])
      }
    }
    let marked = try OpenedSource(name: folder.write("feed", [0xFF, 0xFE]))
    #expect(marked.encoding == .utf16le)
    expectSame(drain(marked).bytes, [])
  }

  @Test("pipes, written in dribbles, are sampled and replayed")
  func opensPipes() throws {
    for (compression, file) in [
      (Compression.none, [0xEF, 0xBB, 0xBF] + Self.utf8), (.zstd, Compressing.zstd(Self.utf8)),
      (.gzip, Compressing.gzip([0xFF, 0xFE] + Self.utf16le)),
    ] {
      let ends = try Pipe()
      let writer = BackgroundThread {
        dribble(file, to: ends.writeEnd)
        ends.closeWriteEnd()
      }
      let input = try FileSource(descriptor: ends.readEnd, isOwner: false, name: "-")
      let source = try OpenedSource(file: input, options: options { $0.sampleByteCount = 3_000 })
      #expect(source.compression == compression)
      #expect(source.fileByteCount == nil)
      #expect(!source.isSeekable)
      let delivery = drain(source)
      writer.join()
      #expect(delivery.error == nil)
      expectSame(delivery.bytes, Self.utf8)
      #expect(source.counter.count == UInt64(file.count))
    }
  }

  @Test("a whole sample is not followed by another read of a terminal")
  func readsTheEndOnce() throws {
    let ends = try Pipe()
    _ = "a,b\n".withCString { write(ends.writeEnd, $0, 4) }
    ends.closeWriteEnd()
    let source = try OpenedSource(file: FileSource(descriptor: ends.readEnd, isOwner: false, name: "-"))
    #expect(source.isSampleWhole)
    expectSame(drain(source).bytes, Array("a,b\n".utf8))
  }

  @Test("the encoding can be decided again once the format is known")
  func decodesAgain() throws {
    let folder = try TemporaryFolder()
    let bytes = Array("{\"a\":\"caf".utf8) + [0xE9] + Array("\"}\n".utf8)
    let source = try OpenedSource(name: folder.write("feed", bytes))
    #expect(source.encoding == .windows1252)
    #expect(source.sample == Array("{\"a\":\"café\"}\n".utf8))
    try source.decode(as: .auto, allowsSingleByteEncodings: false)
    #expect(source.encoding == .utf8)
    #expect(source.sample == bytes)
    try source.decode(as: .latin1, allowsSingleByteEncodings: false)
    #expect(source.encoding == .latin1)
    expectSame(drain(source).bytes, Array("{\"a\":\"café\"}\n".utf8))
    try source.rewind()
    #expect(source.encoding == .latin1)
    expectSame(drain(source).bytes, Array("{\"a\":\"café\"}\n".utf8))
  }

  @Test("UTF-16 with a mark is rewound with its mark")
  func rewindsMarks() throws {
    let folder = try TemporaryFolder()
    let source = try OpenedSource(
      name: folder.write("feed", [0xFE, 0xFF, 0, 0x61]), options: options { $0.encoding = .utf16 })
    expectSame(drain(source).bytes, [0x61])
    try source.rewind()
    expectSame(drain(source).bytes, [0x61])
  }

  @Test("an error within the sample stops the opening, one behind it the reading")
  func failsInTime() throws {
    let folder = try TemporaryFolder()
    let content = Compressing.table(500_000, seed: 12)
    let cut = Array(Compressing.zstd(content).dropLast(5))
    let path = try folder.write("feed.zst", cut)
    let early = try #require(throws: UpsurgeError.self) { try OpenedSource(name: path) }
    #expect(
      early.description
        == "\(path) is cut off: the zstd stream ends inside a frame, at byte \(cut.count) of the file and byte "
        + "\(early.position?.byte ?? 0) of its content\n  at \(path), byte \(early.position?.byte ?? 0)\n"
        + "  fix: get it again; zstd -t \(path) checks it")
    let late = try OpenedSource(name: path, options: options { $0.sampleByteCount = 10_000 })
    let delivery = drain(late)
    #expect(delivery.error?.description == early.description)
    #expect(delivery.bytes.count > 100_000)
    expectSame(delivery.bytes, content.prefix(delivery.bytes.count))
    let broken = [0xFF, 0xFE] + Self.utf16le + [0, 0xDC]
    let surrogate = try folder.write("feed.csv", broken)
    let message =
      "\(surrogate) holds half a surrogate pair (DC00) at byte \(broken.count - 2) of the UTF-16 text, which "
      + "stands for no character"
    #expect(try #require(throws: UpsurgeError.self) { try OpenedSource(name: surrogate) }.message == message)
    let reading = drain(try OpenedSource(name: surrogate, options: options { $0.sampleByteCount = 999 }))
    expectSame(reading.bytes, Self.utf8)
    #expect(reading.error?.message == message)
    #expect(reading.error?.position?.byte == UInt64(Self.utf8.count))
  }

  @Test("missing files and windows that are too large")
  func passesErrorsOn() throws {
    let missing = try #require(throws: UpsurgeError.self) { try OpenedSource(name: "/no/such/file.csv") }
    #expect(missing.code == .unreadableInput)
    let folder = try TemporaryFolder()
    let path = try folder.write("long.zst", Compressing.zstd(Self.utf8, windowLog: 28))
    let window = try #require(throws: UpsurgeError.self) { try OpenedSource(name: path) }
    #expect(window.hint == "--memory 1GiB allows it; or compress it again with --long=27")
    let allowed = try OpenedSource(name: path, options: options { $0.windowByteLimit = 256 << 20 })
    expectSame(drain(allowed).bytes, Self.utf8)
  }

  @Test("noise as a file never traps, whatever it claims to be")
  func survivesNoise() throws {
    let folder = try TemporaryFolder()
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let heads: [[UInt8]] = [
      [], [0xFF, 0xFE], [0xFE, 0xFF], [0xEF, 0xBB, 0xBF], [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD],
      [0x50, 0x2A, 0x4D, 0x18],
    ]
    for round in 0..<300 {
      let noise = (0..<Int.random(in: 0..<600, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let path = try folder.write("noise", heads[round % heads.count] + noise)
      for encoding in TextEncoding.allCases {
        let opened = try? OpenedSource(
          name: path,
          options: options {
            $0.sampleByteCount = 512
            $0.encoding = encoding
          })
        guard let opened else { continue }
        let delivery = drain(opened, buffer: 1 + round % 50)
        if opened.encoding == .latin1 || opened.encoding == .utf16le || opened.encoding == .utf16be {
          #expect(String(validating: delivery.bytes, as: UTF8.self) != nil, "seed \(seed), round \(round)")
        }
      }
    }
  }
}
