import CSQLite
import CScan
import UpsurgeRecords

/// Asks SQLite for the doubles of decimals of which scanning cannot prove them.
///
/// That is one in thirty: versions of SQLite differ there in the last bit (`number.h`), so the one that will read the
/// table decides. Belongs to one thread.
final class DecimalCast {
  private var handle: OpaquePointer?
  private var statement: OpaquePointer?

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close(handle)
  }

  /// - Returns: nil where the text is no such decimal, or SQLite cannot be asked.
  func value(_ start: UnsafeRawPointer, count: Int) -> Double? {
    let bytes = start.assumingMemoryBound(to: UInt8.self)
    var bits: UInt64 = 0
    guard Int(upsurge_number_scan(bytes, count, &bits)) == UPSURGE_NUMBER_UNPROVEN, isReady() else {
      return nil
    }
    let text = UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)
    defer { sqlite3_reset(statement) }
    // The text is read before this returns.
    guard sqlite3_bind_text(statement, 1, text, Int32(clamping: count), nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return nil }
    return sqlite3_column_double(statement, 0)
  }

  private func isReady() -> Bool {
    if statement != nil { return true }
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
    guard handle == nil, sqlite3_open_v2(":memory:", &handle, flags, nil) == SQLITE_OK else { return false }
    return sqlite3_prepare_v2(handle, "SELECT CAST(?1 AS REAL)", -1, &statement, nil) == SQLITE_OK
  }
}
