import CSQLite
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Who holds a lock on the index of a write-ahead log, by Linux's list of locks.
///
/// The list is read instead of asking with `F_GETLK`: closing any descriptor of the index drops the locks of this
/// process on it. A line of it: `1: POSIX  ADVISORY  READ 3001 fe:00:16523295 124 124`.
/// Readers hold one of the bytes 123 to 127, the writer byte 120 (https://www.sqlite.org/walformat.html#wal_locks).
enum LogHolder {
  private static let readerBytes = 123...127
  private static let writerBytes = 120...120
  /// Held by each process that has the database open.
  static let openBytes = 128...128

  /// The reader in words, else the writer; `another connection` where the list does not tell.
  static func words(_ connection: Connection) -> String {
    guard let path = connection.filePath else { return unknown }
    // The list may skip a line while others come and go.
    for _ in 0..<3 {
      if let name = named(readerBytes, of: path) ?? named(writerBytes, of: path) { return name }
    }
    return unknown
  }

  private static let unknown = "another connection"

  private static func named(_ bytes: ClosedRange<Int>, of path: String) -> String? {
    #if os(Linux)
      guard let process = process(bytes, of: path + "-shm") else { return nil }
      if process == getpid() { return "another connection of this process" }
      let command = firstLine(of: "/proc/\(process)/comm")
      return "process \(process)" + (command.map { " (\($0.escapedForTerminal))" } ?? "")
    #else
      return nil
    #endif
  }

  #if os(Linux)
    /// A process that holds one of the bytes; this one only where no other does.
    static func process(_ bytes: ClosedRange<Int>, of path: String) -> pid_t? {
      var status = stat()
      guard stat(path, &status) == 0, let list = fopen("/proc/locks", "re") else { return nil }
      defer { fclose(list) }
      var line = [CChar](repeating: 0, count: 256)
      var own: pid_t?
      while fgets(&line, Int32(line.count), list) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 8, words[1] == "POSIX",
          words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(status.st_ino),
          let process = pid_t(words[4]), process > 0,
          let first = Int(words[6]), let last = Int(words[7]), first <= last, bytes.overlaps(first...last)
        else { continue }
        // Of another process rather than of ours, which may only be about to write.
        if process != getpid() { return process }
        own = process
      }
      return own
    }

    private static func firstLine(of path: String) -> String? {
      guard let file = fopen(path, "re") else { return nil }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 64)
      guard fgets(&line, Int32(line.count), file) != nil else { return nil }
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      return String(decoding: bytes, as: UTF8.self)
    }
  #endif
}

extension Connection {
  /// The database file as SQLite has resolved it; nil for one in memory and a temporary one.
  var filePath: String? {
    guard let name = sqlite3_db_filename(handle, "main"), name[0] != 0 else { return nil }
    return String(cString: name)
  }
}
