import UpsurgeRecords

/// Reads a sheet as Excel writes it (ECMA-376, part 1, 18.3.1).
///
///     <row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" s="1"><v>45292</v></c></row>
final class ExcelSheet: SheetVisitor {
  /// What the value of a cell is.
  private enum Kind {
    case number, shared, inline, formulaText, truth, fault, moment
  }

  private let strings: SharedStrings
  private let formats: [CellFormat]
  private let is1904: Bool

  private var isInData = false
  private var column = -1
  private var kind = Kind.number
  private var style = 0
  private var value: [UInt8] = []
  private var runs = TextRuns()
  private var isInValue = false
  private var isInline = false
  private var hasFormula = false
  private var hasValue = false

  init(name: String, strings: SharedStrings, formats: [CellFormat], is1904: Bool, byteLimit: Int) {
    (self.strings, self.formats, self.is1904) = (strings, formats, is1904)
    super.init(name: name, byteLimit: byteLimit)
  }

  override func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    if !isInData { return startOutside(name, attributes) }
    switch name {
    case "c": return startCell(attributes)
    case "v": (isInValue, hasValue) = (true, true)
    case "row":
      let number = attributes.number("r") ?? rows.rowNumber + 1
      guard number > rows.rowNumber, number <= SheetText.rowLimit else {
        return fail("its rows are not in their order, or there are more than \(SheetText.rowLimit)")
      }
      rows.beginRow(after: number - rows.rowNumber)
      column = -1
    case "f": hasFormula = true
    case "is":
      isInline = true
      runs.begin()
    default: if isInline { runs.start(name, attributes) }
    }
    return .goOn
  }

  private func startOutside(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "sheetData": isInData = true
    case "mergeCell":
      let row = attributes.value("ref").flatMap { Self.place($0) }?.row
      notes.count(.mergedCells, row: row ?? 1)
    default: break
    }
    return .goOn
  }

  private func startCell(_ attributes: XMLAttributes) -> XMLStep {
    var place: (column: Int, row: Int)?
    var type: UnsafePointer<CChar>?
    style = 0
    attributes.each { name, value in
      if name[0] == 0 || name[1] != 0 { return }
      switch UInt8(bitPattern: name[0]) {
      case UInt8(ascii: "r"): place = Self.place(value)
      case UInt8(ascii: "s"): style = XMLAttributes.number(value) ?? 0
      case UInt8(ascii: "t"): type = value
      default: break
      }
    }
    let next = place?.column ?? column + 1
    guard next > column, next < SheetText.columnLimit else {
      return fail("its cells are not in their order, or there are more than \(SheetText.columnLimit) in a row")
    }
    column = next
    kind = .number
    if let type {
      switch XMLName(type) {
      case "s": kind = .shared
      case "inlineStr": kind = .inline
      case "str": kind = .formulaText
      case "b": kind = .truth
      case "e": kind = .fault
      case "d": kind = .moment
      default: break
      }
    }
    value.removeAll(keepingCapacity: true)
    runs.begin()
    (hasFormula, hasValue) = (false, false)
    return .goOn
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if isInValue {
      value += bytes
      _ = fits(value)
    } else if isInline {
      runs.text(bytes)
      if runs.byteCount > byteLimit { failure = WorkbookFault.tooLarge(name, "the cells of row \(rows.rowNumber)", limit: byteLimit) }
    }
  }

  override func end(_ name: XMLName) -> XMLStep {
    if failure != nil { return .stop }
    if !isInData { return .goOn }
    switch name {
    case "v": isInValue = false
    case "c": return endCell()
    case "row": return endRow()
    case "is": isInline = false
    case "sheetData": isInData = false
    default: if isInline { runs.end(name) }
    }
    return .goOn
  }

  private func endCell() -> XMLStep {
    switch kind {
    case .number: writeNumber()
    case .shared:
      guard let index = Int(String(decoding: value, as: UTF8.self)) else { break }
      guard index >= 0, index < strings.count else { return fail("a cell names text \(index), and there are \(strings.count)") }
      write(strings[index])
    case .inline: write(runs.finish()[...])
    case .formulaText: write(TextRuns.decoded(value)[...])
    case .truth, .moment: write(value[...])
    case .fault: notes.count(.errorCell, row: rows.rowNumber)
    }
    if hasFormula && !hasValue { notes.count(.formulaWithoutValue, row: rows.rowNumber) }
    return fits([]) ? .goOn : .stop
  }

  private func write(_ text: ArraySlice<UInt8>) {
    if !text.isEmpty { rows.write(text, column: column) }
  }

  /// A number as it is stored, or the day and time that it is by its format.
  private func writeNumber() {
    while value.last == 0x20 || value.last == 0x0A { value.removeLast() }
    let format = style < formats.count ? formats[style] : []
    if !format.isEmpty, let number = Double(String(decoding: value, as: UTF8.self)),
      let text = CellDate.text(number, format, is1904: is1904)
    {
      write(text[...])
    } else {
      write(value[...])
    }
  }

  /// Column (from 0) and row (from 1) of a reference: `C12`, `A1:B2`; nil for anything else.
  static func place(_ text: UnsafePointer<CChar>) -> (column: Int, row: Int)? {
    var (at, column, row) = (0, 0, 0)
    while true {
      let letter = Int(UInt8(bitPattern: text[at]) & 0xDF) - 0x40
      guard (1...26).contains(letter) else { break }
      column = column * 26 + letter
      at += 1
      if at > 3 { return nil }
    }
    while true {
      let digit = Int(UInt8(bitPattern: text[at])) - 0x30
      guard (0...9).contains(digit), row < 1 << 30 else { break }
      row = row * 10 + digit
      at += 1
    }
    return column == 0 || row == 0 ? nil : (column - 1, row)
  }
}
