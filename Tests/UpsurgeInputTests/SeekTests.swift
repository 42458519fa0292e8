import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("OpenedSource: going on in the middle")
struct SeekTests {
  static let content = Compressing.table(400_000, seed: 7)

  /// Frames or members of so many bytes each.
  static func parts(_ byteCount: Int, _ compress: ([UInt8]) -> [UInt8]) -> [UInt8] {
    stride(from: 0, to: content.count, by: byteCount).flatMap {
      compress(Array(content[$0..<min($0 + byteCount, content.count)]))
    }
  }

  @Test(
    "what follows is the same, wherever a run goes on", arguments: ["plain", "one", "zstd", "gzip", "tiny"])
  func seeks(kind: String) throws {
    let bytes: [UInt8] =
      switch kind {
      case "one": Compressing.zstd(Self.content)
      case "zstd": Self.parts(60_000) { Compressing.zstd($0) }
      case "gzip": Self.parts(60_000) { Compressing.gzip($0) }
      case "tiny": Self.parts(97) { Compressing.zstd($0) }
      default: Self.content
      }
    let folder = try TemporaryFolder()
    let path = try folder.write("in", bytes)
    let reader = try OpenedSource(name: path)
    var random = SeededGenerator(seed: 3)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 30_000, alignment: 8)
    defer { memory.deallocate() }
    var byte: UInt64 = 0
    while true {
      let anchor = reader.anchor(before: byte)
      #expect(anchor.decodedOffset <= byte)
      if kind == "zstd" || kind == "gzip" { #expect(byte - anchor.decodedOffset < 60_000) }
      let counter = ByteCounter()
      let other = try OpenedSource(name: path, counter: counter)
      let readBefore = counter.count
      try other.seek(to: byte, from: anchor)
      #expect(other.decodedByteCount == byte)
      expectSame(drain(other).bytes, Self.content[Int(byte)...], "\(kind) from \(byte)")
      #expect(other.decodedByteCount == UInt64(Self.content.count))
      #expect(other.anchor(before: byte).decodedOffset <= byte)
      let first = kind == "plain" ? byte : anchor.fileOffset
      #expect(counter.count - readBefore == UInt64(bytes.count) - first, "only what is needed is read")
      let wanted = Int.random(in: 1...30_000, using: &random)
      let count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<wanted]))
      if count == 0 { break }
      byte += UInt64(count)
    }
    #expect(byte == UInt64(Self.content.count))
  }

  @Test("anchors are few, whether somebody asks or not", arguments: [true, false])
  func anchorsAreBounded(asks: Bool) {
    let trail = AnchorTrail(start: SourceAnchor())
    for index in 0..<100_000 as Range<UInt64> {
      trail.note(fileOffset: index * 30, decodedOffset: index * 100)
      // Several without content: the last one counts.
      trail.note(fileOffset: index * 30 + 10, decodedOffset: index * 100)
      #expect(trail.anchors.count <= AnchorTrail.limit)
      if asks && index % 10 == 9 {
        let found = trail.last(before: index * 100 - 150)
        #expect(found == SourceAnchor(fileOffset: (index - 2) * 30 + 10, decodedOffset: (index - 2) * 100))
        #expect(trail.anchors.count == 3)
      }
    }
    let found = trail.last(before: .max)
    #expect(found.decodedOffset == 99_999 * 100)
    #expect(trail.last(before: 5) == SourceAnchor(), "what was forgotten is the start of the file")
  }

  @Test("an error names the same place in the file and in its content as without a restart")
  func errorsKeepTheirPlace() throws {
    let bytes = Array(Self.parts(60_000) { Compressing.zstd($0) }.dropLast(9_000))
    let folder = try TemporaryFolder()
    let path = try folder.write("in.zst", bytes)
    let whole = try OpenedSource(name: path, options: Self.smallSample)
    let expected = try #require(drain(whole).error)
    let anchor = whole.anchor(before: 200_000)
    #expect(anchor.decodedOffset == 180_000)
    let other = try OpenedSource(name: path, options: Self.smallSample)
    try other.seek(to: 200_000, from: anchor)
    #expect(drain(other).error?.description == expected.description)
  }

  static var smallSample: OpenedSource.Options {
    var options = OpenedSource.Options()
    options.sampleByteCount = 1000
    return options
  }

  @Test(
    "a file that is another one now is told from one that is not",
    arguments: ["plain", "zstd", "gzip", "utf16"])
  func refusesOtherFiles(kind: String) throws {
    let small = Array(Self.content.prefix(5_000))
    let bytes: [UInt8] =
      switch kind {
      case "zstd": Compressing.zstd(small)
      case "gzip": Compressing.gzip(small)
      case "utf16": [0xFF, 0xFE] + small.flatMap { [$0 & 0x7F, 0] }
      default: small
      }
    let folder = try TemporaryFolder()
    let path = try folder.write("in", bytes)
    let source = try OpenedSource(name: path)
    let beyond = try #require(throws: UpsurgeError.self) {
      try source.seek(to: 5_001, from: SourceAnchor())
    }
    let what =
      kind == "plain"
      ? "has 5000 bytes and no byte 5001" : "ends at byte 5000 of its content, before byte 5001"
    #expect(
      beyond.description
        == "\(path) \(what): it is not the file that the interrupted run has read\n  at \(path)\n"
        + "  fix: --resume never reads the input from its start; without a key, delete first what that run has stored"
    )
    #expect(beyond.code == .badInput)
    // The very end is a place like any other.
    try source.seek(to: 5_000, from: SourceAnchor())
    #expect(drain(source).bytes == [])
    guard kind == "zstd" || kind == "gzip" else { return }
    let moved = try #require(throws: UpsurgeError.self) {
      try source.seek(to: 4_000, from: SourceAnchor(fileOffset: 100, decodedOffset: 3_000))
    }
    #expect(
      moved.message
        == "\(path) has no \(kind == "zstd" ? "zstd frame" : "gzip member") at byte 100 of the file: "
        + "it is not the file that the interrupted run has read")
    #expect(throws: UpsurgeError.self) {
      try source.seek(to: 4_000, from: SourceAnchor(fileOffset: 100, decodedOffset: 4_001))
    }
    #expect(throws: UpsurgeError.self) {
      try source.seek(to: 4_000, from: SourceAnchor(fileOffset: 1 << 40, decodedOffset: 3_000))
    }
  }

  @Test("a file that is made shorter behind the place is still noticed; a pipe has no places")
  func noticesShrinking() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("in", Self.content)
    let source = try OpenedSource(name: path)
    try source.seek(to: 100_000, from: SourceAnchor())
    truncate(path, 200_000)
    let delivery = drain(source)
    #expect(delivery.bytes.count == 100_000)
    #expect(
      delivery.error?.message.contains("made shorter while it was read: it ends at byte 200000") == true)
    let ends = try Pipe()
    dribble(Array("a,b\n".utf8), to: ends.writeEnd)
    ends.closeWriteEnd()
    let pipe = try OpenedSource(file: FileSource(descriptor: ends.readEnd, isOwner: false, name: "-"))
    #expect(pipe.anchor(before: 4) == SourceAnchor())
    let error = try #require(throws: UpsurgeError.self) { try pipe.seek(to: 2, from: SourceAnchor()) }
    #expect(error.code == .unreadableInput)
  }
}
