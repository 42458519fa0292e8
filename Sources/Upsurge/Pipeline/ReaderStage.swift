/// The reading thread: every source of the run, one after the other, into batches.
struct ReaderStage {
  let run: LoadRun
  /// As they are opened, and as they are shown.
  private let sources: [String]
  let sourceNames: [String]
  var columns: ColumnRegistry
  let table: TableFacts
  private let plan: UpsertPlan
  /// Index of the source that is already prepared; those before it are empty, or done.
  let firstIndex: Int
  let files: RunFiles
  /// Where the first source goes on.
  private var resumption: Resumption?
  /// Seconds spent in reading, in decompressing and transcoding, in parsing, and waiting for the writer.
  private(set) var readSeconds = 0.0
  private(set) var decodeSeconds = 0.0
  private(set) var parseSeconds = 0.0
  private(set) var waitSeconds = 0.0
  /// How many of the columns the writer has been told of.
  private var announcedCount: Int
  /// How many records may still be read.
  private var remaining: UInt64
  private var bytesRead: UInt64 = 0
  private var bytesDecoded: UInt64 = 0
  /// The same, as they were when the last source was read that is a load of its own.
  private var told = (
    read: 0.0, decode: 0.0, parse: 0.0, wait: 0.0, bytes: UInt64(0), decodedBytes: UInt64(0)
  )

  init(
    run: LoadRun, sources: [String], sourceNames: [String], firstIndex: Int, table: PreparedTable,
    files: RunFiles, resumption: Resumption?
  ) {
    self.run = run
    self.files = files
    self.resumption = resumption
    self.sources = sources
    self.sourceNames = sourceNames
    columns = table.columns
    announcedCount = table.plan.columns.count
    self.firstIndex = firstIndex
    remaining = run.job.options.recordLimit ?? .max
    if let limit = run.job.options.recordLimit, let run = resumption?.run {
      // Records of the sources that are done; those of the first one are counted again as they are read.
      let done = run.progress.ledger.read - (run.position.position.record ?? 0)
      remaining = limit - min(done, limit)
    }
    self.table = table.facts
    plan = table.plan
    readSeconds = run.aheadSeconds.withLock { $0 }
  }

  /// Reads everything; the first source is already prepared.
  mutating func readAll(first: consuming PreparedSource) {
    if run.job.options.snapshot != nil && resumption == nil {
      for owner in run.members.isEmpty ? [run] : run.members {
        owner.deliveryHash.withLock { $0 = ContentHash.Stream() }
      }
    }
    do throws(UpsurgeError) {
      let columns =
        run.members.isEmpty ? nil : try LoadedColumns(of: copy first, plan.schema, run.job.options)
      try readOne(first, index: firstIndex)
      for index in sourceNames.indices.dropFirst(firstIndex + 1) {
        if remaining == 0 || run.full.isEnded || run.control.cancellationSignal != nil { break }
        let watch = Stopwatch()
        let source = try run.prepare(sources[index])
        readSeconds += watch.seconds
        try run.announce(source, files: files, index: index)
        if let columns {
          let others = try LoadedColumns(of: source, plan.schema, run.job.options)
          if source.isBlank || others != columns { throw FileLoads.unfit("a file has other columns") }
        }
        if source.isBlank { continue }
        try checkHeader(of: source)
        try readOne(source, index: index)
      }
    } catch {
      run.readError.withLock { $0 = error }
    }
    if run.members.isEmpty { noteTimes(in: run) }
    run.full.close()
  }

  /// - Throws: `badInput` where nothing in the header of a later file is a column so far: it has none, or is of another table.
  private func checkHeader(of source: PreparedSource) throws(UpsurgeError) {
    guard case .csv(let sniffed) = source.shape, run.job.options.csv.headerLineCount != 0,
      run.job.options.csv.columnNames == nil
    else { return }
    let names = try FieldSelection(options: run.job.options).columnNames(
      of: sniffed.headerNames, file: source.opened.name
    ).compactMap { $0 }
    if names.isEmpty || names.contains(where: { columns.slot(named: $0) != nil || table.column(named: $0) != nil }) {
      return
    }
    let known = FieldSelection.option(columns.targets.map(\.name))
    let what =
      sniffed.dialect.headerLineCount > 0
      ? "its first line is " + FieldSelection.list(names).escapedForTerminal : "it seems to have no header"
    throw UpsurgeError(
      .badInput, "\(source.opened.name) has none of the columns of the files before it: \(what)",
      position: Position(file: source.opened.name, line: 1, byte: 0),
      hint: "if it has no header, load it by itself: \(.noHeader) \(.names, known); else load it into "
        + "a table of its own")
  }

  /// Reads one source; where it is a load of its own, the time for it is told there.
  private mutating func readOne(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    try read(source, index: index)
    if run.members.isEmpty { return }
    noteTimes(in: run.members[index])
    told = (readSeconds, decodeSeconds, parseSeconds, waitSeconds, bytesRead, bytesDecoded)
  }

  private func noteTimes(in owner: LoadRun) {
    owner.summary.withLock {
      $0.stages.append((RunStage.read, readSeconds - told.read))
      if decodeSeconds > told.decode { $0.stages.append((RunStage.decompress, decodeSeconds - told.decode)) }
      $0.stages.append((RunStage.parse, parseSeconds - told.parse))
      $0.stages.append((RunStage.waitForWriter, waitSeconds - told.wait))
      $0.bytesRead = bytesRead - told.bytes
      $0.bytesDecoded = bytesDecoded - told.decodedBytes
    }
  }

  private mutating func read(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    let state = resumption?.run.position.restart?.parser
    let parser = try source.makeParser(
      columns: &columns, table: table, options: run.job.options, resuming: state)
    try noteContext(of: source, index: index)
    switch parser {
    case .csv(var parser):
      try fill(&parser, from: source, index: index)
    case .json(var parser):
      defer { columns.extend(to: parser.columns) }
      try fill(&parser, from: source, index: index)
    }
  }

  /// Notes how the source's rejects can be tried again.
  private func noteContext(of source: PreparedSource, index: Int) throws(UpsurgeError) {
    if run.job.options.rejects == nil { return }
    let context = try RejectContext(
      source, table: table, plan: plan, columns: columns, options: run.job.options)
    run.owner(of: index).contexts.note(context, of: source.opened.name, sourceNames[index])
  }

  private mutating func fill<Parser: RecordParser>(
    _ parser: inout Parser, from source: PreparedSource, index: Int
  ) throws(UpsurgeError) {
    var filler = BatchFiller(
      pool: run.pool, recordByteLimit: run.recordByteLimit, sourceIndex: index,
      cancellation: run.readCancellation)
    let run = run
    let owner = run.owner(of: index)
    let bytesBefore = bytesRead
    let watch = Stopwatch()
    // What the read closure takes: the file's own reading, and what is done with the bytes then.
    var inputSeconds = 0.0
    let fileSecondsBefore = source.opened.fileReadSeconds
    let known = columns.targets
    var announced = announcedCount
    let limit = remaining
    var rest = limit
    defer {
      announcedCount = announced
      remaining = rest
      let isDecoded = source.opened.isDecoded
      let fileSeconds = isDecoded ? source.opened.fileReadSeconds - fileSecondsBefore : inputSeconds
      readSeconds += fileSeconds
      decodeSeconds += max(inputSeconds - fileSeconds, 0)
      waitSeconds += filler.waitSeconds
      parseSeconds += watch.seconds - inputSeconds - filler.waitSeconds
      let (compression, isPipe) = (source.opened.compression, !source.opened.isSeekable)
      let isFeed = SourceName.isFeed(source.opened.name)
      owner.summary.withLock { $0.time.note(compression, isPipe: isPipe, isFeed: isFeed) }
      bytesRead = bytesBefore + source.opened.counter.count
      bytesDecoded += source.opened.decodedByteCount
    }
    let restart = resumption?.run.position.restart
    var block = (resumption?.block ?? [])[...]
    resumption = nil
    let startOffset = restart?.byte ?? source.opened.startOffset
    // What the header brings with it counts with the first batch.
    var warnings =
      startOffset == source.opened.startOffset ? source.warnings(options: run.job.options) : WarningLog()
    defer { owner.addWarnings(warnings) }
    var chunks = run.chunks.withLock { $0 }.flatMap { chunks in
      chunks.fingerprint == nil
        ? nil : ChunkReading(chunks, sizes: run.job.options.chunkSizes, offset: startOffset)
    }
    let search = chunks?.search
    let next: ChunkSearch.Read = { buffer throws(UpsurgeError) in
      // Chunks that are known are stepped over without a batch.
      if run.readCancellation.isRequested { throw UpsurgeError(.interrupted, "reading was interrupted") }
      let count = try source.opened.read(into: buffer)
      if !run.members.isEmpty, source.opened.decodedByteCount > FileLoads.decodedByteLimit {
        throw FileLoads.unfit("a file is large when it is decompressed")
      }
      run.control.note(bytes: bytesBefore + source.opened.counter.count)
      owner.deliveryHash.withLock { $0?.add(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      return count
    }
    var (byte, goesOn, isAtEnd) = (startOffset, true, false)
    while goesOn {
      try filler.run(
        &parser, startOffset: byte, isWhole: search?.isEnded ?? true, anchor: source.opened.anchor,
        read: { buffer throws(UpsurgeError) in
          let start = Stopwatch()
          defer { inputSeconds += start.seconds }
          if !block.isEmpty {
            let count = min(block.count, buffer.count)
            block.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
            block = block.dropFirst(count)
            return count
          }
          if let search { return try search.read(into: buffer, from: next) }
          return try next(buffer)
        },
        emit: { batch in
          var batch = batch
          if chunks?.add(batch) == false {
            goesOn = false
            return false
          }
          if !batch.elementNames.isEmpty {
            owner.contexts.note(header: batch.elementNames, of: source.opened.name)
          }
          if !warnings.isEmpty {
            warnings.merge(batch.warnings)
            batch.warnings = warnings
            warnings = WarningLog()
          }
          if batch.columnCount > announced {
            // Columns of this or an earlier source that no batch has told of; the parser's own come after them.
            batch.newColumns = known.dropFirst(announced) + batch.newColumns
            announced = batch.columnCount
          }
          if limit < .max { rest = limit - min(batch.trim(toRecord: limit), limit) }
          goesOn = run.full.send(batch) && rest > 0
          return goesOn
        })
      let start = Stopwatch()
      defer { inputSeconds += start.seconds }
      byte = search?.offset ?? source.opened.decodedByteCount
      let left = filler.leftByteCount
      // Without batches nothing would be read, again and again.
      if !goesOn || run.readCancellation.isRequested { break }
      goesOn = try chunks?.goOn(&parser, at: byte - UInt64(left), leftByteCount: left, from: next) ?? false
      byte = search?.offset ?? byte
      isAtEnd = !goesOn && search?.isEnded ?? true
    }
    // So that what one file ends with is not what the next one begins with.
    withUnsafeBytes(of: byte) { end in owner.deliveryHash.withLock { $0?.add(end) } }
    if isAtEnd {
      try source.opened.checkTrailer(recordCount: parser.state?.recordCount)
      owner.remark(onEndOf: source)
    }
    if source.opened.hasChanged {
      owner.summary.withLock { $0.warnings.add(.sourceChanged, at: Position(file: source.opened.name)) }
    }
  }
}
