import CSQLite
import UpsurgeRecords

/// What the SQL functions inside the writer's statements have counted since it was last cleared.
///
/// `sqlite3_changes` does not tell an update from an insert. So the `WHERE` of each `DO UPDATE` ends with
/// `AND upsurge_note_update()`: SQLite evaluates AND from left to right and stops at the first false term, so
/// the function is called exactly for the rows that are about to be updated. Where triggers may say
/// RAISE(IGNORE), the `WHERE` also starts with `upsurge_note_conflict()`.
struct WriteNotes {
  var updates = 0
  var conflicts = 0
  /// Frames in the WAL after the last commit, as the WAL hook tells.
  var walFrames = 0

  /// Registers the functions; both return 1. The memory must outlive the connection's handle.
  static func register(on handle: OpaquePointer) throws(UpsurgeError) -> UnsafeMutablePointer<WriteNotes> {
    let notes = UnsafeMutablePointer<WriteNotes>.allocate(capacity: 1)
    notes.initialize(to: WriteNotes())
    let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY
    var code = sqlite3_create_function_v2(
      handle, "upsurge_note_update", 0, flags, notes,
      { context, _, _ in
        sqlite3_user_data(context)?.assumingMemoryBound(to: WriteNotes.self).pointee.updates += 1
        sqlite3_result_int(context, 1)
      }, nil, nil, nil)
    if code == SQLITE_OK {
      code = sqlite3_create_function_v2(
        handle, "upsurge_note_conflict", 0, flags, notes,
        { context, _, _ in
          sqlite3_user_data(context)?.assumingMemoryBound(to: WriteNotes.self).pointee.conflicts += 1
          sqlite3_result_int(context, 1)
        }, nil, nil, nil)
    }
    guard code == SQLITE_OK else {
      notes.deallocate()
      throw UpsurgeError(.database, "SQLite cannot register a function", underlyingCode: code)
    }
    return notes
  }
}
