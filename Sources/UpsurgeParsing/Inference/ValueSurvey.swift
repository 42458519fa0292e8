import UpsurgeRecords

/// Looks whether the texts of columns are dates or numbers in a form of their own, and in which.
///
/// A form that one value does not have is left out, so that what is left fits all values. Nothing is chosen among readings that
/// differ: `1/2/2024` says nothing of the order of day and month, and `1,234` nothing of what its comma is.
package struct ValueSurvey: Sendable {
  /// What a column turned out to be.
  package enum Finding: Equatable, Sendable {
    /// Dates of these formats; of several nobody knows which.
    case dates([String])
    /// Numbers that are not written as SQL writes them, in these forms.
    case numbers([Form])
  }

  /// How numbers are written.
  package struct Form: Hashable, Sendable {
    package var decimal: ValueFormats.DecimalMark
    package var thousands: String?

    init(_ decimal: ValueFormats.DecimalMark, _ thousands: String?) {
      (self.decimal, self.thousands) = (decimal, thousands)
    }
  }

  private struct Column {
    /// Indexes of the forms that fit so far.
    var dates: [Int]
    var numbers: [Int]
    var count = 0
    /// Whether a value is no number of SQL.
    var hasMark = false
  }

  /// The formats that are looked for.
  static let dateFormats: [String] = {
    let days = ["/", ".", "-"].flatMap { mark in
      ["%d\(mark)%m\(mark)%Y", "%m\(mark)%d\(mark)%Y", "%d\(mark)%m\(mark)%y", "%m\(mark)%d\(mark)%y"]
    }
    let named = ["%Y/%m/%d", "%Y.%m.%d", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%b %d, %Y"]
    return (days + named).flatMap { [$0, "\($0) %H:%M", "\($0) %H:%M:%S"] }
  }()

  /// The forms that are looked for; of those that read all values alike the first is said.
  package static let forms = [
    Form(.comma, nil), Form(.comma, "."), Form(.comma, " "), Form(.comma, "'"), Form(.point, ","),
    Form(.point, " "), Form(.point, "'"),
  ]

  private let readers: ValueReaders
  private let dates: [ValueReader]
  private let numbers: [NumberForm]
  private var columns: [Column] = []

  package init?() {
    var formats = ValueFormats()
    for (index, format) in Self.dateFormats.enumerated() { formats.dates["\(index)"] = format }
    guard let readers = try? ValueReaders(formats) else { return nil }
    self.readers = readers
    dates = Self.dateFormats.indices.compactMap {
      readers.reader(of: ColumnTarget(name: "\($0)", affinity: .none, spellingPolicy: .warn))
    }
    numbers = Self.forms.map { NumberForm(decimal: $0.decimal, thousands: $0.thousands) }
  }

  /// Takes the records of a batch into account, whose texts are as they stand.
  package mutating func observe(_ batch: borrowing Batch) {
    while columns.count < batch.columnCount {
      columns.append(Column(dates: Array(dates.indices), numbers: Array(numbers.indices)))
    }
    for slot in 0..<batch.columnCount {
      for record in 0..<batch.recordCount {
        if columns[slot].dates.isEmpty && columns[slot].numbers.isEmpty { break }
        let cell = batch.cells[record * batch.columnCount + slot]
        if cell.kind == .text && cell.byteCount > 0 { observe(batch.bytes(of: cell), &columns[slot]) }
      }
    }
  }

  private func observe(_ text: UnsafeBufferPointer<UInt8>, _ column: inout Column) {
    guard let start = text.baseAddress else { return }
    column.count += 1
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(text.count, 64)) { room in
      guard let output = room.baseAddress else { return }
      column.dates.removeAll { dates[$0].read(start, count: text.count, into: output).fault.isSet }
      column.numbers.removeAll { numbers[$0].normalise(start, count: text.count, into: output) == 0 }
    }
    let isDigit = { (byte: UInt8) in byte &- UInt8(ascii: "0") <= 9 }
    // A number of a telephone, or a code.
    if text.count > 1, text[0] == UInt8(ascii: "0"), isDigit(text[1]) { column.numbers = [] }
    if !text.allSatisfy({ isDigit($0) || "-+.eE".utf8.contains($0) }) { column.hasMark = true }
  }

  /// What the column is; nil where it is text, or as SQL writes it.
  package func finding(of slot: Int) -> Finding? {
    guard columns.indices.contains(slot), columns[slot].count > 0 else { return nil }
    let column = columns[slot]
    if !column.dates.isEmpty { return .dates(column.dates.map { Self.dateFormats[$0] }) }
    return column.hasMark && !column.numbers.isEmpty ? .numbers(column.numbers.map { Self.forms[$0] }) : nil
  }
}
