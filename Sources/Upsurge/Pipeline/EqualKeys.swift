/// Looks for two records that have one key and differ, as an example: among the first ones of few batches.
struct EqualKeys {
  /// A record that was looked at.
  private struct Seen {
    let source: Int
    let line: UInt64
    let contentHash: Int
  }

  /// Where the parts of the key are in a record.
  private let slots: [Int]
  private var seen: [[UInt8]: Seen] = [:]
  private var batchesLeft: Int
  private var lastSource = -1
  /// The key as text, and where the two records are, once they are found.
  private(set) var found: (key: String, first: (source: Int, line: UInt64), second: (source: Int, line: UInt64))?

  /// More of either would not find one sooner where many keys come twice.
  private static let (batchLimit, recordLimit) = (4, 1_000)
  /// So much of a record is compared, and larger keys are passed over: they would take memory.
  private static let (byteLimit, keyByteLimit) = (4_096, 256)

  /// - Parameter slots: nil looks at nothing.
  init(_ slots: [Int]?) {
    self.slots = slots ?? []
    batchesLeft = self.slots.isEmpty ? 0 : Self.batchLimit
  }

  /// - Parameter isLikely: whether there is a reason to look at more than the first batch of a source.
  mutating func look(at batch: borrowing Batch, isLikely: Bool) {
    let source = batch.origin.sourceIndex
    guard batchesLeft > 0, isLikely || source != lastSource else { return }
    batchesLeft -= 1
    lastSource = source
    var writer = RowKeys.Writer(cells: slots)
    for record in 0..<min(batch.recordCount, Self.recordLimit) {
      guard isShort(record, of: batch), writer.add(record, of: batch) else { continue }
      let key = writer.take()
      let start = UnsafeBufferPointer(rebasing: batch.rawBytes(of: record).prefix(Self.byteLimit))
      var hasher = Hasher()
      hasher.combine(bytes: UnsafeRawBufferPointer(start))
      let this = Seen(source: source, line: batch.records[record].line, contentHash: hasher.finalize())
      guard let first = seen[key] else {
        seen[key] = this
        continue
      }
      if first.contentHash == this.contentHash { continue }
      found = (text(of: record, in: batch), (first.source, first.line), (this.source, this.line))
      (seen, batchesLeft) = ([:], 0)
      return
    }
    if batchesLeft == 0 { seen = [:] }
  }

  private func isShort(_ record: Int, of batch: borrowing Batch) -> Bool {
    var byteCount = 0
    for slot in slots where slot < batch.columnCount {
      byteCount += Int(batch.cells[record * batch.columnCount + slot].byteCount)
    }
    return byteCount <= Self.keyByteLimit
  }

  private func text(of record: Int, in batch: borrowing Batch) -> String {
    var parts: [String] = []
    for slot in slots {
      let cell = batch.cells[record * batch.columnCount + slot]
      switch cell.kind {
      case .absent, .null: parts.append("NULL")
      case .integer: parts.append("\(Int64(bitPattern: cell.payload))")
      case .real: parts.append("\(Double(bitPattern: cell.payload))")
      case .text: parts.append(String(decoding: batch.bytes(of: cell).prefix(40), as: UTF8.self))
      case .blob: parts.append("a BLOB")
      }
    }
    return parts.joined(separator: ", ")
  }
}
