import UpsurgeRecords

/// Reads a sheet as Excel writes it (ECMA-376, part 1, 18.3.1).
///
///     <row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" s="1"><v>45292</v></c></row>
struct ExcelSheet: SheetVisitor {
  /// What the value of a cell is.
  private enum Kind {
    case number, shared, inline, formulaText, truth, fault, moment
  }

  var lines: SheetLines
  private let texts: WorkbookTexts
  private let is1904: Bool

  private var isInData = false
  private var isInRow = false
  /// Whether the row says its number.
  private var isNumbered = false
  private var column = -1
  private var kind = Kind.number
  private var style = 0
  private var value: [UInt8] = []
  private var runs = TextRuns()
  private var isInValue = false
  private var isInline = false
  /// What the cell has.
  private var (hasFormula, hasValue, hasInline) = (false, false, false)

  init(_ lines: SheetLines, _ texts: WorkbookTexts, is1904: Bool) {
    (self.lines, self.texts, self.is1904) = (lines, texts, is1904)
  }

  // MARK: - Elements

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    if !isInData { return startOutside(name, attributes) }
    switch name {
    case "c": return startCell(attributes)
    case "v": (isInValue, hasValue) = (true, true)
    case "row": return startRow(attributes)
    case "f": hasFormula = true
    case "is":
      (isInline, hasInline) = (true, true)
      runs.begin()
    default: if isInline { runs.start(name, attributes) }
    }
    return .goOn
  }

  private mutating func startOutside(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "sheetData": isInData = true
    case "mergeCell":
      let row = attributes.value("ref").flatMap { CellPlace($0) }?.row
      lines.notes.count(.mergedCells, row: row ?? 1)
    default: break
    }
    return .goOn
  }

  private mutating func startRow(_ attributes: XMLAttributes) -> XMLStep {
    var number = lines.text.rowNumber + 1
    isNumbered = false
    if let text = attributes.value("r") {
      guard let given = XMLAttributes.number(text) else {
        return lines.fail("a row has the number \(Self.shown(text))")
      }
      (number, isNumbered) = (given, true)
    }
    guard number > lines.text.rowNumber, number <= SheetText.rowLimit else {
      return lines.fail("its rows are not in their order, or there are more than \(SheetText.rowLimit)")
    }
    lines.text.beginRow(after: number - lines.text.rowNumber)
    (isInRow, column) = (true, -1)
    return .goOn
  }

  private mutating func startCell(_ attributes: XMLAttributes) -> XMLStep {
    var place: UnsafePointer<CChar>?
    var type: UnsafePointer<CChar>?
    style = 0
    attributes.each { name, value in
      if name[0] == 0 || name[1] != 0 { return }
      switch UInt8(bitPattern: name[0]) {
      case UInt8(ascii: "r"): place = value
      case UInt8(ascii: "s"): style = XMLAttributes.number(value) ?? Int.max
      case UInt8(ascii: "t"): type = value
      default: break
      }
    }
    if let problem = take(place) { return lines.fail(problem) }
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
    (hasFormula, hasValue, hasInline) = (false, false, false)
    return .goOn
  }

  /// Goes to the place of a cell: the next one, where it says none.
  /// - Returns: what is wrong with it.
  private mutating func take(_ text: UnsafePointer<CChar>?) -> Wording? {
    if !isInRow { return "a cell stands outside of the rows" }
    var next = column + 1
    if let text {
      guard let place = CellPlace(text) else {
        return "a cell stands at \(Self.shown(text)), which is no place"
      }
      if place.row != lines.text.rowNumber {
        // Where the row does not say which it is, its first cell does.
        guard !isNumbered, column < 0, place.row > lines.text.rowNumber, place.row <= SheetText.rowLimit
        else {
          return "the cell \(Self.shown(text)) stands in it"
        }
        lines.text.beginRow(after: place.row - lines.text.rowNumber)
      }
      next = place.column
    }
    guard next > column, next < SheetText.columnLimit else {
      return "its cells are not in their order, or there are more than \(SheetText.columnLimit) in a row"
    }
    column = next
    return nil
  }

  mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLStep {
    if isInValue {
      value += bytes
      return lines.bounded(value.count)
    }
    if !isInline { return .goOn }
    runs.text(bytes)
    return lines.bounded(runs.byteCount)
  }

  mutating func end(_ name: XMLName) -> XMLStep {
    if !isInData { return .goOn }
    switch name {
    case "v": isInValue = false
    case "c": return endCell()
    case "row":
      isInRow = false
      return lines.endRow()
    case "is": isInline = false
    case "sheetData": isInData = false
    default: if isInline { runs.end(name) }
    }
    return .goOn
  }

  // MARK: - Values

  private mutating func endCell() -> XMLStep {
    // A text that was computed may be empty; a number may not.
    if hasFormula && !hasInline, kind == .formulaText ? !hasValue : value.isEmpty {
      lines.note(.formulaWithoutValue)
    }
    switch kind {
    case .fault: lines.note(.errorCell)
    case _ where hasInline && (kind == .inline || !hasValue): write(runs.finish())
    case .inline, .formulaText: write(TextRuns.decoded(value))
    case .number:
      trim()
      writeNumber()
    case .shared:
      trim()
      readShared()
    case .truth:
      trim()
      if value.elementsEqual("true".utf8) { value = [UInt8(ascii: "1")] }
      if value.elementsEqual("false".utf8) { value = [UInt8(ascii: "0")] }
      write(value)
    case .moment:
      trim()
      write(CellDate.moment(value, hasTime: format() != .day))
    }
    return lines.bounded()
  }

  private mutating func write(_ text: [UInt8]) {
    if !text.isEmpty { lines.text.write(text, column: column) }
  }

  /// Takes blanks off both ends of the value: they are of the XML.
  private mutating func trim() {
    while let last = value.last, last <= 0x20 { value.removeLast() }
    if let first = value.first, first <= 0x20 { value.removeFirst(value.prefix { $0 <= 0x20 }.count) }
  }

  /// The format of the cell; none where the workbook has no styles.
  private mutating func format() -> CellFormat {
    if style < texts.formats.count { return texts.formats[style] }
    if !texts.formats.isEmpty {
      _ = lines.fail("a cell has style \(style), and there are \(texts.formats.count)")
    }
    return []
  }

  /// A number as it is stored, or the day and time that it is by its format.
  private mutating func writeNumber() {
    if value.isEmpty { return }
    let format = format()
    if !format.isEmpty, let number = Double(String(decoding: value, as: UTF8.self)),
      let text = CellDate.text(number, format, is1904: is1904)
    {
      write(text)
    } else {
      write(value)
    }
  }

  private mutating func readShared() {
    if value.isEmpty { return }
    guard let index = number(value), index < texts.count else {
      let shown = String(decoding: value.prefix(20), as: UTF8.self).escapedForTerminal
      _ = lines.fail("a cell names text \(shown), and there are \(texts.count)")
      return
    }
    value.removeAll(keepingCapacity: true)
    do throws(UpsurgeError) {
      try texts.texts.withLock { (texts) throws(UpsurgeError) in try texts.read(index, into: &value) }
      write(value)
    } catch {
      lines.failure = error
    }
  }

  /// A number in digits; nil for anything else, and for more than there can be texts.
  private func number(_ digits: [UInt8]) -> Int? {
    var number = 0
    for byte in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), number < 1 << 40 else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// An attribute in a message.
  private static func shown(_ text: UnsafePointer<CChar>) -> String {
    String(String(cString: text).prefix(20)).escapedForTerminal
  }
}
