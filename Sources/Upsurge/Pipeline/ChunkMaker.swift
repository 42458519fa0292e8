import UpsurgeState


/// Cuts the records of a delivery into chunks as their batches pass by.
///
///     batches   | r r r r | r r r r | r r r
///     chunks        |- 64 KiB -|- 64 KiB -|- …      each begins with a record
///
/// A chunk ends with the record at which it has its size, so that where the cuts are depends on the bytes from the first
/// one on alone. After what was skipped, a new chunk begins.
struct ChunkMaker {
  private var keys: RowKeys.Writer
  private var hash = ContentHash.Stream()
  /// The first bytes of the chunk.
  private var head: [UInt8] = []
  private var isOpen = false
  /// Whether all there is to say of its bytes is their records.
  private var isPlain = true
  private var startByte: UInt64 = 0
  private var startLine: UInt64 = 0
  private var recordCount: UInt64 = 0
  private var lastByte: UInt8 = 0
  /// Where the next batch is expected.
  private var nextByte: UInt64 = 0
  /// Whether a record has no key that could be remembered.
  private(set) var hasUnkeyed = false

  private let sizes: SnapshotChunk.Sizes

  init(keyCells: [Int], sizes: SnapshotChunk.Sizes) {
    keys = RowKeys.Writer(cells: keyCells)
    self.sizes = sizes
  }

  /// Takes the records of a batch.
  /// - Parameters:
  ///   - isPlain: whether there is nothing to say of the batch beside its records.
  ///   - done: gets the chunks that are whole.
  mutating func add(
    _ batch: borrowing Batch, isPlain isPlainBatch: Bool, to done: inout [DeliveryChunks.Made]
  ) {
    let base = batch.origin.sourceOffset
    if isOpen && (base != nextByte || !isPlainBatch) { isPlain = false }
    var from = 0
    for record in 0..<batch.recordCount {
      let position = batch.records[record]
      let offset = Int(position.arenaOffset)
      if isOpen, base + UInt64(offset) - startByte >= UInt64(sizes.usual) {
        take(batch, from..<offset)
        close(at: base + UInt64(offset), line: position.line, to: &done)
      }
      if !isOpen {
        open(at: base + UInt64(offset), line: position.line, isPlain: isPlainBatch)
        from = offset
      }
      if !keys.add(record, of: batch) { hasUnkeyed = true }
      recordCount += 1
    }
    if isOpen { take(batch, from..<batch.parsedByteCount) }
    nextByte = base + UInt64(batch.parsedByteCount)
  }

  /// Ends the last chunk of a stretch that was read.
  /// - Parameters:
  ///   - byte: the offset after it.
  ///   - line: the line that begins there.
  mutating func end(at byte: UInt64, line: UInt64, to done: inout [DeliveryChunks.Made]) {
    guard isOpen else { return }
    if byte != nextByte { isPlain = false }
    close(at: byte, line: line, to: &done)
  }

  private mutating func open(at byte: UInt64, line: UInt64, isPlain: Bool) {
    (isOpen, self.isPlain, startByte, startLine, recordCount) = (true, isPlain, byte, line, 0)
    hash = ContentHash.Stream()
    head.removeAll(keepingCapacity: true)
  }

  private mutating func take(_ batch: borrowing Batch, _ range: Range<Int>) {
    guard !range.isEmpty else { return }
    let bytes = UnsafeRawBufferPointer(start: batch.arena + range.lowerBound, count: range.count)
    hash.add(bytes)
    let missing = SnapshotChunk.headByteCount - head.count
    if missing > 0 { head.append(contentsOf: bytes.prefix(missing)) }
    lastByte = bytes[range.count - 1]
  }

  private mutating func close(at byte: UInt64, line: UInt64, to done: inout [DeliveryChunks.Made]) {
    let byteCount = Int(byte - startByte)
    let isFit =
      isPlain && lastByte == UInt8(ascii: "\n") && byteCount >= max(sizes.least, SnapshotChunk.headByteCount)
      && byteCount <= sizes.most
    let chunk = SnapshotChunk(
      byteCount: byteCount, head: head.withUnsafeBytes { ContentHash.hash($0) },
      hash: isFit ? hash.pair : nil, lineCount: line - min(startLine, line), recordCount: recordCount)
    done.append(DeliveryChunks.Made(chunk: chunk, keys: keys.take()))
    isOpen = false
  }
}
