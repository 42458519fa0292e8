/// The reading thread: every source of the run, one after the other, into batches.
struct ReaderStage {
  let run: LoadRun
  /// As they are opened, and as they are shown.
  private let sources: [Source]
  var columns: ColumnRegistry
  private let table: any StoreTable
  /// Index of the source that is already prepared; those before it are empty, or done.
  let firstIndex: Int
  /// Index of the source that a new table is made for.
  private let makerIndex: Int
  let files: RunFiles
  /// Where the first source goes on.
  private var resumption: Resumption?
  /// When the run has begun, or the part of it that is resumed.
  private let startedAt: String
  /// What is known of the delivery in parts; nil where nothing is.
  private let chunks: DeliveryChunks?
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
  /// Seconds and bytes as they were when the last source was read that is a load of its own.
  private var told = (
    read: 0.0, decode: 0.0, parse: 0.0, wait: 0.0, bytes: UInt64(0), decodedBytes: UInt64(0)
  )

  init(
    run: LoadRun, _ input: LoadInput, table: any StoreTable, resumption: Resumption?, chunks: DeliveryChunks?
  ) {
    self.run = run
    files = input.beginning.files
    self.resumption = resumption
    startedAt = input.beginning.resumption?.startedAt ?? resumption?.run.startedAt ?? run.startedAt
    self.chunks = chunks
    sources = input.sources
    columns = table.columns
    announcedCount = table.knownColumns.count
    firstIndex = input.beginning.index
    makerIndex = resumption == nil ? firstIndex : 0
    remaining = run.job.options.input.recordLimit ?? .max
    if let limit = run.job.options.input.recordLimit, let run = resumption?.run {
      // Records of the sources that are done; those of the first one are counted again as they are read.
      let done = run.progress.ledger.read - (run.position.position.record ?? 0)
      remaining = limit - min(done, limit)
    }
    self.table = table
    readSeconds = input.aheadSeconds
  }

  /// Reads everything; the first source is already prepared.
  mutating func readAll(first: consuming PreparedSource) throws(UpsurgeError) {
    defer { if run.members.isEmpty { noteTimes(in: run) } }
    if run.job.options.delivery.rules.snapshot != nil && resumption == nil {
      for owner in run.members.isEmpty ? [run] : run.members {
        owner.deliveryHash.withLock { $0 = ContentHash.Stream() }
      }
    }
    let columns =
      run.members.isEmpty ? nil : try LoadedColumns(of: copy first, table, run.job.options)
    try read(first, index: firstIndex)
    for index in sources.indices.dropFirst(firstIndex + 1) {
      if remaining == 0 || run.full.isEnded || run.control.cancellationSignal != nil { break }
      let watch = Stopwatch()
      let source = try run.prepare(sources[index])
      readSeconds += watch.seconds
      try run.announce(source, files: files, index: index)
      if let columns {
        let others = try LoadedColumns(of: source, table, run.job.options)
        if source.isBlank || others != columns { throw FileLoads.unfit("a file has other columns") }
      }
      if source.isBlank { continue }
      try checkHeader(of: source)
      try read(source, index: index)
    }
  }

  /// - Throws: `badInput` where nothing in the header of a later file is a column so far: it has none, or is of another table.
  private func checkHeader(of source: PreparedSource) throws(UpsurgeError) {
    guard case .csv(let sniffed) = source.shape, run.job.options.input.csv.headerLineCount != 0,
      run.job.options.input.csv.columnNames == nil
    else { return }
    let names = try FieldSelection(options: run.job.options).columnNames(
      of: sniffed.headerNames, file: source.opened.name
    ).compactMap { $0 }
    if names.isEmpty
      || names.contains(where: { columns.slot(named: $0) != nil || table.facts.column(named: $0) != nil })
    {
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

  private func noteTimes(in owner: LoadRun) {
    owner.summary.withLock {
      $0.metrics.stages.append((RunStage.read, readSeconds - told.read))
      if decodeSeconds > told.decode {
        $0.metrics.stages.append((RunStage.decompress, decodeSeconds - told.decode))
      }
      $0.metrics.stages.append((RunStage.parse, parseSeconds - told.parse))
      $0.metrics.stages.append((RunStage.waitForWriter, waitSeconds - told.wait))
      $0.metrics.bytesRead = bytesRead - told.bytes
      $0.metrics.bytesDecoded = bytesDecoded - told.decodedBytes
    }
  }

  /// Reads one source; where it is a load of its own, the time for it is told there.
  private mutating func read(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    let state = resumption?.run.position.restart?.parser
    var facts = table.facts
    facts.mayLackFields = index > makerIndex || state != nil
    facts.isFrozen = facts.isNew && index > makerIndex && run.job.options.table.freezesNewTables
    let parser = try source.makeParser(
      columns: &columns, table: facts, options: run.job.options, resuming: state)
    try noteContext(of: source, index: index)
    try noteLackingFormats(of: source)
    let reading = SourceReading(
      source, index: index, of: run, resumption: resumption, chunks: chunks, bytesBefore: bytesRead,
      columns: columns.targets, announcedCount: announcedCount, recordLimit: remaining,
      added: AddedCells(
        run.job.options, columns: columns, file: source.opened.name, isJSON: source.isJSON,
        startedAt: startedAt,
        now: run.startedAt))
    resumption = nil
    do {
      defer { note(reading) }
      switch parser {
      case .csv(var parser):
        try reading.read(with: &parser)
      case .json(var parser):
        defer { columns.extend(to: parser.columns) }
        try reading.read(with: &parser)
      case .shapedCSV(var parser):
        if !source.isBlank { note(lackingFields: parser.lackingFields, in: source) }
        try reading.read(with: &parser)
      case .shapedJSON(var parser):
        defer { columns.extend(to: parser.columns) }
        try reading.read(with: &parser)
      }
    }
    if run.members.isEmpty { return }
    noteTimes(in: run.members[index])
    told = (readSeconds, decodeSeconds, parseSeconds, waitSeconds, bytesRead, bytesDecoded)
  }

  /// Says which fields a later file lacks: nothing else would show why all of its records are left out.
  private func note(lackingFields fields: [String], in source: PreparedSource) {
    if fields.isEmpty { return }
    let names = FieldSelection.list(fields)
    run.note(
      RunNote(
        .warning,
        Wording(
          "\(SourceName.shown(source.opened.name)) lacks \(fields.count == 1 ? "a field" : "fields") of the SQL: "
            + "\(names.escapedForTerminal); NULL is taken for \(fields.count == 1 ? "it" : "them") in all of its records"
        )))
  }

  /// Says which columns with a format a file lacks that others have.
  private func noteLackingFormats(of source: PreparedSource) throws(UpsurgeError) {
    if run.job.options.input.values.namedColumns.isEmpty { return }
    for (name, term) in try source.formatsWithoutField(options: run.job.options) {
      run.note(
        RunNote(
          .warning,
          "\(SourceName.shown(source.opened.name)) has no field for the column \(name.escapedForTerminal), which \(saying: term) names"
        ))
    }
  }

  /// Notes how the source's rejects can be tried again.
  private func noteContext(of source: PreparedSource, index: Int) throws(UpsurgeError) {
    if run.job.options.rejects.target == nil { return }
    let context = try RejectContext(
      source, table: table, columns: columns, options: run.job.options, startedAt: startedAt,
      now: run.startedAt)
    run.owner(of: index).contexts.note(context, of: source.opened.name, sources[index].name)
  }

  /// Takes over how far the reading of a source has come, and what it took.
  private mutating func note(_ reading: SourceReading) {
    announcedCount = reading.announcedCount
    remaining = reading.remaining
    readSeconds += reading.fileSeconds
    decodeSeconds += max(reading.inputSeconds - reading.fileSeconds, 0)
    waitSeconds += reading.waitSeconds
    parseSeconds += reading.parseSeconds
    let opened = reading.source.opened
    bytesRead += opened.counter.count
    bytesDecoded += opened.decodedByteCount
    let isFeed = opened.kind.isFeed
    reading.owner.summary.withLock {
      $0.metrics.time.note(opened.compression, isPipe: !opened.isSeekable, isFeed: isFeed)
    }
  }
}
