import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The first fault the validator finds when the bytes come in pieces of the given size.
func validate(_ bytes: [UInt8], pieceByteCount: Int = .max) -> UpsurgeError? {
  var validator = JSONValidator(file: "t")
  do throws(UpsurgeError) {
    var start = 0
    while start < bytes.count {
      let end = start + min(pieceByteCount, bytes.count - start)
      try bytes[start..<end].withUnsafeBufferPointer { piece throws(UpsurgeError) in try validator.feed(piece)
      }
      start = end
    }
    try validator.finish()
    return nil
  } catch {
    return error
  }
}

@Suite("JSONTestSuite", .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)))
struct JSONTestSuiteTests {
  /// The names of the suite's files that begin with a letter and `_`.
  static func names(_ prefix: String, in folder: String = "test_parsing") -> [String] {
    guard let directory = opendir(SharedData.path("JSONTestSuite/\(folder)")) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(prefix) && name.hasSuffix(".json") { names.append(name) }
    }
    return names.sorted()
  }

  /// A file without its byte order mark, which the input stage takes off.
  static func bytes(_ name: String, in folder: String = "test_parsing") throws -> [UInt8] {
    let bytes = try SharedData.bytes("JSONTestSuite/\(folder)/\(name)")
    return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
  }

  @Test("all 95 y_ files are accepted, all 188 n_ files are faults with a position")
  func verdicts() throws {
    let good = Self.names("y_")
    let bad = Self.names("n_")
    #expect(good.count == 95 && bad.count == 188 && Self.names("i_").count == 35)
    for name in good {
      let error = validate(try Self.bytes(name))
      #expect(error == nil, "\(name): \(error?.description ?? "")")
    }
    for name in bad {
      let bytes = try Self.bytes(name)
      let error = validate(bytes)
      #expect(error?.position?.line != nil && error?.position?.byte != nil, "\(name) was accepted")
      #expect((error?.position?.byte ?? .max) <= UInt64(bytes.count), "\(name)")
    }
  }

  @Test("the verdict is the oracle's, and the same for pieces of every size")
  func pieces() throws {
    for name in Self.names("") {
      let bytes = try Self.bytes(name)
      let whole = validate(bytes)
      // The oracle recurses; the suite's deepest files would exhaust its stack.
      if bytes.count < 5_000 {
        #expect((whole == nil) == ((try? OracleJSON.parse(bytes[...])) != nil), "\(name)")
      }
      for size in bytes.count < 5_000 ? [1, 2, 3, 7] : [1_000] {
        let pieces = validate(bytes, pieceByteCount: size)
        #expect(pieces?.position == whole?.position, "\(name) in pieces of \(size)")
      }
    }
  }

  @Test("through the record reader no file crashes, and objects are read as the oracle reads them")
  func records() throws {
    for folder in ["test_parsing", "test_transform"] {
      for name in Self.names("", in: folder) {
        let bytes = try Self.bytes(name, in: folder)
        for format in JSONFormat.allCases {
          for flatten in [nil, "_"] {
            expectOracle(bytes, JSONDialect(format: format, flattenSeparator: flatten), [JSONBatchDriver()], name)
          }
        }
      }
    }
  }
}
