import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// The SQLite library that is used, as far as its speed depends on it.
package struct SQLiteFacts: Sendable {
  /// `3.40.1`
  package let version: String
  /// Options it was compiled with that cost or save time, in their own spelling.
  package let options: [String]

  /// Asks the library.
  /// - Throws: `database`.
  package init() throws(UpsurgeError) {
    version = String(cString: sqlite3_libversion())
    let connection = try Connection(path: ":memory:", createIfMissing: true)
    let statement = try connection.prepare("PRAGMA compile_options")
    var options: [String] = []
    while try statement.step() {
      guard let option = statement.text(at: 0) else { continue }
      if Self.telling.contains(where: { option == $0 || option.hasPrefix($0 + "=") }) {
        options.append(option)
      }
    }
    self.options = options
  }

  /// https://www.sqlite.org/compile.html
  private static let telling = [
    "COMPILER", "DEBUG", "DEFAULT_CACHE_SIZE", "DEFAULT_LOOKASIDE", "DEFAULT_MEMSTATUS", "DEFAULT_PAGE_SIZE",
    "DEFAULT_PCACHE_INITSZ", "DEFAULT_SYNCHRONOUS", "DEFAULT_WAL_SYNCHRONOUS", "DIRECT_OVERFLOW_READ",
    "ENABLE_API_ARMOR", "ENABLE_MEMORY_MANAGEMENT", "ENABLE_PREUPDATE_HOOK", "ENABLE_SESSION",
    "ENABLE_STMT_SCANSTATUS",
    "EXPLAIN_ESTIMATED_ROWS", "MAX_VARIABLE_NUMBER", "MEMDEBUG", "OMIT_LOOKASIDE", "SECURE_DELETE",
    "SYSTEM_MALLOC",
    "TEMP_STORE", "THREADSAFE",
  ]
}
