import CSQLite

extension Connection {
  /// From now on `notes` says how many frames the log holds after each commit.
  package func noteWALFrames() {
    // The hook is how SQLite's own checkpoints are done.
    if isBorrowed { return }
    sqlite3_wal_hook(
      handle,
      { notes, _, _, frames in
        let notes = notes?.assumingMemoryBound(to: WriteNotes.self)
        notes?.pointee.walFrames = Int(frames)
        notes?.pointee.hasCommitted = true
        return SQLITE_OK
      }, notes)
  }

  /// Frames that the log held after the last commit; needs `noteWALFrames`.
  package var walFrameCount: Int { notes.pointee.walFrames }

  /// A counter of `sqlite3_db_status`.
  package func status(_ counter: Int32) -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, counter, &current, &highest, 0)
    return Int(UInt32(bitPattern: current))
  }

  /// Rows that statements of this connection have changed since it was opened, triggers included.
  package var totalChanges: Int64 { sqlite3_total_changes64(handle) }
}
