#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The direct path: the rows of a new table in a new database become pages without SQLite (`DirectTable`), in a file
/// beside the database that takes its name in one step.
///
///     image made, CREATE TABLE   ->   batches packed   ->   position written   ->   image becomes the database
///                                     until one is not plain                         ->   the rest as in any run
///
/// What is not plain (a reject, a key out of order, a new column) ends it in front of its batch; so does a pipe that
/// stalls. The run then goes on in the database that has been made, as if an earlier part of it had ended there. Killed
/// before, it leaves a file that the next run removes, and nothing else.
extension LoadRun {
  /// A run whose first records are packed.
  struct Packed: ~Copyable {
    let table: PreparedTable
    /// As which they stand in the database; nil where there is none, as the first batch was not plain.
    var record: RunRecord?
    let reader: WorkerThread
    let prepareSeconds: Double
    var warnings = WarningLog()
    /// The batch that was not packed.
    var rest: Batch?
  }

  /// Less is loaded as fast by SQLite.
  private static let leastByteCount: UInt64 = 4 << 20
  /// What is not there for so long is not waited for.
  private static let idleMilliseconds = 500

  /// Packs as many records as can be.
  /// - Returns: nil where the run is not one for the direct path; nothing is read or made then.
  func pack(
    _ beginning: Beginning, runJob: RunJob, script: InitScript, names: [String]
  ) throws(UpsurgeError) -> Packed? {
    guard mayPack(beginning, script: script, names: names) else { return nil }
    // What would refuse the run must do so before its rows stand.
    if case .file(let path) = job.options.rejects {
      _ = try OutputFile(path: path, option: "--rejects", goesOn: true, holdsBack: true)
    }
    let image = try ImageFile.make(for: job.database)
    guard let (table, layout) = try prepare(image, for: beginning, names: names) else { return nil }
    announce(table, isJSON: beginning.source.isJSON)
    warnOfRoom(beginning.source, names: names[beginning.index...])
    announce(beginning)
    let stage = ReaderStage(
      run: self, sourceNames: names, firstIndex: beginning.index, table: table, files: beginning.files,
      resumption: nil)
    let reader = try start(Reading(stage: stage, first: beginning.source))
    let prepareSeconds = self.watch.seconds
    do throws(UpsurgeError) {
      let watch = Stopwatch()
      var direct = try DirectTable(layout, image: image, isSynced: true)
      var progress = DirectProgress(table.plan, sourceNames: names)
      let rest = try fill(&direct, &progress)
      // What was read of a damaged input is nobody's, as nothing is committed.
      if rest == nil, let error = readError.withLock({ $0 }), error.code != .interrupted { throw error }
      if direct.rowCount == 0 {
        return Packed(table: table, record: nil, reader: reader, prepareSeconds: prepareSeconds, rest: rest)
      }
      try direct.finish()
      let packedSeconds = watch.seconds
      let record = try writePosition(progress, beginning, table, runJob, to: image)
      do throws(UpsurgeError) {
        try image.handOver(isSynced: true, busyTimeoutMilliseconds: job.options.busyTimeout)
      } catch {
        if image.hasEnded { standing.withLock { $0 = record } }
        throw error
      }
      // From here on its rows stand, whatever comes.
      standing.withLock { $0 = record }
      let handOverSeconds = watch.seconds - packedSeconds
      summary.withLock {
        $0.stages += [(RunStage.pack, packedSeconds), (RunStage.handOver, handOverSeconds)]
      }
      return Packed(
        table: table, record: record, reader: reader, prepareSeconds: prepareSeconds,
        warnings: progress.warnings, rest: rest)
    } catch {
      stopReading()
      reader.join()
      throw error
    }
  }

  /// Waits until no other process makes the database; removes what a killed one has left.
  /// - Throws: `databaseBusy` behind `--busy-timeout`.
  func waitForMaker() throws(UpsurgeError) {
    let watch = Stopwatch()
    while true {
      do throws(UpsurgeError) {
        return try ImageFile.removeStale(for: job.database)
      } catch {
        // Somebody's own file of that name is in nobody's way but the image's.
        if error.code != .databaseBusy { return }
        let isOver = watch.seconds * 1_000 >= Double(job.options.busyTimeout)
        if isOver || control.cancellationSignal != nil { throw error }
        usleep(20_000)
      }
    }
  }

  /// Whether the database is new, and nothing is asked for that only SQLite does or that shows rows on their way.
  private func mayPack(_ beginning: Beginning, script: InitScript, names: [String]) -> Bool {
    let options = job.options
    guard options.direct != .never, !options.isTrial, !options.isAtomic, !options.isExplained,
      options.durability != .off, options.commitEvery == .auto, options.createsTable,
      options.vfsName == nil,
      options.indexes.isEmpty, options.changesPath == nil, options.emitPath == nil, script.hash == nil,
      options.triggers == .run,
      options.contract != .quarantine, beginning.resumption == nil, beginning.replaced.isEmpty,
      access(job.database, F_OK) != 0, job.database != ":memory:"
    else { return false }
    // Of a pipe nobody knows; it is worth trying.
    guard options.direct == .auto, let byteCount = totalByteCount(of: names[beginning.index...]) else {
      return true
    }
    let source = beginning.source.opened
    let ratio = Double(source.sample.count) / Double(max(source.counter.count, 1))
    return Double(byteCount) * max(ratio, 1) >= Double(Self.leastByteCount)
  }

  /// Makes the table in the image.
  /// - Returns: nil where it is not one to be packed.
  private func prepare(
    _ image: ImageFile, for beginning: Beginning, names: [String]
  ) throws(UpsurgeError) -> (PreparedTable, DirectLayout)? {
    let connection = try image.connect(pageCacheByteCount: job.options.pageCacheByteCount)
    let table = try PreparedTable.prepare(
      job.table, for: beginning.source, others: names[(beginning.index + 1)...], on: connection,
      options: job.options)
    try connection.execute("COMMIT")
    switch try DirectLayout.read(table.plan, on: connection) {
    case .fits(let layout): return (table, layout)
    case .unsupported(let reason):
      note(RunNote(.detail, "rows go through SQLite: the table \(reason)"))
      return nil
    }
  }

  /// Packs batches until the input ends, stalls, or one is not plain.
  /// - Returns: the batch that was not packed.
  private func fill(
    _ direct: inout DirectTable, _ progress: inout DirectProgress
  ) throws(UpsurgeError) -> sending Batch? {
    while full.waits(milliseconds: Self.idleMilliseconds), let batch = full.receive() {
      guard batch.rejects.isEmpty, batch.newColumns.isEmpty, try direct.append(batch) else {
        if direct.rowCount > 0 {
          note(RunNote(.detail, "the rest goes through SQLite: \(words(direct.refusal))"))
        }
        return batch
      }
      progress.take(batch)
      control.note(records: progress.ledger.read, rejects: 0)
      pool.giveBack(batch)
    }
    return nil
  }

  private func words(_ refusal: DirectRefusal?) -> String {
    switch refusal?.reason {
    case nil: "a record is rejected, or brings a new column"
    case .keyOrder: "keys do not ascend"
    case .sameKey: "a key comes twice"
    case .value: "a value is not of its column's type"
    case .size: "a record is very large"
    case .memory: "keys in no order take more than --memory leaves"
    }
  }

  /// Makes a table once more whose image came to nothing: its source is being read and tells its types no more. The
  /// transaction stays open for the first records.
  func makeAgain(_ table: PreparedTable, on connection: Connection) throws(UpsurgeError) {
    try connection.beginWriting()
    for sql in table.createdStatements { try connection.execute(sql) }
  }

  /// Writes the record of the run beside the rows.
  private func writePosition(
    _ progress: DirectProgress, _ beginning: Beginning, _ table: PreparedTable, _ runJob: RunJob,
    to image: ImageFile
  ) throws(UpsurgeError) -> RunRecord? {
    let connection = try image.connect(pageCacheByteCount: job.options.pageCacheByteCount)
    guard let keeper = try keeper(for: beginning, table: table, runJob: runJob, on: connection) else {
      return nil
    }
    try connection.beginWriting()
    try keeper.didBegin()
    try keeper.willCommit(progress.progress, progress.position, isLast: false)
    try connection.endImage()
    try connection.execute("COMMIT")
    return try RunTable.open(connection, table: runJob.table).last
  }
}
