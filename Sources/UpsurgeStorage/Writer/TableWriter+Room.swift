import CSQLite
import UpsurgeRecords

/// Ending while there is still room.
///
/// A disk that is full keeps others from working, and the log from being brought into the database. So before each
/// transaction but the first the disk is asked what is free, which must be enough for a transaction like the last one:
///
///     its frames in the log, as far as the log's file has no place for them already
///     the pages by which the database is still to grow when the log is brought into it
///     the pages by which that transaction makes it grow
extension TableWriter {
  /// - Throws: `database` with SQLITE_FULL when there may be too little room.
  func checkRoom() throws(UpsurgeError) {
    if settings.isDryRun || settings.commitsOnce || connection.durability == .off { return }
    guard let path = connection.filePath else { return }
    let pageCount = Int(try connection.integer("PRAGMA main.page_count") ?? 0)
    defer { log.pageCount = pageCount }
    if statistics.commitCount == 0 { return }
    let growth = max(0, pageCount - log.pageCount)
    let inLog = (log.frames + log.lastPages) * frameByteCount - DiskSpace.size(of: path + "-wal")
    let pending = pageCount * pageByteCount - DiskSpace.size(of: path)
    let needed = max(0, inLog) + max(0, pending) + growth * pageByteCount
    guard let free = settings.freeByteCount(path), free < needed else { return }
    var message =
      "the disk of \(connection.path.escapedForTerminal) has \(Self.size(free)) free, and the next transaction may need"
      + " \(Self.size(needed)); the run ends at its last commit"
    if let pin = statistics.logPin, log.frames > 0 {
      message +=
        " (the write-ahead log takes \(Self.size(log.frames * frameByteCount)): \(pin.holder) reads from it)"
    }
    throw UpsurgeError(
      .database, message, hint: "make room there, then run the same command again",
      underlyingCode: SQLITE_FULL)
  }

  private static func size(_ byteCount: Int) -> String {
    byteCount < 10 << 20 ? "\(byteCount >> 10) KiB" : "\(byteCount >> 20) MiB"
  }
}
