import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("Archives: members, names and damage", .enabled(if: Packing.isThere, "\(Packing.need)"))
struct ArchiveTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let a = Compressing.table(3_000, seed: 1)
  private static let b = Compressing.table(400_000, seed: 2)

  /// The members of an archive, in its order, each with its content.
  private func read(_ path: String) throws -> [(name: String, bytes: [UInt8])] {
    let archives = OpenArchives()
    guard
      let archive = try SourceList.unpack(Source(path), asking: HTTPQuestion(), archives: archives, cancellation: nil)
    else {
      // What does not show that it is an archive is read as one file.
      let delivery = drain(try OpenedSource(name: path))
      throw delivery.error ?? UpsurgeError(.usage, "\(path) is no archive")
    }
    return try archive.members.map { member in
      let delivery = drain(try FileSource(member, archives: archives))
      if let error = delivery.error { throw error }
      return (String(member.name.dropFirst(path.count + 1)), delivery.bytes)
    }
  }

  @Test("each kind gives its files in its own order, and one by its name", arguments: Packing.Form.allCases)
  func reads(form: Packing.Form) throws {
    let members: [(name: String, bytes: [UInt8])] = [
      ("z.csv", Self.a), ("dir/deep/b c.csv", Self.b), ("empty.csv", []),
      ("ümläut.csv", Array("id\n1\n".utf8)),
      (".hidden", Self.a), ("__MACOSX/z.csv", Self.a),
    ]
    let path = try folder.write("any name", try Packing.archive(form, members))
    let found = try read(path)
    #expect(found.map(\.name) == members.prefix(4).map(\.name))
    for (found, member) in zip(found, members) { expectSame(found.bytes, member.bytes, member.name) }
    for member in members {
      let source = try FileSource(name: "\(path)/\(member.name)")
      #expect(source.byteCount == UInt64(member.bytes.count))
      expectSame(drain(source).bytes, member.bytes, member.name)
    }
  }

  @Test("patterns match members as a shell matches files", arguments: [Packing.Form.zip, .tarZstd])
  func matches(form: Packing.Form) throws {
    let names = ["b.csv", "a.csv", "dir/c.csv", "x.txt", "[1].csv", "1.csv"]
    let path = try folder.write("f", try Packing.archive(form, names.map { ($0, Self.a) }))
    func expand(_ pattern: String) throws -> [String] {
      try SourceList.expand([Source(pattern)]).map { String($0.name.dropFirst(path.count + 1)) }
    }
    #expect(try expand("\(path)/*.csv") == ["b.csv", "a.csv", "[1].csv", "1.csv"])
    #expect(try expand("\(path)/*/*.csv") == ["dir/c.csv"])
    #expect(try expand("\(path)/[1].csv") == ["[1].csv"])
    #expect(try expand("\(path)/?.csv") == ["b.csv", "a.csv", "1.csv"])
    #expect(try expand("\(folder.path)/*/x.txt") == ["x.txt"])
    #expect(try expand(path).count == 1)
    let missing = try #require(throws: UpsurgeError.self) { try expand("\(path)/*.tsv") }
    #expect(missing.message == "\(path) holds no file *.tsv")
    #expect(missing.hint == "it holds: b.csv, a.csv, dir/c.csv, x.txt, [1].csv, 1.csv")
    let inner = try #require(throws: UpsurgeError.self) { try expand("\(path)/dir") }
    #expect(inner.hint == "name its files: \(path)/dir/*.csv")
  }

  @Test("names that lead elsewhere, or are no UTF-8, become names that mean nothing else")
  func names() throws {
    let names: [[UInt8]] = [
      Array("../up.csv".utf8), Array("/etc/abs.csv".utf8), Array("a//b.csv".utf8), Array("./dot.csv".utf8),
      Array("l\u{E4}tin".utf8), [0x6C, 0xE4, 0x74], Array("exec:ls".utf8), Array("line\nbreak.csv".utf8),
    ]
    let labels = [
      "%2E%2E/up.csv", "%2Fetc/abs.csv", "a%2Fb.csv", "dot.csv", "lätin", "l%E4t", "exec:ls",
      "line\nbreak.csv",
    ]
    for (name, label) in zip(names, labels) where !name.starts(with: Array("a//".utf8)) {
      #expect(ArchiveListing.label(name) == label)
    }
    let path = try folder.write("f.tar", try Packing.archive(.tar, names.map { ($0, Self.a) }))
    let found = try read(path)
    #expect(found.count == names.count)
    #expect(found.allSatisfy { !$0.name.split(separator: "/").contains("..") && $0.name.first != "/" })
    for (name, _) in found {
      let source = Source(file: "\(path)/\(name)")
      #expect(source.place.hasSuffix("/f.tar/\(name)"))
      expectSame(drain(try FileSource(source)).bytes, Self.a, name)
    }
    // As it is stored it is found, too, and no file outside is.
    #expect(try SourceList.expand([Source("\(path)/../up.csv")]).map(\.name) == ["\(path)/%2E%2E/up.csv"])
    #expect(throws: UpsurgeError.self) { try SourceList.expand([Source("\(path)/../../../etc/passwd")]) }
  }

  @Test("names that come twice, links and what is encrypted are refused in words")
  func refuses() throws {
    let twice = try folder.write(
      "twice.tar", try Packing.archive(.tar, [("a", Self.a), ("b", Self.a), ("a", Self.b)]))
    func message(_ source: String) throws -> String {
      try #require(throws: UpsurgeError.self) { try SourceList.expand([Source(source)]) }.message
    }
    #expect(
      try message("\(twice)/*")
        == "\(twice)/a comes twice in the archive, so it is not clear which of the two is meant")
    expectSame(drain(try FileSource(name: "\(twice)/b")).bytes, Self.a)

    let links = try folder.write(
      "links.tar", try Packing.archive(.tar, [("a", Self.a), ("l", Array("-> /etc/passwd".utf8))]))
    #expect(try message("\(links)/l") == "\(links)/l is a link, and links in an archive are not followed")
    #expect(try read(links).map(\.name) == ["a"])
    let archive = try SourceList.unpack(
      Source(links), asking: HTTPQuestion(), archives: OpenArchives(), cancellation: nil)
    #expect(archive?.leftOut == ["l"])

    var bytes = try Packing.archive(.zip, [("a", Self.a), ("b", Self.a)])
    for place in bytes.indices.dropLast(12) where bytes[place...].starts(with: [0x50, 0x4B]) {
      if bytes[place + 2] == 3 && bytes[place + 3] == 4 { bytes[place + 6] |= 1 }
      if bytes[place + 2] == 1 && bytes[place + 3] == 2 { bytes[place + 8] |= 1 }
    }
    let locked = try folder.write("locked.zip", bytes)
    #expect(try message("\(locked)/a") == "\(locked)/a is encrypted, and encrypted members are not read")
  }

  @Test("archives without a file, and files that are none")
  func empty() throws {
    let zip = try folder.write("e.zip", [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18))
    let error = try #require(throws: UpsurgeError.self) { try read(zip) }
    #expect(error.message == "\(zip) is a zip archive that holds no file")
    let nothing = try folder.write("0.zip", [])
    #expect(
      try SourceList.unpack(
        Source(nothing), asking: HTTPQuestion(), archives: OpenArchives(), cancellation: nil) == nil)
    let text = try folder.write("a.csv", Self.a)
    let none = try #require(throws: UpsurgeError.self) { try SourceList.expand([Source("\(text)/b.csv")]) }
    #expect(none.message == "there is no file \(text)/b.csv: \(text) is neither a folder nor an archive")
    #expect(none.code == .unreadableInput)
  }

  @Test("a cut archive is an error, wherever it is cut", arguments: Packing.Form.allCases)
  func cuts(form: Packing.Form) throws {
    let rows = Array(Self.a.prefix(1_100))
    let whole = try Packing.archive(
      form, [("a.csv", rows), ("b.csv", Array(rows.prefix(512))), ("c.csv", rows)])
    // A tar archive may be padded after the mark at its end.
    let end = form == .tar ? 4_608 + 512 : whole.count
    for cut in stride(from: 300, to: end, by: max(end / 200, 1)) {
      let path = try folder.write("cut\(cut)", Array(whole[..<cut]))
      let error = try #require(throws: UpsurgeError.self, "cut at \(cut) of \(whole.count)") {
        if try !read(path).isEmpty { return }
        throw UpsurgeError(.badInput, "empty")
      }
      #expect(error.code == .badInput, "cut at \(cut): \(error.message)")
    }
  }

  @Test(
    "a flipped bit is an error or changes nothing",
    arguments: [Packing.Form.zip, .tarGzip, .tarXZ, .tarBzip2, .tarZstd])
  func flips(form: Packing.Form) throws {
    let members = [("a.csv", Array(Self.a.prefix(900))), ("b.csv", Array(Self.a.suffix(700)))]
    let whole = try Packing.archive(form, members.map { (name: $0.0, bytes: $0.1) })
    for bit in stride(from: 80, to: whole.count * 8, by: 7) {
      var flipped = whole
      flipped[bit / 8] ^= 1 << (bit % 8)
      let path = try folder.write("flip\(bit)", flipped)
      // Names and times of a zip archive have no checksum; content has one.
      do {
        for (name, bytes) in try read(path) { #expect(members.contains { $0.1 == bytes }, "bit \(bit), \(name)") }
      } catch let error as UpsurgeError where error.code != .usage {}
    }
  }

  @Test("two archives in one file are refused, where the second would be lost")
  func twoInOne() throws {
    let tar = try Packing.archive(.tar, [("a", Self.a)])
    let path = try folder.write("two.tar", tar + tar)
    let error = try #require(throws: UpsurgeError.self) { try read(path) }
    #expect(error.message.contains("goes on after the mark at the end of its tar archive"))
  }

  @Test("a member is read from any byte, and again", arguments: [Packing.Form.zip, .tarGzip])
  func seeks(form: Packing.Form) throws {
    let path = try folder.write("f", try Packing.archive(form, [("a", Self.a), ("b", Self.b)]))
    for byte in [0, 1, 99_999, Self.b.count] {
      let source = try OpenedSource(name: "\(path)/b")
      try source.seek(to: UInt64(byte), from: source.anchor(before: UInt64(byte)))
      expectSame(drain(source).bytes, Self.b[byte...])
      try source.rewind()
      expectSame(drain(source).bytes, Self.b)
    }
  }

  @Test("a member is known again, and is another one where the archive is")
  func identity() throws {
    let path = try folder.write("f.zip", try Packing.archive(.zip, [("a", Self.a), ("b", Self.b)]))
    let first = try #require(try FileSource(name: "\(path)/a").identity())
    #expect(try first.isStill(Source("\(path)/a")))
    #expect(try FileSource(name: "\(path)/b").identity()?.isSame(as: first) == false)
    var other = Self.a
    other[700] ^= 1
    _ = try folder.write("f.zip", try Packing.archive(.zip, [("a", other), ("b", Self.b)]))
    #expect(try !first.isStill(Source("\(path)/a")))
  }

  @Test("what grows like a bomb ends, also where it is only stepped over")
  func bombs() throws {
    let program = """
      import io, sys, tarfile, zipfile
      class Zeros(io.RawIOBase):
          def read(self, count=-1): return bytes(count)
      with tarfile.open(sys.argv[1], "w:bz2") as archive:
          info = tarfile.TarInfo("zeros"); info.size = 200 << 20; archive.addfile(info, Zeros())
          info = tarfile.TarInfo("b"); info.size = 3; archive.addfile(info, io.BytesIO(b"a\\n1"))
      """
    let path = folder.path + "/bomb"
    try Packing.python(program, [path])
    let error = try #require(throws: UpsurgeError.self) { try FileSource(name: "\(path)/b") }
    #expect(error.message.contains("grows like a decompression bomb"))
  }
}
