import TestSupport
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files that nobody here wrote, and what reading them with the sniffed dialect gives.
enum CSVFixtures {
  /// The names in a folder, sorted.
  static func list(_ folder: String) -> [String] {
    guard let handle = opendir(folder) else { return [] }
    defer { closedir(handle) }
    var names: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// A file's bytes; what is not UTF-8 is taken for Latin-1, as the input stage would do with `--encoding`.
  static func utf8(_ path: String) throws -> [UInt8] {
    let bytes = try readFile(path)
    if String(validating: bytes, as: UTF8.self) != nil { return bytes }
    return bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
  }

  /// Sniffs and parses a whole document.
  static func load(
    _ bytes: [UInt8], given: CSVOverrides = CSVOverrides()
  ) throws -> (sniffed: CSVSniffResult, document: ParsedDocument) {
    let sniffed = CSVSniffer.sniff(sample: bytes, isWhole: true, given: given)
    var parser = CSVParser.text(sniffed.dialect, fieldCount: sniffed.fieldCount)
    return (sniffed, try BatchDriver().parse(bytes, with: &parser))
  }
}
