import UpsurgeRecords

/// Says which of several connections stores a record: always the same for records of one key, so that these stay in their order.
///
/// The bytes are hashed that are sent for the key, which are the same for all spellings of a value. In a table of Citus those of the
/// distribution column count alone, so that what goes to one shard goes over one connection.
struct LaneKeys: ~Copyable {
  /// Of the way in which values become the number of a connection: a run that resumes must find the same one.
  static let version = 1

  /// nil where the records have no such column: each is rejected then, by whichever connection.
  private let encoder: RowEncoder?
  private let slots: [Int]
  private let names: [String]
  private let count: Int
  private var buffer = RowBuffer(capacity: 1 << 10)

  /// - Parameters:
  ///   - columns: those of the records, in slot order.
  ///   - names: the columns that decide.
  init(_ plan: RecordPlan, _ columns: [ColumnTarget], by names: [String], count: Int) {
    self.count = count
    self.names = names
    let found = names.compactMap { name in
      columns.firstIndex { plan.column(of: $0)?.name == name }.flatMap { slot in
        plan.found.column(name).map { (slot: slot, column: BinaryColumn($0)) }
      }
    }
    slots = found.map(\.slot)
    encoder =
      found.count == names.count
      ? RowEncoder(found.map { RowEncoder.Field($0.column, slot: $0.slot) }, hasOrder: false) : nil
  }

  /// The records of each connection, as their indexes in the batch.
  /// - Throws: `badInput` for a key of which only the server knows the value.
  mutating func divide(_ batch: borrowing Batch, from first: Int, file: String) throws(UpsurgeError)
    -> [[Int32]]
  {
    var parts: [[Int32]] = Array(repeating: [], count: count)
    for index in parts.indices { parts[index].reserveCapacity((batch.recordCount - first) / count + 64) }
    let texts = CellTexts(batch)
    for record in first..<max(batch.recordCount, first) {
      buffer.count = 0
      var lane = 0
      if let encoder, hasKey(record, texts) {
        if let fault = encoder.encode(record, texts, into: &buffer) {
          if fault.fault == .undecided {
            throw undecided(names[fault.field], batch.position(of: record, file: file))
          }
        } else {
          lane = Int(Self.hash(buffer.bytes) % UInt64(count))
        }
      }
      parts[lane].append(Int32(truncatingIfNeeded: record))
    }
    return parts
  }

  private func hasKey(_ record: Int, _ texts: CellTexts) -> Bool {
    slots.allSatisfy { slot in
      guard slot < texts.columnCount else { return false }
      let kind = texts.cells[record * texts.columnCount + slot].kind
      return kind != .null && kind != .absent
    }
  }

  private func undecided(_ column: String, _ position: Position) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "only the server knows which value this is, and \(.connections) needs the key of each record",
      position: position,
      column: column,
      hint: "write it in plain digits, a date as 2024-02-29; or load without \(.connections)")
  }

  /// FNV-1a, whose last bits are mixed with the first.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return hash ^ hash >> 29 ^ hash >> 47
  }
}
