#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The shared test data beside the project (`../shared/data`, or `UPSURGE_DATA`), which may be absent.
///
/// Tests say `@Test(.enabled(if: SharedData.isPresent, SharedData.skipNote))`.
public enum SharedData {
  /// The data folder's path, whether or not it is there.
  public static let root: String = {
    if let given = getenv("UPSURGE_DATA") { return String(cString: given) }
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(3)  // SharedData.swift, TestSupport, Tests
    return parts.joined(separator: "/") + "/../shared/data"
  }()

  public static let isPresent = access(root + "/README.md", R_OK) == 0

  public static let skipNote: String =
    "needs the shared test data in ../shared/data (or UPSURGE_DATA=<folder>), which is not here"

  /// The path of a file in the data folder.
  public static func path(_ relative: String) -> String { root + "/" + relative }

  /// A whole file; the test fails clearly when it is missing.
  public static func bytes(_ relative: String) throws -> [UInt8] { try readFile(path(relative)) }
}

/// Reads a whole file.
public func readFile(_ path: String) throws -> [UInt8] {
  guard let file = fopen(path, "rb") else { throw MissingFile(path: path) }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = fread(&chunk, 1, chunk.count, file)
    if count == 0 { return bytes }
    bytes += chunk[..<count]
  }
}

public struct MissingFile: Error {
  public var path: String
  public init(path: String) { self.path = path }
}
