/// The direct path: the rows of a new table in a new database become pages without SQLite (`DirectTable`), in a file
/// beside the database that takes its name in one step.
///
///     image made, CREATE TABLE   ->   batches packed   ->   position written   ->   image becomes the database
///                                     until one is not plain                         ->   the rest as in any run
///
/// What is not plain (a reject, a key that comes twice, a new column) ends it before its batch. The run then goes on in
/// the database that has been made, as if an earlier part of it had ended there, where that had as many rows as a
/// transaction; fewer might have been rolled back. Then, and where another program has made the database meanwhile or the
/// file cannot be written, the run starts over through SQLite. Killed before the end, it leaves a file that the next run
/// removes, and nothing else.
extension LoadRun {
  /// A run whose first records were packed.
  struct Packed: ~Copyable {
    let table: PreparedTable
    let reader: Reader
    /// Before the reader was started.
    let prepareSeconds: Double
    var end = End.nothing
    var warnings = WarningLog()
    /// Spent waiting for the reader.
    var waitSeconds = 0.0
    /// The batch that was not packed.
    var rest: Batch? = nil

    /// What has come of it.
    enum End {
      /// No database, as the first batch was not plain.
      case nothing
      /// The database, with this record of the run in it.
      case rows(RunRecord)
      /// Nothing of it is of use; the reader has ended.
      case startOver(StartOver)
    }

    /// As which the rows stand in the database.
    var record: RunRecord? {
      if case .rows(let record) = end { return record }
      return nil
    }
  }

  /// Packs as many records as can be.
  /// - Returns: nil where the run is not one for the direct path; nothing is read or made then.
  func pack(_ input: LoadInput, in image: ImageFile, _ claim: JobClaim) throws(UpsurgeError) -> Packed? {
    defer { image.discard() }
    // What would refuse the run must do so before its rows stand.
    if case .file(let path) = job.options.rejects.target {
      _ = try OutputFile(path: path, option: "\(.rejects)", goesOn: true, holdsBack: true)
    }
    guard let (table, layout, startedAt) = try prepare(image, for: input) else { return nil }
    announce(table, isJSON: input.beginning.source.isJSON)
    warnOfRoom(input.beginning.source, sources: input.remainingSources)
    announce(input.beginning, table.columns)
    let prepareSeconds = watch.seconds
    image.grace = GracePeriod { [control] in control.cancellationSignal != nil }
    let reader = try Reader(input, of: self, into: table)
    var packed = Packed(table: table, reader: reader, prepareSeconds: prepareSeconds)
    do throws(UpsurgeError) {
      let reason = try packRows(of: input, layout, in: image, startedAt: startedAt, &packed, claim)
      if let reason { giveUp(&packed, reason) }
    } catch {
      if image.hasEnded || error.code == .interrupted {
        // It is the database; only its folder was not brought to the disk.
        reader.stop()
        throw error
      }
      let level: RunNote.Level = error.code == .databaseBusy ? .info : .warning
      giveUp(
        &packed, RunNote(level, "\(error.message); all rows go through SQLite, from the first one"))
    }
    return packed
  }

  /// - Returns: why all of it is for nothing; nil where it is not.
  private func packRows(
    of input: LoadInput, _ layout: DirectLayout, in image: ImageFile, startedAt: String,
    _ packed: inout Packed, _ claim: JobClaim
  ) throws(UpsurgeError) -> RunNote? {
    let watch = Stopwatch()
    // The memory that the page cache and large batches would take.
    let holdsMemory = layout.hasIndexes && pool.hold(true)
    defer { if holdsMemory { _ = pool.hold(false) } }
    let sortByteCount = holdsMemory ? job.options.sortByteCount : 0
    var direct = try DirectTable(layout, image: image, isSynced: true, sortByteCount: sortByteCount)
    var progress = DirectProgress(packed.table.plan, sourceNames: input.names)
    var obstacle: Wording?
    packed.rest = try fill(&direct, &progress, image, &obstacle, &packed.waitSeconds)
    if obstacle == nil, let error = packed.reader.error, error.code != .interrupted {
      obstacle = "the input cannot be read to its end"
    }
    if direct.rowCount == 0 {
      if progress.ledger.read > 0 {
        return RunNote(
          .detail,
          "all rows go through SQLite, from the first one: the filter has left out all records so far")
      }
      if let obstacle { note(RunNote(.detail, "rows go through SQLite: \(saying: obstacle)")) }
      return nil
    }
    if image.isTaken {
      return RunNote(
        .info,
        "another program has made the database \(job.database.escapedForTerminal) meanwhile; the records go into it,"
          + " from the first one")
    }
    if let obstacle {
      if direct.rowCount < job.options.tuning.directLimits.leastRowCount {
        return RunNote(.detail, "all rows go through SQLite, from the first one: \(saying: obstacle)")
      }
      // Slow where the keys are many and the memory is little, and easily helped.
      let isMemory = direct.refusal?.reason == .memory
      note(
        RunNote(
          isMemory ? .info : .detail,
          "the rest goes through SQLite: \(saying: obstacle)\(isMemory ? "; with more it is faster" : "")"))
    }
    if direct.isSorting { control.note(stage: .sorting) }
    noteSpill(byteCount: direct.spilledByteCount)
    if try !direct.finish() {
      return RunNote(.detail, "all rows go through SQLite, from the first one: a key comes twice")
    }
    let packSeconds = watch.seconds
    let record = try writePosition(progress, input, packed.table, startedAt: startedAt, to: image)
    try handOver(image, record, claim)
    packed.end = .rows(record)
    packed.warnings = progress.warnings
    let (waitSeconds, handOverSeconds) = (packed.waitSeconds, watch.seconds - packSeconds)
    summary.withLock {
      $0.metrics.stages += [(RunStage.pack, packSeconds - waitSeconds), (RunStage.handOver, handOverSeconds)]
    }
    return nil
  }

  /// Says that keys are sorted on disk, where some are.
  private func noteSpill(byteCount: Int) {
    if byteCount == 0 { return }
    let size = Words.bytes(Double(byteCount))
    note(RunNote(.detail, "keys in no order: \(size) of them are sorted on disk, as \(.memory) does not hold them"))
  }

  /// Makes the image the database. From then on its rows stand, whatever comes.
  private func handOver(_ image: ImageFile, _ record: RunRecord, _ claim: JobClaim) throws(UpsurgeError) {
    control.note(stage: .finishing)
    do throws(UpsurgeError) {
      try image.handOver(
        isSynced: true, busyTimeoutMilliseconds: job.options.transaction.busyTimeout,
        isCancelled: { [control] in control.cancellationSignal != nil })
    } catch {
      if image.hasEnded { claim.standing = record }
      throw error
    }
    claim.standing = record
  }

  /// Ends the reader; the run is to start over.
  private func giveUp(_ packed: inout Packed, _ reason: RunNote) {
    packed.reader.stop()
    packed.rest = nil
    packed.end = .startOver(.packedInVain(seconds: watch.seconds - packed.prepareSeconds))
    note(reason)
  }

  /// Makes the table in the image.
  /// - Returns: nil where it is not one to be packed, or cannot be made: SQLite says in the database itself why.
  private func prepare(
    _ image: ImageFile, for input: LoadInput
  ) throws(UpsurgeError) -> (PreparedTable, DirectLayout, startedAt: String)? {
    do throws(UpsurgeError) {
      let connection = try image.connect(pageCacheByteCount: job.options.transaction.pageCacheByteCount)
      let table = try PreparedTable.prepare(
        job.table, for: input.beginning.source, others: input.otherSources, on: connection,
        options: job.options)
      try connection.execute("COMMIT")
      let startedAt = try RunKeeper.now(connection)
      switch try DirectLayout.read(table.plan, on: connection) {
      case .fits(let layout): return (table, layout, startedAt)
      case .unsupported(let reason):
        note(RunNote(.detail, "rows go through SQLite: the table \(saying: reason)"))
      }
    } catch {
      if ![.database, .databaseBusy, .cannotCreate].contains(error.code) { throw error }
    }
    return nil
  }

  /// Packs batches until the input ends, or one is not plain.
  /// - Parameter obstacle: why the batch was not packed.
  /// - Returns: the batch that was not packed.
  private func fill(
    _ direct: inout DirectTable, _ progress: inout DirectProgress, _ image: ImageFile,
    _ obstacle: inout Wording?, _ waitSeconds: inout Double
  ) throws(UpsurgeError) -> sending Batch? {
    var start = MonotonicClock.seconds
    while true {
      while !full.waits(milliseconds: Self.lookMilliseconds) {
        if pool.isHoldContended {
          obstacle = "a large record needs the memory of keys in no order"
          return nil
        }
      }
      guard let batch = full.receive() else { return nil }
      waitSeconds += MonotonicClock.seconds - start
      if !batch.rejects.isEmpty {
        obstacle = "a record is rejected"
      } else if !batch.newColumns.isEmpty {
        obstacle = "a record brings a new column"
      } else if image.isTaken {
        obstacle = "another program has made the database"
      } else if let free = image.freeByteCount,
        free < job.options.tuning.directLimits.leastFreeByteCount + direct.waitingByteCount
      {
        obstacle = "the disk has little room left"
      } else if try !direct.append(batch) {
        obstacle = words(direct.refusal?.reason)
      }
      if obstacle != nil { return batch }
      // Whether keys are sorted is known with the first batch.
      if !direct.isSorting { _ = pool.hold(false) }
      progress.take(batch)
      control.note(records: progress.ledger.read, rejects: 0, stage: .packing)
      pool.giveBack(batch)
      start = MonotonicClock.seconds
    }
  }

  /// How often it is looked at what the reader waits for, while there is no batch.
  private static let lookMilliseconds = 100

  private func words(_ reason: DirectRefusal.Reason?) -> Wording {
    switch reason {
    case .keyOrder: "keys do not ascend"
    case .sameKey: "a key comes twice"
    case .value: "a value is not of its column's type"
    case .size, nil: "a record is very large"
    case .memory:
      "keys in no order take more than can be sorted with \(.memory, job.options.transaction.memory)"
    }
  }

  /// Makes a table once more whose image came to nothing: its source is being read and says its types no more. The
  /// transaction stays open for the first records.
  /// - Returns: false where another program has made a table of that name meanwhile; nothing is made then.
  func makeAgain(_ table: PreparedTable, on connection: Connection) throws(UpsurgeError) -> Bool {
    try connection.beginWriting()
    if try TableSchema.read(connection, table: job.table) != nil {
      try connection.execute("ROLLBACK")
      return false
    }
    for sql in table.createdStatements { try connection.execute(sql) }
    return true
  }

  /// Writes the record of the run beside the rows.
  private func writePosition(
    _ progress: DirectProgress, _ input: LoadInput, _ table: PreparedTable, startedAt: String,
    to image: ImageFile
  ) throws(UpsurgeError) -> RunRecord {
    let connection = try image.connect(pageCacheByteCount: job.options.transaction.pageCacheByteCount)
    let keeper = try keeper(
      for: input.beginning, table: table, runJob: input.runJob, on: connection, startedAt: startedAt)
    try connection.beginWriting()
    try keeper?.didBegin()
    try keeper?.willCommit(progress.progress, progress.position, isLast: false)
    try connection.execute("COMMIT")
    let record = try RunTable.open(connection, table: input.runJob.table).last
    guard let record else { preconditionFailure("a run whose rows are packed keeps its record") }
    return record
  }
}
