import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

@Suite("Compression: told by content")
struct CompressionTests {
  static let zstdBytes = Compressing.zstd(Array("id,name\n1,a\n".utf8))
  static let gzipBytes = Compressing.gzip(Array("id,name\n1,a\n".utf8))

  private func open(_ bytes: [UInt8], as compression: Compression = .auto) throws -> (OpenedSource, String) {
    let folder = try TemporaryFolder()
    let path = try folder.write("my feed.csv", bytes)
    var options = OpenedSource.Options()
    options.compression = compression
    options.encoding = .utf8
    return (try OpenedSource(name: path, options: options), path)
  }

  private func error(_ bytes: [UInt8], as compression: Compression = .auto) throws -> String {
    let folder = try TemporaryFolder()
    let path = try folder.write("my feed.csv", bytes)
    var options = OpenedSource.Options()
    options.compression = compression
    let error = try #require(throws: UpsurgeError.self) { try OpenedSource(name: path, options: options) }
    #expect(error.code == .badInput)
    return error.description.split(separator: folder.path + "/", omittingEmptySubsequences: false).joined()
  }

  @Test("the names of options stay as they are")
  func hasRawValues() {
    #expect(Compression.allCases.map(\.rawValue) == ["auto", "none", "zstd", "gzip", "xz", "bzip2", "lz4", "compress"])
  }

  @Test("magic bytes, not names, decide")
  func detects() throws {
    #expect(try open(Self.zstdBytes).0.compression == .zstd)
    #expect(try open(Compressing.skippable([1, 2], variant: 3) + Self.zstdBytes).0.compression == .zstd)
    #expect(try open(Self.gzipBytes).0.compression == .gzip)
    #expect(try open(Array("id\n".utf8)).0.compression == .none)
    #expect(try open([]).0.compression == .none)
    #expect(try open(Array("(".utf8)).0.compression == .none)
    #expect(try open(Array("PK,PAR1,BZh9 and so on,Obj\n".utf8)).0.compression == .none)
    #expect(try open(Array("BZh,PAR1\n".utf8)).0.compression == .none)
    #expect(try open(Array("PAR1,PAR2\n".utf8)).0.compression == .none)
  }

  @Test("none takes the bytes as they are")
  func takesBytesAsTheyAre() throws {
    for bytes in [Self.zstdBytes, Self.gzipBytes, Array("SQLite format 3\0".utf8)] {
      let source = try open(bytes, as: .none).0
      #expect(source.compression == .none)
      expectSame(drain(source).bytes, bytes)
    }
  }

  @Test("a file cut within its magic bytes does not pass for text")
  func noticesShortMagic() throws {
    for count in 2..<Self.zstdBytes.count {
      #expect(try error(Array(Self.zstdBytes[..<count])).contains("is cut off: the zstd stream"))
    }
    for count in 2..<Self.gzipBytes.count {
      #expect(try error(Array(Self.gzipBytes[..<count])).contains("is cut off: the gzip stream"))
    }
  }

  @Test("what was asked for and what is there must agree")
  func reportsContradictions() throws {
    #expect(
      try error(Self.gzipBytes, as: .zstd)
        == "my feed.csv is gzip, not zstd\n  at my feed.csv, byte 0\n  fix: --compression gzip, or auto")
    #expect(
      try error(Self.zstdBytes, as: .gzip)
        == "my feed.csv is zstd, not gzip\n  at my feed.csv, byte 0\n  fix: --compression zstd, or auto")
    #expect(
      try error(Array("id,name\n".utf8), as: .gzip)
        == "my feed.csv is not gzip: it starts with the bytes 69 64 2C 6E\n  at my feed.csv, byte 0\n"
        + "  fix: --compression auto finds out by itself; none takes the bytes as they are")
    #expect(
      try error([], as: .zstd)
        == "my feed.csv is empty, which no zstd file is\n  at my feed.csv, byte 0\n"
        + "  fix: make it again; --compression auto takes an empty file for no records")
  }

  static let foreign: [(bytes: [UInt8], what: String, fixStart: String)] = [
    (Array("LZIP\u{1}".utf8), "lzip", "lzip -dc '"),
    ([0x27, 0xB5, 0x2F, 0xFD, 0], "zstd of a format before 1.0", "zstd -dc '"),
    (Array("PK\u{3}\u{4}----".utf8), "a zip archive", "unzip -p '"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive", "7z x -so '"),
    (Array("SQLite format 3\0".utf8), "a SQLite database", "export the table: sqlite3 "),
    (Array("PAR1\u{15}\u{4}".utf8), "Parquet", "python3 -c \"import duckdb,"),
    (Array("ARROW1\0\0".utf8), "an Arrow file (Feather)", "python3 -c \"import sys,pyarrow.feather "),
    (Array("FEA1\0\0\0\0".utf8), "an Arrow file (Feather)", "python3 -c \"import sys,pyarrow.feather "),
    ([0xFF, 0xFF, 0xFF, 0xFF, 0xA8, 0, 0, 0, 0x10], "a stream of Arrow", "python3 -c \"import sys,pyarrow "),
    (Array("ORC\n\u{6}\u{12}".utf8), "ORC", "python3 -c \"import sys,pyarrow.orc "),
    (Array("Obj\u{1}".utf8), "Avro", "python3 -c \"import sys,json,fastavro; "),
    (
      [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "an old Excel workbook (.xls), or an encrypted one",
      "save the sheet as .xlsx"
    ),
    ([UInt8](repeating: 0x61, count: 257) + Array("ustar\0".utf8), "a tar archive", "tar -xO -f '"),
    (
      Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 26) + Array("[Content_Types].xml".utf8),
      "an Excel workbook", "save the sheet"
    ),
  ]

  @Test("formats that are not read are named, plain and inside a stream", arguments: foreign)
  func namesForeignFormats(bytes: [UInt8], what: String, fixStart: String) throws {
    let plain = try error(bytes)
    #expect(
      plain.hasPrefix(
        "my feed.csv is \(what), which is not read here\n  at my feed.csv, byte 0\n  fix: \(fixStart)"))
    #expect(try error(bytes, as: .gzip) == plain)
    let inner = try error(Compressing.zstd(bytes))
    #expect(inner.hasPrefix("my feed.csv holds \(what) inside its zstd stream, which is not read here\n"))
    #expect(inner.contains("\n  fix: "))
  }

  @Test("the whole message")
  func saysTheWholeMessage() throws {
    #expect(
      try error(Array("LZIP\u{1}".utf8))
        == "my feed.csv is lzip, which is not read here\n  at my feed.csv, byte 0\n"
        + "  fix: lzip -dc 'my feed.csv' | upsurge load DB TABLE -")
    #expect(
      try error(Compressing.gzip(Self.zstdBytes))
        == "my feed.csv holds zstd inside its gzip stream, which is not read here\n  at my feed.csv, byte 0\n"
        + "  fix: gzip -dc 'my feed.csv' > unpacked; zstd -dc unpacked | upsurge load DB TABLE -")
  }
}
