/// The reading thread: every source of the run, one after the other, into batches.
struct ReaderStage {
  let run: LoadRun
  let sourceNames: [String]
  var columns: ColumnRegistry
  let table: TableFacts
  /// Seconds spent in reading and decompressing, in parsing, and waiting for the writer.
  private(set) var readSeconds = 0.0
  private(set) var parseSeconds = 0.0
  private(set) var waitSeconds = 0.0
  /// Columns that the first source adds to the table.
  private let firstAdded: [ColumnTarget]
  private var bytesRead: UInt64 = 0
  private var bytesDecoded: UInt64 = 0

  init(run: LoadRun, sourceNames: [String], table: PreparedTable) {
    self.run = run
    self.sourceNames = sourceNames
    columns = table.columns
    firstAdded = table.added
    self.table = table.facts
  }

  /// Reads everything; the first source is already prepared.
  mutating func readAll(first: consuming PreparedSource) {
    do throws(UpsurgeError) {
      try read(first, index: 0)
      for index in sourceNames.indices.dropFirst() {
        if run.control.cancellationSignal != nil { break }
        let source = try PreparedSource.prepare(
          sourceNames[index], options: run.job.options, cancellation: run.readCancellation)
        run.note(RunNote(.info, source.summary))
        run.summary.withLock { $0.dialects.append(source.summary) }
        try read(source, index: index)
      }
    } catch {
      run.readError.withLock { $0 = error }
    }
    let (read, parse, wait, raw, decoded) = (
      readSeconds, parseSeconds, waitSeconds, bytesRead, bytesDecoded
    )
    run.summary.withLock {
      $0.stages += [("read", read), ("parse", parse), ("wait_for_writer", wait)]
      $0.bytesRead = raw
      $0.bytesDecoded = decoded
    }
    run.full.close()
  }

  private mutating func read(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    var added = index == 0 ? firstAdded : []
    switch try source.makeParser(columns: &columns, table: table, options: run.job.options, added: &added) {
    case .csv(var parser):
      try fill(&parser, from: source, index: index, added: added)
    case .json(var parser):
      try fill(&parser, from: source, index: index, added: added)
      columns.extend(to: parser.columns)
    }
  }

  private mutating func fill<Parser: RecordParser>(
    _ parser: inout Parser, from source: PreparedSource, index: Int, added: [ColumnTarget]
  ) throws(UpsurgeError) {
    var filler = BatchFiller(
      pool: run.pool, recordByteLimit: run.recordByteLimit, sourceIndex: index)
    let run = run
    let bytesBefore = bytesRead
    let watch = Stopwatch()
    var readSeconds = 0.0
    var pending = added
    defer {
      self.readSeconds += readSeconds
      waitSeconds += filler.waitSeconds
      parseSeconds += watch.seconds - readSeconds - filler.waitSeconds
      bytesRead = bytesBefore + source.opened.counter.count
      bytesDecoded += source.opened.decodedByteCount
    }
    try filler.run(
      &parser, startOffset: source.opened.startOffset, isWhole: true,
      read: { buffer throws(UpsurgeError) in
        let start = Stopwatch()
        defer { readSeconds += start.seconds }
        let count = try source.opened.read(into: buffer)
        run.control.note(bytes: bytesBefore + source.opened.counter.count)
        return count
      },
      emit: { batch in
        var batch = batch
        if !pending.isEmpty {
          batch.newColumns = pending + batch.newColumns
          pending = []
        }
        return run.full.send(batch)
      })
  }
}
