#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether a run packs its rows (see `LoadRun+Direct`), and the file for that.
extension LoadRun {
  /// Less is loaded as fast by SQLite.
  private static let leastByteCount: UInt64 = 4 << 20
  private static let pauseMicroseconds: UInt32 = 20_000

  /// Makes the file in which the rows of a new database are packed.
  ///
  /// Where another process makes the same database, this one waits for it, at most `--busy-timeout`, and then goes on
  /// in what that one has made. What a killed process has left is removed.
  /// - Parameter isThere: whether the database was there from the start.
  /// - Returns: nil where the rows go through SQLite: also where the file cannot be made, as SQLite says best why.
  func image(for input: LoadInput, isThere: Bool) -> ImageFile? {
    if job.options.output.isTrial { return nil }
    let database = job.database
    if isThere || access(database, F_OK) == 0 {
      // Not needed here, whosever it is.
      try? ImageFile.removeStale(for: database)
      return nil
    }
    guard mayPack(input) else {
      whenFree { () throws(UpsurgeError) in try ImageFile.removeStale(for: database) }
      return nil
    }
    let image = whenFree { () throws(UpsurgeError) in try ImageFile.make(for: database) }
    // Whoever was waited for may have made the database just before.
    if access(database, F_OK) != 0 { return image }
    image?.discard()
    return nil
  }

  /// Does something as soon as no other process makes the database.
  /// - Returns: nil where that takes too long, the database is there, or it fails.
  @discardableResult
  private func whenFree<Result>(_ act: () throws(UpsurgeError) -> Result) -> Result? {
    let watch = Stopwatch()
    var isWaiting = false
    while access(job.database, F_OK) != 0 {
      do throws(UpsurgeError) {
        return try act()
      } catch {
        let isOver = watch.seconds * 1_000 >= Double(job.options.transaction.busyTimeout)
        if error.code != .databaseBusy {
          note(RunNote(.detail, "rows go through SQLite: \(error.message)"))
          return nil
        }
        if isOver || control.cancellationSignal != nil { return nil }
        if !isWaiting { note(RunNote(.detail, "another process makes the database, and is waited for")) }
        isWaiting = true
        usleep(Self.pauseMicroseconds)
      }
    }
    return nil
  }

  /// Whether nothing is asked for that only SQLite does or that shows rows on their way, and all of the input can be
  /// read again, should packing come to nothing.
  private func mayPack(_ input: LoadInput) -> Bool {
    let (options, beginning) = (job.options, input.beginning)
    guard options.transaction.direct != .never, !options.transaction.isAtomic, !options.output.isExplained,
      options.transaction.durability != .off,
      options.transaction.commitEvery == .auto, options.table.createsTable,
      options.environment.vfsName == nil, options.indexes.wanted.isEmpty,
      options.output.changesPath == nil, options.output.emitPath == nil, input.script.hash == nil,
      options.table.triggers == .run, options.table.contract != .quarantine, beginning.resumption == nil,
      beginning.replaced.isEmpty, job.database != ":memory:", !input.runJob.isStream,
      let byteCount = totalByteCount(of: input.remainingSources)
    else { return false }
    // A link to what is not there would have to be copied to.
    var status = stat()
    if lstat(job.database, &status) == 0 { return false }
    // What is no file may be opened once only; the check before the rows is not to be that.
    if case .file(let path) = options.rejects.target, access(path, F_OK) == 0, !isRegularFile(path) {
      return false
    }
    if options.transaction.direct == .always { return true }
    let source = beginning.source.opened
    let ratio = Double(source.sample.count) / Double(max(source.counter.count, 1))
    return Double(byteCount) * max(ratio, 1) >= Double(Self.leastByteCount)
  }
}
