import CSQLite
import UpsurgeRecords
import UpsurgeState

/// Ending while there is still room.
///
/// A disk that is full keeps others from working, and the log from being brought into the database. So before each
/// transaction but the first the disk is asked what is free, which must be enough for a transaction like the last one:
///
///     its frames in the log, as far as the log's file has no place for them already
///     the pages by which the database is still to grow when the log is brought into it
///     the pages by which that transaction makes it grow
///
/// Where that is too much, the log is emptied first, so that its file has a place for the next frames.
extension WriteAheadLog {
  /// - Throws: `database` with SQLITE_FULL when there may be too little room.
  func checkRoom() throws(UpsurgeError) {
    if writer.settings.isDryRun || writer.settings.commitsOnce || connection.durability == .off { return }
    guard let path = connection.filePath else { return }
    let pageCount = Int(try connection.integer("PRAGMA main.page_count") ?? 0)
    let growth = max(0, pageCount - self.pageCount) * pageByteCount
    self.pageCount = pageCount
    if writer.statistics.commitCount == 0 { return }
    guard let free = writer.settings.freeByteCount(path) else { return }
    var (needed, pending) = neededByteCounts(path, pageCount: pageCount, growth: growth)
    if free >= needed { return }
    if frames > 0, free >= pending, try checkpoint(SQLITE_CHECKPOINT_PASSIVE),
      try empty(frames * frameByteCount)
    {
      (needed, pending) = neededByteCounts(path, pageCount: pageCount, growth: growth)
    }
    guard let left = writer.settings.freeByteCount(path), left < needed else { return }
    var message =
      "the disk of \(connection.path.escapedForTerminal) has \(Self.size(left)) free, and the next transaction may need"
      + " \(Self.size(needed)); the run ends at its last commit"
    if let pin = writer.statistics.logPin, frames > 0 {
      message +=
        " (the write-ahead log takes \(Self.size(frames * frameByteCount)): \(pin.holder) reads from it)"
    }
    throw UpsurgeError(
      .database, message, hint: "make room there, then run the same command again",
      underlyingCode: SQLITE_FULL)
  }

  /// What the next transaction may need with its checkpoint, and what bringing the log into the database as it is
  /// takes.
  private func neededByteCounts(
    _ path: String, pageCount: Int, growth: Int
  ) -> (needed: Int, pending: Int) {
    let inLog = (frames + lastPages) * frameByteCount - DiskSpace.size(of: path + "-wal")
    let pending = max(0, pageCount * pageByteCount - DiskSpace.size(of: path))
    return (max(0, inLog) + pending + growth, pending)
  }

  private static func size(_ byteCount: Int) -> String {
    byteCount < 10 << 20 ? "\(byteCount >> 10) KiB" : "\(byteCount >> 20) MiB"
  }
}
