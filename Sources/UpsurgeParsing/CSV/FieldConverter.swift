import CScan
import UpsurgeRecords

/// Makes the values of columns from fields that were parsed as they are written, and from values that SQL has made of them.
///
/// A parser does both at once where nothing comes between. The outcome is the one that it would have: values, warnings and
/// rejects. Numbers of JSON lie in the arena without a quote before them, by which they differ from strings.
package struct FieldConverter {
  /// What became of a value.
  package enum Outcome {
    case stored
    /// The spill lacks so many bytes.
    case noRoom(Int)
    case refused(RecordProblem)
  }

  /// Where a record's text lies, and where what is decoded goes.
  package struct Text {
    let arena: UnsafePointer<UInt8>
    let spill: UnsafeMutablePointer<UInt8>
    let spillCapacity: Int
    package var spillByteCount: Int

    package init(_ batch: borrowing Batch) {
      arena = UnsafePointer(batch.arena)
      spill = batch.spill
      spillCapacity = batch.spillCapacity
      spillByteCount = batch.spillByteCount
    }

    fileprivate func start(of cell: Cell) -> UnsafePointer<UInt8> {
      (cell.isInSpill ? UnsafePointer(spill) : arena) + Int(truncatingIfNeeded: cell.payload)
    }

    var room: Int { spillCapacity - spillByteCount }
  }

  package private(set) var columns: [ColumnTarget]
  private let isJSON: Bool
  private let keepsQuotedEmpty: Bool
  let blobs: BlobDecoding?
  private let formats: ValueFormats
  /// Columns whose fields were read as dates, which stay texts also in a column of numbers.
  private var dateSlots: Set<Int> = []
  private var tally: CSVWarningTally
  /// Notes of the record in work, which count only when it is stored.
  private var notes: [(slot: Int, note: ConversionNote)] = []
  /// Bytes of the files that the record in work names.
  var fileByteCount = 0

  /// - Parameters:
  ///   - isJSON: whether fields are of JSON, where a string says what it is.
  ///   - keepsQuotedEmpty: whether an empty field in quotes is the empty text also in a column of numbers.
  ///   - blobs: how text in BLOB columns is decoded.
  ///   - formats: how the parser has read the values of fields, by the names of their columns.
  package init(
    columns: [ColumnTarget], isJSON: Bool, keepsQuotedEmpty: Bool, blobs: BlobDecoding?,
    formats: ValueFormats = ValueFormats()
  ) {
    self.columns = columns
    self.formats = formats
    self.isJSON = isJSON
    self.keepsQuotedEmpty = keepsQuotedEmpty
    self.blobs = blobs
    tally = CSVWarningTally(columnCount: columns.count)
    for slot in columns.indices { noteDates(slot) }
  }

  private mutating func noteDates(_ slot: Int) {
    if formats.dates.isEmpty { return }
    if case .date? = ValueReaders.form(of: columns[slot].name, in: formats) { dateSlots.insert(slot) }
  }

  package mutating func add(_ column: ColumnTarget) {
    columns.append(column)
    noteDates(columns.count - 1)
    tally.addColumn()
  }

  /// Begins a record; what was noted of one that came to nothing is forgotten.
  package mutating func begin() {
    if !notes.isEmpty { notes.removeAll(keepingCapacity: true) }
    fileByteCount = 0
  }

  /// Counts the warnings of the record in work.
  package mutating func accept(at position: @autoclosure () -> Position) {
    if notes.isEmpty { return }
    let place = position()
    for note in notes { tally.count(note.note, inSlot: note.slot, at: place) }
  }

  /// Hands over the warnings of all records so far.
  package mutating func moveWarnings(to log: inout WarningLog, file: String) {
    if !tally.isEmpty { tally.move(to: &log, naming: columns, file: file) }
  }

  // MARK: - Values

  /// Makes the value of a column from a field.
  package mutating func convert(
    field cell: Cell, slot: Int, into output: UnsafeMutablePointer<Cell>, _ text: inout Text
  ) -> Outcome {
    guard cell.kind == .text else {
      output.pointee = cell
      return .stored
    }
    let start = text.start(of: cell)
    if isJSON, let first = Self.firstOfLiteral(cell, start) {
      return convert(
        literal: cell, start, isNumber: first != UInt8(ascii: "{") && first != UInt8(ascii: "["), slot, output
      )
    }
    if !isJSON, cell.byteCount == 0, columns[slot].affinity.isNumeric, !keepsQuotedEmpty {
      output.pointee = .null
      return .stored
    }
    if columns[slot].isBlob, let blobs { return decode(cell, start, blobs, slot, output, &text) }
    if !dateSlots.isEmpty, dateSlots.contains(slot) {
      output.pointee = cell
      if columns[slot].affinity.isNumeric { notes.append((slot, .textInNumberColumn)) }
      return .stored
    }
    return convert(text: cell, start, slot, output)
  }

  /// Makes the value of a column from one that SQL has made.
  package mutating func convert(
    value cell: Cell, slot: Int, into output: UnsafeMutablePointer<Cell>, _ text: Text
  ) -> Outcome {
    switch cell.kind {
    case .text: return convert(text: cell, text.start(of: cell), slot, output)
    case .integer where columns[slot].affinity.isReal && !isExactDouble(cell.payload):
      // As SQLite stores it; left to it, the row would be compared with another number.
      output.pointee = .real(Double(Int64(bitPattern: cell.payload)))
    default: output.pointee = cell
    }
    return .stored
  }

  /// The value that a field has in SQL: a number of JSON is one, and a text of CSV is a text.
  /// - Parameter isReadNumber: whether a string of JSON was read as a number.
  package func value(ofField cell: Cell, _ text: Text, isReadNumber: Bool = false) -> Cell {
    guard isJSON, cell.kind == .text else { return cell }
    let start = text.start(of: cell)
    var value = cell
    guard let first = Self.firstOfLiteral(cell, start) else {
      if isReadNumber {
        _ = convertText(
          start, count: Int(cell.byteCount), offset: Int(truncatingIfNeeded: cell.payload),
          isInSpill: cell.isInSpill, affinity: .numeric, into: &value)
      }
      return value
    }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return cell }
    _ = convertNumber(
      start, count: Int(cell.byteCount), offset: Int(truncatingIfNeeded: cell.payload), affinity: .none,
      into: &value)
    return value
  }

  /// Whether a text is a number, as SQLite reads one.
  package func isNumber(_ cell: Cell, _ text: Text) -> Bool {
    var value = cell
    let note = convertText(
      text.start(of: cell), count: Int(cell.byteCount), offset: 0, isInSpill: false, affinity: .numeric,
      into: &value)
    return note != .textInNumberColumn
  }

  /// The affinity of a column that begins with this field of JSON.
  package func affinity(ofFirst cell: Cell, _ text: Text) -> Affinity {
    switch value(ofField: cell, text).kind {
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .absent, .null, .blob: .none
    }
  }

  /// The first byte of a number or a nested value of JSON; nil for a string.
  private static func firstOfLiteral(_ cell: Cell, _ start: UnsafePointer<UInt8>) -> UInt8? {
    if cell.isInSpill || cell.byteCount == 0 { return nil }
    // A record begins with a bracket or a brace, so that a byte stands before each of its values. Between a string and its quote
    // there may be blanks that were trimmed, and before a number there is no quote at all.
    var before = start - 1
    while FieldBlank.isBlank(before.pointee) { before -= 1 }
    return before.pointee == UInt8(ascii: "\"") ? nil : start.pointee
  }

  private mutating func convert(
    literal cell: Cell, _ start: UnsafePointer<UInt8>, isNumber: Bool, _ slot: Int,
    _ output: UnsafeMutablePointer<Cell>
  ) -> Outcome {
    let column = columns[slot]
    output.pointee = cell
    if !isNumber {
      if column.affinity.isNumeric { notes.append((slot, .textInNumberColumn)) }
      return .stored
    }
    let count = Int(cell.byteCount)
    let note = convertNumber(
      start, count: count, offset: Int(truncatingIfNeeded: cell.payload), affinity: column.affinity,
      into: output)
    if column.readsInfinity, column.affinity == .text, let infinity = infinity(start, count: count) {
      output.pointee = .real(infinity)
    }
    return settle(note, cell, start, slot, output)
  }

  private mutating func convert(
    text cell: Cell, _ start: UnsafePointer<UInt8>, _ slot: Int, _ output: UnsafeMutablePointer<Cell>
  ) -> Outcome {
    let column = columns[slot]
    output.pointee = cell
    if !column.affinity.isNumeric { return .stored }
    let count = Int(cell.byteCount)
    var note = convertText(
      start, count: count, offset: Int(truncatingIfNeeded: cell.payload), isInSpill: cell.isInSpill,
      affinity: column.affinity, into: output)
    if note == .none, column.isKeyOfNumbers || column.reportsSpelling,
      changesKey(start, count: count, isReal: column.affinity.isReal, cell: output.pointee)
    {
      note = column.isKeyOfNumbers ? .spellingChanges : .writtenOtherwise
    }
    return settle(note, cell, start, slot, output)
  }

  /// What a conversion's note means for the record.
  private mutating func settle(
    _ note: ConversionNote, _ cell: Cell, _ start: UnsafePointer<UInt8>, _ slot: Int,
    _ output: UnsafeMutablePointer<Cell>
  ) -> Outcome {
    if note == .none { return .stored }
    let column = columns[slot]
    if note == .spellingChanges {
      if column.keepsOutOfRange, isOutOfRange(start, count: Int(cell.byteCount), output.pointee) {
        output.pointee = cell
        return .stored
      }
      if column.spellingPolicy != .warn { return .refused(column.spellingProblem) }
    }
    notes.append((slot, note))
    return .stored
  }
}
