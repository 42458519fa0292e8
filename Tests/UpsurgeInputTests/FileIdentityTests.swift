import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("FileIdentity: is it the file that was read?")
struct FileIdentityTests {
  static let content = Compressing.table(3 << 20, seed: 5)

  private static func identity(_ path: String) throws -> FileIdentity? {
    try OpenedSource(name: path).identity()
  }

  /// Sets the time of the last change.
  private static func touch(_ path: String, seconds: Int) {
    var times = [timespec(tv_sec: seconds, tv_nsec: 5), timespec(tv_sec: seconds, tv_nsec: 7)]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
  }

  @Test("what a file is, without moving the stream")
  func describesFiles() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Self.content)
    Self.touch(path, seconds: 1_000_000)
    let source = try OpenedSource(name: path)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_000_000, alignment: 8)
    defer { memory.deallocate() }
    var readCount = try source.read(into: memory)
    readCount += try source.read(into: memory)
    let identity = try #require(try source.identity())
    let head = Self.content.prefix(1 << 20).withUnsafeBytes { ContentHash.hash($0) }
    #expect(
      identity
        == FileIdentity(byteCount: 3 << 20, modificationTime: 1_000_000_000_000_007, headHash: head))
    expectSame(drain(source).bytes, Self.content[readCount...])
    #expect(!source.hasChanged)
  }

  @Test("copied and touched is the same; other content, appended and cut is not")
  func tellsFilesApart() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Self.content)
    Self.touch(path, seconds: 1000)
    let first = try #require(try Self.identity(path))
    #expect(try first.isStill(Source(path)))

    Self.touch(path, seconds: 2000)
    let touched = try #require(try Self.identity(path))
    #expect(touched != first && touched.isSame(as: first))
    #expect(try first.isStill(Source(path)))

    let copy = try folder.write("copy", Self.content)
    #expect(try #require(try Self.identity(copy)).isSame(as: first))
    #expect(try first.isStill(Source(copy)))

    var other = Self.content
    other[(1 << 20) - 1] ^= 1
    let changed = try folder.write("other", other)
    #expect(try !#require(try Self.identity(changed)).isSame(as: first))
    #expect(try !first.isStill(Source(changed)))
    // The same size and time save the reading: this is what they are trusted for.
    Self.touch(changed, seconds: 1000)
    #expect(try first.isStill(Source(changed)))

    for count in [Self.content.count - 1, Self.content.count + 1] {
      let resized = try folder.write("resized", Array((Self.content + [10]).prefix(count)))
      Self.touch(resized, seconds: 1000)
      #expect(try !#require(try Self.identity(resized)).isSame(as: first))
      #expect(try !first.isStill(Source(resized)))
    }
    let missing = #expect(throws: UpsurgeError.self) { try first.isStill(Source(folder.path + "/none")) }
    #expect(missing?.code == .unreadableInput)
    #expect(try !first.isStill(Source(folder.path)))
    #expect(try !first.isStill("-"))
  }

  @Test("small and empty files")
  func describesSmallFiles() throws {
    let folder = try TemporaryFolder()
    let empty = try #require(try Self.identity(folder.write("empty", [])))
    #expect(empty.byteCount == 0 && empty.headHash == 0xEF46_DB37_51D8_E999)
    let small = try #require(try Self.identity(folder.write("small", Array("abc".utf8))))
    #expect(small.byteCount == 3 && small.headHash == 0x44BC_2CF5_AD77_0999)
  }

  @Test("standard input from a file counts from where it stands; a pipe has no identity")
  func describesDescriptors() throws {
    let folder = try TemporaryFolder()
    let descriptor = open(try folder.write("a", Array("skipped\nabc".utf8)), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    lseek(descriptor, 8, SEEK_SET)
    let source = try FileSource(descriptor: descriptor, isOwner: false, name: "-")
    #expect(try source.identity()?.headHash == 0x44BC_2CF5_AD77_0999)
    #expect(try source.identity()?.byteCount == 3)
    expectSame(drain(source).bytes, Array("abc".utf8))
    let ends = try Pipe()
    ends.closeWriteEnd()
    let pipe = try FileSource(descriptor: ends.readEnd, isOwner: false, name: "-")
    #expect(try pipe.identity() == nil)
    #expect(!pipe.hasChanged)
  }

  @Test("a change while it is read is noticed", arguments: ["grown", "rewritten", "touched", "cut"])
  func noticesChanges(kind: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Array("abcdef".utf8))
    Self.touch(path, seconds: 1000)
    let source = try FileSource(name: path)
    #expect(!source.hasChanged)
    switch kind {
    case "grown": try folder.write("a", Array("abcdefg".utf8))
    case "rewritten": try folder.write("a", Array("uvwxyz".utf8))
    case "cut":
      truncate(path, 3)
      Self.touch(path, seconds: 1000)
      #expect(throws: UpsurgeError.self) { try source.identity() }
    default: Self.touch(path, seconds: 1001)
    }
    #expect(source.hasChanged)
  }

  /// libzstd writes the lower half of the same hash behind each frame.
  @Test("ContentHash is what zstd calls a checksum", arguments: 1...40 as ClosedRange<UInt64>)
  func agreesWithZstd(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0...3_000, using: &random)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
    let checksum = Compressing.zstd(bytes).suffix(4).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    #expect(bytes.withUnsafeBytes { ContentHash.hash($0) } & 0xFFFF_FFFF == checksum, "seed \(seed)")
  }
}
