import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

@Suite("Real files", .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)))
struct SharedDataTests {
  @Test("the encodings of csvkit's examples are found, and their text is the same")
  func readsEncodings() throws {
    for (file, encoding, offset) in [
      ("test_utf8.csv", TextEncoding.utf8, 0), ("test_utf8_bom.csv", .utf8, 3),
      ("test_utf16_big.csv", .utf16be, 0), ("test_utf16_little.csv", .utf16le, 0),
    ] {
      let source = try OpenedSource(name: SharedData.path("csvkit_examples/\(file)"))
      #expect(source.encoding == encoding, "\(file)")
      #expect(source.startOffset == UInt64(offset), "\(file)")
      let text = String(decoding: drain(source).bytes, as: UTF8.self)
      #expect(text.hasPrefix("a,b,c\n") || text.hasPrefix("foo,bar,baz\n"), "\(file)")
      #expect(text.hasSuffix("4,5,ʤ\n") || text.hasSuffix("4,5,ʤ"), "\(file): \(text)")
    }
    let latin = try OpenedSource(name: SharedData.path("csvkit_examples/test_latin1.csv"))
    #expect(latin.encoding == .windows1252)
    #expect(String(decoding: drain(latin).bytes, as: UTF8.self) == "a,b,c\n1,2,3\n4,5,©")
  }

  @Test("gzip and bzip2 are read")
  func readsCompressed() throws {
    let plain = try SharedData.bytes("csvkit_examples/dummy.csv")
    let gzip = try OpenedSource(name: SharedData.path("csvkit_examples/dummy.csv.gz"))
    #expect(gzip.compression == .gzip)
    expectSame(drain(gzip).bytes, plain)
    if !Packing.isThere { return }
    let bzip2 = try OpenedSource(name: SharedData.path("csvkit_examples/dummy.csv.bz2"))
    #expect(bzip2.compression == .bzip2)
    expectSame(drain(bzip2).bytes, plain)
  }

  @Test(
    "a tar archive inside zstd is named",
    arguments: ["history/sp500_history.tar.zst", "pollock/pollock_given.tar.zst"])
  func namesArchives(file: String) throws {
    let error = try #require(throws: UpsurgeError.self) { try OpenedSource(name: SharedData.path(file)) }
    #expect(
      error.message
        == "\(SharedData.path(file)) holds a tar archive inside its zstd stream, which is not read here")
  }

  @Test(
    "a large real zstd file",
    arguments: [
      ("large/babynames_release2010_1880-2010.csv.zst", 1_690_785),
      ("large/babynames_release2023_1880-2023.csv.zst", 2_117_220),
    ])
  func readsLargeFiles(file: String, lineCount: Int) throws {
    let source = try OpenedSource(name: SharedData.path(file))
    #expect(source.compression == .zstd)
    #expect(source.encoding == .utf8)
    #expect(!source.isSampleWhole)
    #expect(String(decoding: source.sample.prefix(5), as: UTF8.self) == "year,")
    let delivery = drain(source, buffer: 256 << 10)
    #expect(delivery.error == nil)
    let count = delivery.bytes.withUnsafeBufferPointer { bytes in
      var count = 0
      for byte in bytes where byte == 0x0A { count += 1 }
      return count
    }
    #expect(count == lineCount)
    #expect(source.counter.count == source.fileByteCount)
  }

  @Test("no other real file is taken for UTF-16 or for compressed")
  func takesTextForText() throws {
    let folders = ["csv-spectrum/csvs", "wild_csv", "csvkit_examples", "ndjson"]
    let notPlain = ["test_utf16_big.csv", "test_utf16_little.csv", "dummy.csv.gz", "dummy.csv.bz2"]
    let patterns = folders.map { Source(SharedData.path($0) + "/*.*") }
    var fileCount = 0
    for path in try SourceList.expand(patterns).map(\.name) where !notPlain.contains(where: path.hasSuffix) {
      let source = try OpenedSource(name: path)
      #expect(source.compression == .none, "\(path)")
      // Some were written on a Mac, or have bytes that are nothing anywhere.
      #expect(["utf-8", "windows-1252", "macintosh", "cp850"].contains(source.encoding.rawValue), "\(path)")
      if source.encoding == .utf8 {
        let delivery = drain(source)
        #expect(source.startOffset + UInt64(delivery.bytes.count) == source.fileByteCount)
        let isValid = String(validating: delivery.bytes, as: UTF8.self) != nil
        #expect(isValid, "\(path)")
      }
      fileCount += 1
    }
    #expect(fileCount > 100)
  }
}
