import UpsurgeRecords

/// Reads a sheet as Excel writes it (ECMA-376, part 1, 18.3.1).
///
///     <row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" s="1"><v>45292</v></c></row>
final class ExcelSheet: SheetVisitor {
  /// What the value of a cell is.
  private enum Kind {
    case number, shared, inline, formulaText, truth, fault, moment
  }

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

  init(name: String, texts: WorkbookTexts, is1904: Bool, byteLimit: Int) {
    (self.texts, self.is1904) = (texts, is1904)
    super.init(name: name, byteLimit: byteLimit)
  }

  // MARK: - Elements

  override func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
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

  private func startOutside(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "sheetData": isInData = true
    case "mergeCell":
      let row = attributes.value("ref").flatMap { CellPlace($0) }?.row
      notes.count(.mergedCells, row: row ?? 1)
    default: break
    }
    return .goOn
  }

  private func startRow(_ attributes: XMLAttributes) -> XMLStep {
    var number = rows.rowNumber + 1
    isNumbered = false
    if let text = attributes.value("r") {
      guard let given = XMLAttributes.number(text) else {
        return fail("a row has the number \(Self.shown(text))")
      }
      (number, isNumbered) = (given, true)
    }
    guard number > rows.rowNumber, number <= SheetText.rowLimit else {
      return fail("its rows are not in their order, or there are more than \(SheetText.rowLimit)")
    }
    rows.beginRow(after: number - rows.rowNumber)
    (isInRow, column) = (true, -1)
    return .goOn
  }

  private func startCell(_ attributes: XMLAttributes) -> XMLStep {
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
    if let problem = take(place) { return fail(problem) }
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
  private func take(_ text: UnsafePointer<CChar>?) -> Wording? {
    if !isInRow { return "a cell stands outside of the rows" }
    var next = column + 1
    if let text {
      guard let place = CellPlace(text) else {
        return "a cell stands at \(Self.shown(text)), which is no place"
      }
      if place.row != rows.rowNumber {
        // Where the row does not say which it is, its first cell does.
        guard !isNumbered, column < 0, place.row > rows.rowNumber, place.row <= SheetText.rowLimit else {
          return "the cell \(Self.shown(text)) stands in it"
        }
        rows.beginRow(after: place.row - rows.rowNumber)
      }
      next = place.column
    }
    guard next > column, next < SheetText.columnLimit else {
      return "its cells are not in their order, or there are more than \(SheetText.columnLimit) in a row"
    }
    column = next
    return nil
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if isInValue {
      value += bytes
      _ = fits(value.count)
    } else if isInline {
      runs.text(bytes)
      _ = fits(runs.byteCount)
    }
  }

  override func end(_ name: XMLName) -> XMLStep {
    if failure != nil { return .stop }
    if !isInData { return .goOn }
    switch name {
    case "v": isInValue = false
    case "c": return endCell()
    case "row":
      isInRow = false
      return endRow()
    case "is": isInline = false
    case "sheetData": isInData = false
    default: if isInline { runs.end(name) }
    }
    return .goOn
  }

  // MARK: - Values

  private func endCell() -> XMLStep {
    // A text that was computed may be empty; a number may not.
    if hasFormula, kind == .formulaText ? !hasValue : value.isEmpty {
      notes.count(.formulaWithoutValue, row: rows.rowNumber)
    }
    switch kind {
    case .fault: notes.count(.errorCell, row: rows.rowNumber)
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
      write(CellDate.moment(value, hasTime: format != .day))
    }
    return failure == nil && fits() ? .goOn : .stop
  }

  private func write(_ text: [UInt8]) {
    if !text.isEmpty { rows.write(text, column: column) }
  }

  /// Takes blanks off both ends of the value: they are of the XML.
  private func trim() {
    while let last = value.last, last <= 0x20 { value.removeLast() }
    if let first = value.first, first <= 0x20 { value.removeFirst(value.prefix { $0 <= 0x20 }.count) }
  }

  /// The format of the cell; none where the workbook has no styles.
  private var format: CellFormat {
    if style < texts.formats.count { return texts.formats[style] }
    if !texts.formats.isEmpty { _ = fail("a cell has style \(style), and there are \(texts.formats.count)") }
    return []
  }

  /// A number as it is stored, or the day and time that it is by its format.
  private func writeNumber() {
    if value.isEmpty { return }
    let format = format
    if !format.isEmpty, let number = Double(String(decoding: value, as: UTF8.self)),
      let text = CellDate.text(number, format, is1904: is1904)
    {
      write(text)
    } else {
      write(value)
    }
  }

  private func readShared() {
    if value.isEmpty { return }
    guard value.count < 12, let index = Int(String(decoding: value, as: UTF8.self)), index >= 0,
      index < texts.count
    else {
      _ = fail(
        "a cell names text \(String(decoding: value.prefix(20), as: UTF8.self).escapedForTerminal), and there are \(texts.count)"
      )
      return
    }
    value.removeAll(keepingCapacity: true)
    do throws(UpsurgeError) {
      try texts.texts.withLock { (texts) throws(UpsurgeError) in try texts.read(index, into: &value) }
      write(value)
    } catch {
      failure = error
    }
  }

  /// An attribute in a message.
  private static func shown(_ text: UnsafePointer<CChar>) -> String {
    String(String(cString: text).prefix(20)).escapedForTerminal
  }
}
