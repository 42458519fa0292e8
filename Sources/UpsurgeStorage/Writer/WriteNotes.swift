import CSQLite
import UpsurgeRecords

/// What the writer's statements have counted since it was last cleared.
///
/// `sqlite3_changes` does not tell an update from an insert. So the `WHERE` of each `DO UPDATE` ends with a
/// comparison whose collation is ours, holds for every text, and counts how often it is asked:
///
///     WHERE ("t"."v" IS NOT excluded."v") AND CAST(excluded."k" AS TEXT) = '' COLLATE upsurge_note_update
///
/// SQLite evaluates AND from left to right and stops at the first false term, so it is asked exactly for the
/// rows that are about to be updated (a key that conflicts is never NULL). An SQL function would do as well,
/// but SQLite takes every function for one that may fail, and keeps a statement journal (measured: 7,546
/// instead of 220 writes for 12,800 rows of random keys, and half the speed). Where triggers may say
/// RAISE(IGNORE), the `WHERE` begins with `upsurge_note_conflict` likewise.
struct WriteNotes {
  var updates = 0
  var conflicts = 0
  /// Frames in the WAL after the last commit, as the WAL hook tells.
  var walFrames = 0

  /// Registers the collations. The memory must outlive the connection's handle.
  static func register(on handle: OpaquePointer) throws(UpsurgeError) -> UnsafeMutablePointer<WriteNotes> {
    let notes = UnsafeMutablePointer<WriteNotes>.allocate(capacity: 1)
    notes.initialize(to: WriteNotes())
    var code = sqlite3_create_collation_v2(
      handle, "upsurge_note_update", SQLITE_UTF8, notes,
      { notes, _, _, _, _ in
        notes?.assumingMemoryBound(to: WriteNotes.self).pointee.updates += 1
        return 0
      }, nil)
    if code == SQLITE_OK {
      code = sqlite3_create_collation_v2(
        handle, "upsurge_note_conflict", SQLITE_UTF8, notes,
        { notes, _, _, _, _ in
          notes?.assumingMemoryBound(to: WriteNotes.self).pointee.conflicts += 1
          return 0
        }, nil)
    }
    guard code == SQLITE_OK else {
      notes.deallocate()
      throw UpsurgeError(.database, "SQLite cannot register a collation", underlyingCode: code)
    }
    return notes
  }
}
