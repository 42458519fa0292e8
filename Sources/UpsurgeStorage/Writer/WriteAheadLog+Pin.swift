import CSQLite
import UpsurgeRecords
import UpsurgeState

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A reader whose snapshot is older than the log's end pins the log: nothing after it can be brought into the
/// database, and the log grows with every commit. SQLite has no way to end a reader, so the run says what happens,
/// and goes on ever more slowly. Past the limit each commit waits: two seconds for each time that the log holds the
/// limit over again, at most five. Meanwhile it looks whether the reader has ended. No lock is held in these pauses.
extension WriteAheadLog {
  /// Waits for the reader that has brought the log past its limit.
  func waitForReader(_ bytes: Int) throws(UpsurgeError) {
    let limit = writer.settings.log.limitByteCount
    if !watch.hasWarned { warn(bytes) }
    let start = MonotonicClock.seconds
    defer { writer.statistics.logPin?.pauseSeconds += MonotonicClock.seconds - start }
    let end = start + min(writer.settings.log.longestPauseSeconds, 2 * Double(bytes - limit) / Double(limit))
    var pause = 0.01
    while !writer.settings.isCancelled() {
      let rest = end - MonotonicClock.seconds
      if rest <= 0 { return }
      usleep(UInt32(min(pause, rest) * 1_000_000) + 1)
      pause = min(pause * 2, 0.1)
      // A passive one, which waits for nobody, shows whether it is worth more.
      if try checkpoint(SQLITE_CHECKPOINT_PASSIVE), try empty(bytes) { return }
    }
  }

  /// Remembers since when the log cannot be emptied.
  func notePin(isPinned: Bool, _ bytes: Int) {
    let now = MonotonicClock.seconds
    let wasPinned = watch.sinceSeconds != nil
    if isPinned || wasPinned, let peak = writer.statistics.logPin?.peakByteCount, bytes > peak {
      writer.statistics.logPin?.peakByteCount = bytes
    }
    if isPinned {
      let since = watch.sinceSeconds ?? now
      watch.sinceSeconds = since
      writer.statistics.logPin?.seconds += now - max(since, watch.countedSeconds)
      watch.countedSeconds = now
    } else if let since = watch.sinceSeconds {
      writer.statistics.logPin?.seconds += now - max(since, watch.countedSeconds)
      watch.sinceSeconds = nil
      watch.countedSeconds = now
    }
  }

  /// Says it once for each time that a reader brings the log past its limit.
  private func warn(_ bytes: Int) {
    watch.hasWarned = true
    let seconds = MonotonicClock.seconds - (watch.sinceSeconds ?? MonotonicClock.seconds)
    beginPin(bytes, seconds: seconds)
    let holder = writer.statistics.logPin?.holder ?? ""
    writer.settings.warn(
      "\(holder) has held a snapshot for \(Int(seconds.rounded())) s or more, so the write-ahead log cannot be emptied: it"
        + " has grown to \(bytes >> 20) MiB, past the \(.walLimit) of \(writer.settings.log.limitByteCount >> 20) MiB."
        + " Each commit now waits for the reader, the longer the larger the log is")
  }

  private func beginPin(_ bytes: Int, seconds: Double) {
    var pin = writer.statistics.logPin ?? LogPin(holder: "")
    pin.holder = LogHolder.words(connection)
    pin.peakByteCount = max(pin.peakByteCount, bytes)
    pin.seconds += seconds
    writer.statistics.logPin = pin
    watch.countedSeconds = MonotonicClock.seconds
  }

  /// Notes what the end of the run leaves in the log.
  func noteRest() {
    guard let path = connection.filePath else { return }
    let rest = DiskSpace.size(of: path + "-wal")
    if writer.statistics.logPin == nil {
      beginPin(rest, seconds: MonotonicClock.seconds - (watch.sinceSeconds ?? MonotonicClock.seconds))
    }
    writer.statistics.logPin?.leftByteCount = rest
    // The file has a header beside its frames.
    let peak = max(writer.statistics.logPin?.peakByteCount ?? 0, rest)
    writer.statistics.logPin?.peakByteCount = peak
    writer.statistics.walBytesPeak = max(writer.statistics.walBytesPeak, peak)
  }
}
