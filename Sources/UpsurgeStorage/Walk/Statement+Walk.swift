import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

extension Statement {
  /// As `step`, for loops over rows: a call into another module is never inlined.
  @inline(__always)
  func stepInWalk() throws(UpsurgeError) -> Bool {
    #if DEBUG
      connection.checkThread()
    #endif
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    try connection.check(code, sql: sql)
    return false
  }
}
