import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

extension Batch {
  /// Records of the quarantine as the writer takes them: the number of each is its id, its raw bytes are its JSON.
  ///
  /// - Parameters:
  ///   - quarantined: the records with their fields.
  ///   - columns: the names of the cells; hold every field's name.
  ///   - schema: of the table, for columns of numbers: a decimal in a text becomes the nearest double there.
  package init(
    quarantined: [(record: QuarantinedRecord, fields: [QuarantinedRecord.Field])], columns: [String], schema: TableSchema? = nil
  ) {
    let byteCount = quarantined.reduce(0) { $0 + $1.record.text.utf8.count }
    // No text or BLOB is longer than its spelling, so the spill has room for all of them.
    self.init(
      sizes: Sizes(
        arenaByteCount: max(byteCount, 1), cellCount: max(columns.count * quarantined.count, 1),
        recordCount: max(quarantined.count, 1)))
    begin(columnCount: columns.count)
    hasAbsentCells = true
    var slots: [String: Int] = [:]
    var isNumeric: [Bool] = []
    for (index, name) in columns.enumerated() {
      slots[SQLName.folded(name)] = index
      let place = schema?.columnIndex(name)
      isNumeric.append(place.flatMap { schema?.columns[$0].affinity.isNumeric } ?? false)
    }
    for (record, fields) in quarantined {
      let start = arenaByteCount
      let text = Array(record.text.utf8)
      (arena + start).update(from: text, count: text.count)
      arenaByteCount += text.count
      let row = cells + recordCount * columns.count
      row.initialize(repeating: .absent, count: columns.count)
      for field in fields {
        if let slot = slots[SQLName.folded(field.name)] {
          row[slot] = cell(field.value, isNumeric: isNumeric[slot])
        }
      }
      (records + recordCount).initialize(
        to: RecordPosition(
          arenaOffset: start, byteCount: text.count, line: record.position.line ?? 0,
          number: UInt64(clamping: record.id)))
      recordCount += 1
    }
    parsedByteCount = arenaByteCount
  }

  private mutating func cell(_ value: SQLValue, isNumeric: Bool) -> Cell {
    switch value {
    case .text(let text) where isNumeric:
      let bytes = Array(text.utf8)
      return bytes.withUnsafeBufferPointer { DecimalText.real($0) }.map { .real($0) } ?? place(bytes)
    case .null: return .null
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .text(let text): return place(Array(text.utf8))
    case .blob(let bytes):
      var cell = place(bytes)
      cell.kind = .blob
      return cell
    }
  }

  private mutating func place(_ bytes: [UInt8]) -> Cell {
    let offset = spillByteCount
    (spill + offset).update(from: bytes, count: bytes.count)
    spillByteCount += bytes.count
    return .text(offset: offset, byteCount: bytes.count, isInSpill: true)
  }
}
