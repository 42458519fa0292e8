/// How the reading thread makes chunks of what it reads, and steps over those that are known.
struct ChunkReading {
  let chunks: DeliveryChunks
  /// nil where all is read.
  let search: ChunkSearch?
  private var maker: ChunkMaker
  private var done: [DeliveryChunks.Made] = []
  /// Whether what is read is not to be known in the next run.
  private var isForgetting = false

  init(_ chunks: DeliveryChunks, sizes: SnapshotChunk.Sizes, offset: UInt64) {
    self.chunks = chunks
    search = chunks.manifest.map { ChunkSearch($0.chunks, sizes: sizes, offset: offset) }
    maker = ChunkMaker(keyCells: chunks.keyCells, sizes: sizes)
  }

  /// Takes a batch as the parser has left it.
  /// - Returns: false where reading on is in vain, as all must be read anew.
  mutating func add(_ batch: borrowing Batch) -> Bool {
    if isForgetting { return true }
    maker.add(batch, isPlain: batch.warnings.isEmpty && batch.rejects.isEmpty, to: &done)
    if search?.isOff == true { stopLooking() }
    return handOver()
  }

  /// A delivery that has changed everywhere is not remembered: as likely as not, the next one has, too. That one is.
  private mutating func stopLooking() {
    chunks.noteReadingAll()
    isForgetting = true
  }

  /// Ends a stretch that was read, and takes the parser past the known chunks that come next.
  /// - Parameters:
  ///   - byte: the offset after the stretch.
  ///   - leftByteCount: bytes that the parser has not taken, as their record goes on.
  /// - Returns: whether there is more to read.
  mutating func goOn<Parser: RecordParser>(
    _ parser: inout Parser, at byte: UInt64, leftByteCount: Int, from source: ChunkSearch.Read
  ) throws(UpsurgeError) -> Bool {
    let state = parser.state
    maker.end(at: byte, line: state?.line ?? 0, to: &done)
    if !handOver() { return false }
    guard let search, let manifest = chunks.manifest, !search.isEnded else {
      chunks.end(details: state?.details)
      return false
    }
    guard var state, leftByteCount == 0, Self.fits(state, manifest.details) else {
      chunks.giveUp()
      return false
    }
    let skipped = try search.skip(from: source)
    chunks.skip(skipped)
    for index in skipped {
      state.line += manifest.chunks[index].lineCount
      state.recordCount += manifest.chunks[index].recordCount
    }
    state.details = manifest.details
    try parser.resume(from: state)
    if !search.isEnded { return true }
    chunks.end(details: manifest.details)
    return false
  }

  /// Whether a parser stands between two records as it did in the last delivery.
  private static func fits(_ state: ParserState, _ details: String) -> Bool {
    if state.details == details { return true }
    // The first object says that records are objects.
    return state.details.isEmpty && state.recordCount == 0 && details == JSONParser.objectsDetails
  }

  private mutating func handOver() -> Bool {
    if maker.hasUnkeyed { chunks.noteUnkeyed() }
    if chunks.add(done) {
      done.removeAll(keepingCapacity: true)
      return true
    }
    chunks.giveUp()
    return false
  }
}
