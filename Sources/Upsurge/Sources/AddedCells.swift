#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Fills the cells of columns that no field of the input fills.
///
/// A text is put into each batch once; all records of the batch point at it.
package struct AddedCells: Sendable {
  private enum Value: Sendable {
    case record, line
    case text([UInt8])
  }

  /// Whether the input may have values of its own there, as keys of JSON: then cells are absent unless it has.
  private let looksForOwn: Bool
  private var values: [(slot: Int, name: String, value: Value)] = []
  /// Slots of columns of numbers that get a text.
  private var textSlots: Set<Int> = []

  /// - Parameters:
  ///   - file: the source's name.
  ///   - isJSON: whether records name their columns themselves.
  ///   - startedAt: when the run began; `now` is when this part of it did.
  init(
    _ options: LoadOptions, columns: ColumnRegistry, file: String, isJSON: Bool, startedAt: String,
    now: String
  ) {
    looksForOwn = isJSON
    for (name, value) in options.table.addedColumns {
      guard let slot = columns.slot(named: name) else { continue }
      let found: Value =
        switch value {
        case .record: .record
        case .line: .line
        case .file: .text(Array(file.utf8))
        case .run: .text(Array(startedAt.utf8))
        case .now: .text(Array(now.utf8))
        case .text(let text): .text(Array(text.utf8))
        }
      values.append((slot, name, found))
      if case .text(let bytes) = found, Self.isTextAmongNumbers(bytes, columns.targets[slot]) {
        textSlots.insert(slot)
      }
    }
  }

  /// Whether a text stays one in a column of numbers.
  private static func isTextAmongNumbers(_ text: [UInt8], _ column: ColumnTarget) -> Bool {
    guard column.affinity.isNumeric else { return false }
    return text.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return true }
      var cell = Cell.null
      let note = convertText(
        start, count: bytes.count, offset: 0, isInSpill: false, affinity: column.affinity, into: &cell)
      return note == .textInNumberColumn
    }
  }

  package var isEmpty: Bool { values.isEmpty }

  /// Fills the records of a batch. A value that the input has all the same, as a key of JSON, is replaced and counted.
  package func fill(_ batch: inout Batch, file: String) {
    if batch.recordCount == 0 { return }
    let (cells, records, width, count) = (batch.cells, batch.records, batch.columnCount, batch.recordCount)
    for (slot, name, value) in values where slot < width {
      for record in 0..<count where looksForOwn && cells[record * width + slot].kind != .absent {
        let place = batch.position(of: record, file: file)
        batch.hasAbsentCells = true
        batch.warnings.add(.columnCollision, column: name, at: place)
      }
      switch value {
      case .record:
        for record in 0..<count {
          cells[record * width + slot] = .integer(Int64(clamping: records[record].number))
        }
      case .line:
        for record in 0..<count {
          cells[record * width + slot] = .integer(Int64(clamping: records[record].line))
        }
      case .text(let bytes):
        let cell = Cell.text(offset: batch.append(text: bytes), byteCount: bytes.count, isInSpill: true)
        for record in 0..<count { cells[record * width + slot] = cell }
        if textSlots.contains(slot) {
          let place = batch.position(of: 0, file: file)
          batch.warnings.add(.textInNumberColumn, column: name, count: UInt64(count), at: place)
        }
      }
    }
  }

  /// The time in UTC, as records of runs have it: `2026-01-05T09:30:00Z`.
  static var now: String {
    var seconds = time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
