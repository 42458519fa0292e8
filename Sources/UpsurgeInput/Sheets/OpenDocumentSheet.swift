import UpsurgeRecords

/// Reads a sheet as LibreOffice writes it (OpenDocument 1.3, part 3, chapter 9).
///
///     <table:table-row table:number-rows-repeated="3">
///       <table:table-cell office:value-type="float" office:value="1.5"><text:p>1,5</text:p></table:table-cell>
struct OpenDocumentSheet: SheetVisitor {
  var lines: SheetLines
  /// The place of the sheet among the tables, from 1.
  private let number: Int
  private var tableNumber = 0
  /// Tables that are open before it comes.
  private var tableDepth = 0
  private var isInTable = false
  /// Tables in cells of the table.
  private var nestedDepth = 0
  private var column = 0
  private var rowCount = 1
  private var cellCount = 1
  private var hasFormula = false
  /// What the attributes of the cell say; nil where its text says it.
  private var value: [UInt8]?
  private var isFault = false
  /// Elements that are open in the cell; -1 outside of cells.
  private var depth = -1
  private var paragraphs = SheetParagraphs()

  init(_ lines: SheetLines, _ sheet: Workbook.Sheet) { (self.lines, number) = (lines, sheet.number) }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    guard isInTable else {
      if name == "table" { startTable(attributes) }
      return .goOn
    }
    if name == "table" { nestedDepth += 1 }
    if nestedDepth > 0 { return .goOn }
    if depth >= 0 {
      depth += 1
      paragraphs.start(name, attributes, depth: depth)
      return lines.bounded(paragraphs.bytes.count)
    }
    switch name {
    case "table-row":
      // What no sheet has stays within what can be counted.
      rowCount = min(max(attributes.number("number-rows-repeated") ?? 1, 1), SheetText.rowLimit + 1)
      lines.text.beginRow()
      column = 0
    // What lies below a merged cell may have a value of its own, as in other programs' sheets.
    case "table-cell", "covered-table-cell": startCell(attributes)
    default: break
    }
    return .goOn
  }

  private mutating func startTable(_ attributes: XMLAttributes) {
    tableDepth += 1
    guard tableDepth == 1, attributes.value("name") != nil else { return }
    tableNumber += 1
    isInTable = tableNumber == number
  }

  private mutating func startCell(_ attributes: XMLAttributes) {
    depth = 0
    paragraphs.begin()
    cellCount = min(max(attributes.number("number-columns-repeated") ?? 1, 1), SheetText.columnLimit + 1)
    hasFormula = attributes.value("formula") != nil
    let isMerged =
      attributes.number("number-columns-spanned") ?? 1 > 1
      || attributes.number("number-rows-spanned") ?? 1 > 1
    if isMerged { lines.note(.mergedCells) }
    isFault = attributes.exactly("calcext:value-type").map { XMLName.equals($0, "error") } ?? false
    value = nil
    guard let type = attributes.exactly("office:value-type") ?? attributes.value("value-type") else { return }
    switch XMLName(type) {
    case "float", "percentage", "currency":
      value = (attributes.exactly("office:value") ?? attributes.value("value")).map(XMLAttributes.bytes)
    case "date": value = attributes.value("date-value").map(XMLAttributes.bytes)
    case "time":
      value = attributes.value("time-value").map(XMLAttributes.bytes)
      if let text = value { value = CellDate.time(duration: text) ?? text }
    case "boolean": value = [attributes.isTrue("boolean-value") ? UInt8(ascii: "1") : UInt8(ascii: "0")]
    case "string": value = attributes.value("string-value").map(XMLAttributes.bytes)
    default: break
    }
  }

  mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLStep {
    if depth <= 0 || nestedDepth > 0 { return .goOn }
    paragraphs.text(bytes)
    return lines.bounded(paragraphs.bytes.count)
  }

  mutating func end(_ name: XMLName) -> XMLStep {
    guard isInTable else {
      if name == "table" { tableDepth -= 1 }
      return .goOn
    }
    if name == "table" {
      if nestedDepth == 0 { return .stop }
      nestedDepth -= 1
      return .goOn
    }
    if nestedDepth > 0 { return .goOn }
    if depth > 0 {
      paragraphs.end(depth: depth)
      depth -= 1
      return .goOn
    }
    if depth == 0 {
      depth = -1
      return endCell()
    }
    guard name == "table-row" else { return .goOn }
    guard lines.text.isRowEmpty || lines.text.rowNumber + rowCount - 1 <= SheetText.rowLimit else {
      return lines.fail("there are more than \(SheetText.rowLimit) rows")
    }
    return lines.endRow(count: rowCount)
  }

  private mutating func endCell() -> XMLStep {
    defer { column += cellCount }
    let text = value ?? paragraphs.bytes
    if isFault || isOldFault {
      lines.note(.errorCell)
      return .goOn
    }
    // A formula whose text is empty stands there as one that was never computed.
    if text.isEmpty { return .goOn }
    guard column + cellCount <= SheetText.columnLimit else {
      return lines.fail("there are more than \(SheetText.columnLimit) cells in a row")
    }
    for offset in 0..<cellCount {
      lines.text.write(text, column: column + offset)
      if lines.bounded(text.count) == .stop { return .stop }
    }
    return .goOn
  }

  /// Whether it is an error as programs wrote it that had no type for it: `#N/A` or `Err:502`, and no value.
  private var isOldFault: Bool {
    guard hasFormula, let value, value.isEmpty else { return false }
    return paragraphs.bytes.first == UInt8(ascii: "#") || paragraphs.bytes.starts(with: Array("Err:".utf8))
  }
}
