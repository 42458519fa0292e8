import CSQLite
import UpsurgeRecords

/// The SQL functions that the engine adds to its connections.
package enum ApplicationFunction {
  /// The names of the functions. A schema that calls one of them fails in programs that do not register it.
  package static let names: Set<String> = ["uuid", "upsurge_is_synchronizing"]

  /// Registers the functions; SQLITE_INNOCUOUS lets triggers, views and defaults call them while
  /// `trusted_schema` is off (https://www.sqlite.org/c3ref/c_deterministic.html).
  /// - Parameter isBorrowed: whether the connection may have a function `uuid` of its own, which stays.
  /// - Returns: what `upsurge_is_synchronizing()` says; SQLite frees it with the connection.
  static func register(
    on handle: OpaquePointer, isBorrowed: Bool = false
  ) throws(UpsurgeError) -> UnsafeMutablePointer<Bool> {
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
    let isSynchronizing = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
    isSynchronizing.initialize(to: false)
    // SQLite calls the destructor when the registration fails, too.
    var code = sqlite3_create_function_v2(
      handle, "upsurge_is_synchronizing", 0, flags, isSynchronizing,
      { context, _, _ in
        let flag = sqlite3_user_data(context)?.assumingMemoryBound(to: Bool.self)
        sqlite3_result_int(context, flag?.pointee == true ? 1 : 0)
      }, nil, nil, { $0?.assumingMemoryBound(to: Bool.self).deallocate() })
    if code == SQLITE_OK, !isBorrowed || !hasUUID(handle) {
      code = sqlite3_create_function_v2(
        handle, "uuid", 0, flags, nil, { context, _, _ in ApplicationFunction.setRandomUUID(context) }, nil,
        nil, nil)
    }
    guard code == SQLITE_OK else {
      throw UpsurgeError(.database, "SQLite cannot register a function", underlyingCode: code)
    }
    return isSynchronizing
  }

  private static func hasUUID(_ handle: OpaquePointer) -> Bool {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    return sqlite3_prepare_v2(handle, "SELECT uuid()", -1, &statement, nil) == SQLITE_OK
  }

  /// The result is a random UUID (RFC 9562, version 4) as text: `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`.
  private static func setRandomUUID(_ context: OpaquePointer?) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16 + 36) { memory in
      sqlite3_randomness(16, memory.baseAddress)
      memory[6] = memory[6] & 0x0F | 0x40
      memory[8] = memory[8] & 0x3F | 0x80
      var at = 16
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          memory[at] = UInt8(ascii: "-")
          at += 1
        }
        memory[at] = hexDigit(memory[index] >> 4)
        memory[at + 1] = hexDigit(memory[index] & 15)
        at += 2
      }
      let text = UnsafeRawPointer(memory.baseAddress.map { $0 + 16 })?.assumingMemoryBound(to: CChar.self)
      // SQLITE_TRANSIENT: SQLite copies the bytes at once.
      sqlite3_result_text(context, text, 36, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension Connection {
  /// What `upsurge_is_synchronizing()` says: 1 while a load runs under `--triggers guarded`, so that a trigger
  /// can say `WHEN NOT upsurge_is_synchronizing()`.
  package var isSynchronizing: Bool {
    get { synchronizingFlag.pointee }
    set { synchronizingFlag.pointee = newValue }
  }
}
