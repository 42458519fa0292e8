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
  private let columns: [PostgresColumn]
  private let count: Int
  private var buffer = RowBuffer(capacity: 1 << 10)

  /// - Parameters:
  ///   - columns: those of the records, in slot order.
  ///   - names: the columns that decide.
  init(_ plan: RecordPlan, _ columns: [ColumnTarget], by names: [String], count: Int) {
    self.count = count
    let found = names.compactMap { name in
      columns.firstIndex { plan.column(of: $0)?.name == name }.flatMap { slot in
        plan.found.column(name).map { (slot: slot, column: $0) }
      }
    }
    self.columns = found.map(\.column)
    encoder =
      found.count == names.count
      ? RowEncoder(found.map { RowEncoder.Field(BinaryColumn($0.column), slot: $0.slot) }, hasOrder: false)
      : nil
  }

  /// The records of each connection, as their indexes in the batch.
  /// - Throws: `badInput` for a key that is another value each time it is read.
  mutating func divide(
    _ batch: borrowing Batch, from first: Int, file: String, by reader: KeyReader
  ) throws(UpsurgeError) -> [[Int32]] {
    // What has no key, or a bad one, is rejected by the first connection.
    var lanes = [UInt8](repeating: 0, count: max(batch.recordCount - first, 0))
    var unread: [Int] = []
    let texts = CellTexts(batch)
    if let encoder {
      for record in first..<max(batch.recordCount, first) where Self.hasKey(record, texts, encoder) {
        buffer.count = 0
        if let fault = encoder.encode(record, texts, into: &buffer) {
          if fault.fault == .undecided { unread.append(record) }
        } else {
          lanes[record - first] = lane
        }
      }
      if !unread.isEmpty {
        let values = try ask(for: unread, batch, encoder, file: file, by: reader)
        for record in unread where encode(record, texts, encoder, values) { lanes[record - first] = lane }
      }
    }
    var parts: [[Int32]] = Array(repeating: [], count: count)
    for index in parts.indices { parts[index].reserveCapacity(lanes.count / count + 64) }
    for (place, lane) in lanes.enumerated() {
      parts[Int(lane)].append(Int32(truncatingIfNeeded: first + place))
    }
    return parts
  }

  /// The connection for the key in the buffer.
  private var lane: UInt8 { UInt8(truncatingIfNeeded: Self.hash(buffer.bytes) % UInt64(count)) }

  private static func hasKey(_ record: Int, _ texts: CellTexts, _ encoder: RowEncoder) -> Bool {
    encoder.fields.allSatisfy { field in
      guard field.slot < texts.columnCount else { return false }
      let kind = Self.cell(field, of: record, texts).kind
      return kind != .null && kind != .absent
    }
  }

  private static func cell(_ field: RowEncoder.Field, of record: Int, _ texts: CellTexts) -> Cell {
    texts.cells[record * texts.columnCount + field.slot]
  }

  // MARK: - Keys that only the server can read

  /// Values of one record, by the number of their field.
  private typealias Values = [Int: [UInt8]]

  /// Asks for the values of records that are not read here.
  private mutating func ask(
    for records: [Int], _ batch: borrowing Batch, _ encoder: RowEncoder, file: String, by reader: KeyReader
  ) throws(UpsurgeError) -> [Int: Values] {
    var values: [Int: Values] = [:]
    let texts = CellTexts(batch)
    for (number, field) in encoder.fields.enumerated() {
      var (asked, spellings): ([Int], [String]) = ([], [])
      for record in records {
        let cell = Self.cell(field, of: record, texts)
        buffer.count = 0
        guard field.column.encode(cell, texts, into: &buffer) == .undecided else { continue }
        let spelling = spelling(of: cell, texts)
        if KeyReader.isOfTheMoment(spelling) {
          throw ofTheMoment(columns[number].name, batch.position(of: record, file: file))
        }
        asked.append(record)
        spellings.append(spelling)
      }
      let found = try reader.values(of: columns[number], spelled: spellings)
      for (record, value) in zip(asked, found) { values[record, default: [:]][number] = value }
    }
    return values
  }

  /// The text that is sent for a value.
  private mutating func spelling(of cell: Cell, _ texts: CellTexts) -> String {
    buffer.count = 0
    if BinaryColumn(.castText).encode(cell, texts, into: &buffer) != nil { return "" }
    return String(decoding: buffer.bytes.dropFirst(MemoryLayout<Int32>.size), as: UTF8.self)
  }

  /// Puts a key into the buffer as `RowEncoder` does.
  /// - Parameter values: what the server has said.
  /// - Returns: false where one of its values is bad.
  private mutating func encode(
    _ record: Int, _ texts: CellTexts, _ encoder: RowEncoder, _ values: [Int: Values]
  ) -> Bool {
    buffer.count = 0
    buffer.put(Int16(truncatingIfNeeded: encoder.fields.count))
    for (number, field) in encoder.fields.enumerated() {
      let start = buffer.count
      guard let fault = field.column.encode(Self.cell(field, of: record, texts), texts, into: &buffer) else {
        continue
      }
      guard fault == .undecided, let value = values[record]?[number] else { return false }
      buffer.count = start
      buffer.append(Int32(truncatingIfNeeded: value.count))
      value.withUnsafeBufferPointer { buffer.append($0) }
    }
    return true
  }

  private func ofTheMoment(_ column: String, _ position: Position) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "this key is another value each time it is read, and \(.connections) needs the same one each time",
      position: position,
      column: column,
      hint: "write the day or the time itself")
  }

  /// FNV-1a, whose last bits are mixed with the first.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return hash ^ hash >> 29 ^ hash >> 47
  }
}
