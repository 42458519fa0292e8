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
/// RAISE(IGNORE), the `WHERE` begins with `upsurge_note_conflict` likewise; where an update has a condition of its own,
/// `upsurge_note_difference` before it shows the records that differ, so that those left are stale.
package struct WriteNotes {
  package var updates = 0
  /// Rows that would become other ones, whatever the condition of the update says.
  package var differences = 0
  package var conflicts = 0
  /// Frames in the WAL after the last commit, as the WAL hook reports them.
  package var walFrames = 0
  /// Whether anything was committed to the WAL.
  var hasCommitted = false

  /// Registers the collations. The memory must outlive the connection's handle.
  static func register(on handle: OpaquePointer) throws(UpsurgeError) -> UnsafeMutablePointer<WriteNotes> {
    let notes = UnsafeMutablePointer<WriteNotes>.allocate(capacity: 1)
    notes.initialize(to: WriteNotes())
    let counters:
      [(
        String,
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32
      )] = [
        (
          "upsurge_note_update",
          { notes, _, _, _, _ in
            notes?.assumingMemoryBound(to: WriteNotes.self).pointee.updates += 1
            return 0
          }
        ),
        (
          "upsurge_note_difference",
          { notes, _, _, _, _ in
            notes?.assumingMemoryBound(to: WriteNotes.self).pointee.differences += 1
            return 0
          }
        ),
        (
          "upsurge_note_conflict",
          { notes, _, _, _, _ in
            notes?.assumingMemoryBound(to: WriteNotes.self).pointee.conflicts += 1
            return 0
          }
        ),
      ]
    var code = SQLITE_OK
    for (name, count) in counters where code == SQLITE_OK {
      code = sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, notes, count, nil)
    }
    guard code == SQLITE_OK else {
      notes.deallocate()
      throw UpsurgeError(.database, "SQLite cannot register a collation", underlyingCode: code)
    }
    return notes
  }
}
