import CScan
import UpsurgeRecords

/// Watches records that were parsed without conversion (affinity `.none`) and says which type each column has.
///
/// A column is one of numbers only when every value can be stored as a number that says the same: `007`, `+49…`,
/// `12E4` and integers beyond 64 bits keep it TEXT. Integers and reals together make REAL, unless an integer
/// among them is no double.
package struct ColumnInference: Sendable {
  /// What was seen of one column.
  package struct Column: Sendable, Equatable {
    /// Records that have NULL here, or do not speak of the column.
    package internal(set) var nullCount: UInt64 = 0
    package internal(set) var integerCount: UInt64 = 0
    package internal(set) var realCount: UInt64 = 0
    /// Values that are no numbers, or whose spelling a number would change.
    package internal(set) var textCount: UInt64 = 0
    /// Values that are bytes already.
    package internal(set) var blobCount: UInt64 = 0
    /// The first different values, at most three, each cut at 40 characters.
    package internal(set) var examples: [String] = []
    /// The first decimal that a column of reals would write otherwise: `3.10`, `1.5e+3`.
    package internal(set) var respelled: String?
    /// What was seen of numbers in a form of their own; nil where none was looked for.
    package internal(set) var marks: NumberMarks?
    /// Whether there was an integer that a double cannot hold.
    var hasInexactInteger = false
    /// Values still looked at for examples.
    var exampleBudget = 1_000

    package init() {}
  }

  private let isJSON: Bool
  private let countsEmptyTexts: Bool
  /// How numbers are written; nil where that is as SQL does.
  private let numbers: NumberForm?
  /// Of each column whose name is known.
  private var forms: [NumberForm?] = []
  /// In slot order; grows when a batch has more columns.
  package private(set) var columns: [Column] = []

  /// - Parameters:
  ///   - isJSON: Whether the cells come from JSON, where a string is text whatever it looks like.
  ///   - countsEmptyTexts: Whether a column with an empty text, which was quoted, is one of texts; else it is as good as
  ///     NULL where the rest are numbers.
  ///   - numbers: How numbers are written in CSV; nil where that is as SQL does.
  package init(isJSON: Bool, countsEmptyTexts: Bool = false, numbers: NumberForm? = nil) {
    self.numbers = numbers
    self.isJSON = isJSON
    self.countsEmptyTexts = countsEmptyTexts
  }

  /// Says how the numbers of each column are written.
  package mutating func read(_ forms: [NumberForm?]) { self.forms = forms }

  /// Takes the records of a batch into account.
  package mutating func observe(_ batch: borrowing Batch) {
    let recordsBefore =
      columns.first.map { $0.nullCount + $0.integerCount + $0.realCount + $0.textCount + $0.blobCount } ?? 0
    while columns.count < batch.columnCount {
      columns.append(Column())
      columns[columns.count - 1].nullCount = recordsBefore
    }
    for slot in 0..<columns.count {
      if slot >= batch.columnCount {
        columns[slot].nullCount += UInt64(batch.recordCount)
        continue
      }
      var column = columns[slot]
      columns[slot].examples = []  // so that the copy owns its array alone
      let form = slot < forms.count ? forms[slot] : numbers
      if form != nil && column.marks == nil { column.marks = NumberMarks() }
      for record in 0..<batch.recordCount {
        observe(batch.cells[record * batch.columnCount + slot], batch, record, form, &column)
      }
      columns[slot] = column
    }
  }

  /// Takes over what another watcher saw of the same columns.
  package mutating func merge(_ other: ColumnInference) {
    while columns.count < other.columns.count { columns.append(Column()) }
    for (slot, seen) in other.columns.enumerated() {
      columns[slot].nullCount += seen.nullCount
      columns[slot].integerCount += seen.integerCount
      columns[slot].realCount += seen.realCount
      columns[slot].textCount += seen.textCount
      columns[slot].blobCount += seen.blobCount
      columns[slot].respelled = columns[slot].respelled ?? seen.respelled
      if let marks = seen.marks {
        if columns[slot].marks?.merge(marks) == nil { columns[slot].marks = marks }
      }
      columns[slot].hasInexactInteger = columns[slot].hasInexactInteger || seen.hasInexactInteger
      for example in seen.examples where columns[slot].examples.count < 3 {
        if !columns[slot].examples.contains(example) { columns[slot].examples.append(example) }
      }
    }
  }

  /// The type of a column by all that was seen.
  package func inferredType(of slot: Int) -> ColumnType {
    guard columns.indices.contains(slot) else { return isJSON ? .any : .text }
    let column = columns[slot]
    if column.textCount > 0 { return .text }
    if column.blobCount > 0 { return column.integerCount + column.realCount > 0 ? .any : .blob }
    if column.realCount > 0 {
      return column.integerCount > 0 && column.hasInexactInteger ? .text : .real
    }
    if column.integerCount > 0 { return .integer }
    return isJSON ? .any : .text
  }

  /// The type of a column that distinguishes rows: TEXT where numbers would write one of its values otherwise. (In JSON numbers
  /// are values, however they are written.)
  package func keyType(of slot: Int) -> ColumnType {
    let type = inferredType(of: slot)
    guard !isJSON, type == .real, columns.indices.contains(slot) else { return type }
    let column = columns[slot]
    return column.respelled != nil || column.integerCount > 0 ? .text : .real
  }

  private func observe(
    _ cell: Cell, _ batch: borrowing Batch, _ record: Int, _ form: NumberForm?, _ column: inout Column
  ) {
    switch cell.kind {
    case .absent, .null: column.nullCount += 1
    case .integer: add(integer: cell.payload, &column)
    case .real: column.realCount += 1
    case .blob: column.blobCount += 1
    case .text:
      let text = batch.bytes(of: cell)
      if let form {
        observe(text, as: form, line: batch.records[record].line, &column)
      } else {
        observe(text, &column)
      }
    }
    if column.exampleBudget > 0 { addExample(cell, batch, &column) }
  }

  private func observe(_ text: UnsafeBufferPointer<UInt8>, _ column: inout Column) {
    if text.isEmpty && !isJSON && !countsEmptyTexts {
      column.nullCount += 1
    } else if !isJSON, let start = text.baseAddress {
      observe(start, text.count, &column)
    } else {
      column.textCount += 1
    }
  }

  /// Takes a text into account that may be a number of a form of its own.
  private func observe(
    _ text: UnsafeBufferPointer<UInt8>, as form: NumberForm, line: UInt64, _ column: inout Column
  ) {
    guard let start = text.baseAddress, !text.isEmpty else { return observe(text, &column) }
    let textCount = column.textCount
    column.marks?.takeValue()
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { room in
      guard let output = room.baseAddress else { return }
      let count = form.normalise(start, count: text.count, into: output)
      if count > 0 { column.marks?.take(text, as: form) }
      if count == 0 || isJSON { column.textCount += 1 } else { observe(UnsafePointer(output), count, &column) }
      if isJSON && count > 0 { return }
      if column.textCount > textCount { column.marks?.takeMisfit(text, line: line) }
    }
  }

  /// Takes a text into account that is a number as SQL writes it, if it is one.
  private func observe(_ start: UnsafePointer<UInt8>, _ count: Int, _ column: inout Column) {
    var bits: UInt64 = 0
    switch Int(upsurge_number_scan(start, count, &bits)) {
    case UPSURGE_NUMBER_INTEGER: add(integer: bits, &column)
    case UPSURGE_NUMBER_REAL:
      column.realCount += 1
      if column.respelled == nil { column.respelled = respelled(start, count, bits) }
    default: column.textCount += 1
    }
  }

  /// The text, where the number would be written otherwise.
  private func respelled(_ text: UnsafePointer<UInt8>, _ count: Int, _ bits: UInt64) -> String? {
    let value = Double(bitPattern: bits)
    if NumberSpelling.isShortest(text, count: count, value: value, allowsWhole: true) { return nil }
    return String(decoding: UnsafeBufferPointer(start: text, count: min(count, 40)), as: UTF8.self)
  }

  private func add(integer bits: UInt64, _ column: inout Column) {
    column.integerCount += 1
    if !isExactDouble(bits) { column.hasInexactInteger = true }
  }

  private func addExample(_ cell: Cell, _ batch: borrowing Batch, _ column: inout Column) {
    let text: String
    switch cell.kind {
    case .absent, .null, .blob: return
    case .integer: text = String(Int64(bitPattern: cell.payload))
    case .real: text = "\(Double(bitPattern: cell.payload))"
    case .text:
      let whole = String(decoding: batch.bytes(of: cell).prefix(200), as: UTF8.self)
      text = whole.count > 40 ? whole.prefix(39) + "…" : whole
    }
    column.exampleBudget -= 1
    if column.examples.contains(text) { return }
    column.examples.append(text)
    if column.examples.count == 3 { column.exampleBudget = 0 }
  }
}
