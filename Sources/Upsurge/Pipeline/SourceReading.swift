/// One source on its way into batches: the bytes that its parser is given, and where the batches go that it fills.
///
///     known bytes of a run that goes on   ->
///     chunks that are not known           ->  BatchFiller, parser  ->  chunks made, columns told, records counted  ->  writer
///     the source itself                   ->
final class SourceReading {
  /// The load that the source belongs to.
  let owner: LoadRun
  let source: PreparedSource
  private let run: LoadRun
  /// Bytes read of the sources before.
  private let bytesBefore: UInt64
  /// The run's columns before the source's own, and how many of all the writer has been told of.
  private let columns: [ColumnTarget]
  private(set) var announcedCount: Int
  /// How many records may be read of it, and how many after it.
  private let recordLimit: UInt64
  private(set) var remaining: UInt64
  /// What was read to find the place where it goes on, and is read again.
  private var block: ArraySlice<UInt8>
  private let startOffset: UInt64
  private var chunks: ChunkReading?
  private let search: ChunkSearch?
  /// What the header brings with it counts with the first batch.
  private var warnings: WarningLog
  private var filler: BatchFiller
  private let added: AddedCells
  private var goesOn = true
  private let watch = Stopwatch()
  private let fileSecondsBefore: Double
  /// What the bytes took, the file's own reading included.
  private(set) var inputSeconds = 0.0

  /// - Parameters:
  ///   - run: what reads; of files that are loads of their own, for them.
  ///   - resumption: where the source goes on; nil for its start.
  init(
    _ source: PreparedSource, index: Int, of run: LoadRun, resumption: Resumption?, chunks: DeliveryChunks?,
    bytesBefore: UInt64, columns: [ColumnTarget], announcedCount: Int, recordLimit: UInt64, added: AddedCells
  ) {
    self.added = added
    self.source = source
    self.run = run
    owner = run.owner(of: index)
    self.bytesBefore = bytesBefore
    self.columns = columns
    self.announcedCount = announcedCount
    self.recordLimit = recordLimit
    remaining = recordLimit
    block = (resumption?.block ?? [])[...]
    let options = run.job.options
    let startOffset = resumption?.run.position.restart?.byte ?? source.opened.startOffset
    self.startOffset = startOffset
    warnings = startOffset == source.opened.startOffset ? source.warnings(options: options) : WarningLog()
    self.chunks = chunks.flatMap { chunks in
      chunks.fingerprint == nil
        ? nil : ChunkReading(chunks, sizes: options.tuning.chunkSizes, offset: startOffset)
    }
    search = self.chunks?.search
    filler = BatchFiller(
      pool: run.pool, recordByteLimit: run.recordByteLimit, sourceIndex: index,
      cancellation: run.readCancellation)
    fileSecondsBefore = source.opened.fileReadSeconds
  }

  /// Spent in the file itself; of a source that is not decoded, all that its bytes took.
  var fileSeconds: Double {
    source.opened.isDecoded ? source.opened.fileReadSeconds - fileSecondsBefore : inputSeconds
  }

  /// Spent in waiting for a free batch.
  var waitSeconds: Double { filler.waitSeconds }

  /// Spent in all else.
  var parseSeconds: Double { watch.seconds - inputSeconds - waitSeconds }

  /// Reads to the end of the source, or until no more is wanted.
  /// - Throws: what the source and the parser throw; what came before is handed on.
  func read<Parser: RecordParser>(with parser: inout Parser) throws(UpsurgeError) {
    var (byte, isAtEnd) = (startOffset, false)
    defer { owner.addWarnings(warnings) }
    while goesOn {
      try filler.run(
        &parser, startOffset: byte, isWhole: search?.isEnded ?? true, anchor: source.opened.anchor,
        read: { buffer throws(UpsurgeError) in try read(into: buffer) }, emit: { hand($0) })
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
    if source.opened.isSheet {
      owner.summary.withLock { $0.warnings.add(source.opened.sheetNotes, of: source.opened.name) }
    }
    if source.opened.hasChanged {
      owner.summary.withLock { $0.warnings.add(.sourceChanged, at: Position(file: source.opened.name)) }
    }
  }

  // MARK: - Bytes

  /// The parser's next bytes.
  private func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    let start = Stopwatch()
    defer { inputSeconds += start.seconds }
    if !block.isEmpty {
      let count = min(block.count, buffer.count)
      block.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
      block = block.dropFirst(count)
      return count
    }
    // Chunks that are known are stepped over without a batch.
    if let search { return try search.read(into: buffer, from: next) }
    return try next(buffer)
  }

  /// The source's next bytes.
  private func next(_ buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if run.readCancellation.isRequested { throw UpsurgeError(.interrupted, "reading was interrupted") }
    let count = try source.opened.read(into: buffer)
    if !run.members.isEmpty, source.opened.decodedByteCount > FileLoads.decodedByteLimit {
      throw FileLoads.unfit("a file is large when it is decompressed")
    }
    run.control.note(bytes: bytesBefore + source.opened.counter.count)
    owner.deliveryHash.withLock { $0?.add(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
    return count
  }

  // MARK: - Batches

  /// Hands a batch to the writer.
  /// - Returns: whether more are wanted.
  private func hand(_ batch: consuming sending Batch) -> Bool {
    if !added.isEmpty { added.fill(&batch, file: source.opened.name) }
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
    if batch.columnCount > announcedCount {
      // Columns of this or an earlier source that no batch has told of; the parser's own come after them.
      batch.newColumns = columns.dropFirst(announcedCount) + batch.newColumns
      announcedCount = batch.columnCount
    }
    if recordLimit < .max { remaining = recordLimit - min(batch.trim(toRecord: recordLimit), recordLimit) }
    goesOn = run.full.send(batch) && remaining > 0
    return goesOn
  }
}
