import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a sheet as LibreOffice writes it (OpenDocument 1.3, part 3, chapter 9).
///
///     <table:table-row table:number-rows-repeated="3">
///       <table:table-cell office:value-type="float" office:value="1.5"><text:p>1,5</text:p></table:table-cell>
final class OpenDocumentSheet: SheetVisitor {
  private let sheet: String
  private var isInTable = false
  /// Tables in cells of the table.
  private var nestedDepth = 0
  private var column = 0
  private var rowCount = 1
  private var cellCount = 1
  private var isCovered = false
  /// What the attributes of the cell say; nil where its text says it.
  private var value: [UInt8]?
  private var isFault = false
  /// Elements that are open in the cell; -1 outside of cells.
  private var depth = -1
  private var paragraphs = SheetParagraphs()

  init(name: String, sheet: String, byteLimit: Int) {
    self.sheet = sheet
    super.init(name: name, byteLimit: byteLimit)
  }

  override func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    guard isInTable else {
      if name == "table", attributes.text("name") == sheet { isInTable = true }
      return .goOn
    }
    if name == "table" { nestedDepth += 1 }
    if nestedDepth > 0 { return .goOn }
    if depth >= 0 {
      depth += 1
      paragraphs.start(name, attributes, depth: depth)
      return .goOn
    }
    switch name {
    case "table-row":
      rowCount = max(attributes.number("number-rows-repeated") ?? 1, 1)
      rows.beginRow()
      column = 0
    case "table-cell", "covered-table-cell":
      isCovered = name == "covered-table-cell"
      startCell(attributes)
    default: break
    }
    return .goOn
  }

  private func startCell(_ attributes: XMLAttributes) {
    depth = 0
    paragraphs.begin()
    cellCount = max(attributes.number("number-columns-repeated") ?? 1, 1)
    let isMerged = attributes.number("number-columns-spanned") ?? 1 > 1 || attributes.number("number-rows-spanned") ?? 1 > 1
    if isMerged { notes.count(.mergedCells, row: rows.rowNumber) }
    isFault = attributes.exactly("calcext:value-type").map { XMLName.equals($0, "error") } ?? false
    value = nil
    guard let type = attributes.exactly("office:value-type") ?? attributes.value("value-type") else { return }
    switch XMLName(type) {
    case "float", "percentage", "currency":
      value = (attributes.exactly("office:value") ?? attributes.value("value")).map(Self.bytes)
    case "date": value = attributes.value("date-value").map(Self.bytes)
    case "time":
      value = attributes.value("time-value").map(Self.bytes)
      if let text = value { value = CellDate.time(duration: text) ?? text }
    case "boolean": value = [attributes.isTrue("boolean-value") ? UInt8(ascii: "1") : UInt8(ascii: "0")]
    case "string": value = attributes.value("string-value").map(Self.bytes)
    default: break
    }
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if depth <= 0 || nestedDepth > 0 { return }
    paragraphs.text(bytes)
    _ = fits(paragraphs.bytes)
  }

  override func end(_ name: XMLName) -> XMLStep {
    if failure != nil { return .stop }
    if !isInTable { return .goOn }
    if name == "table" {
      if nestedDepth == 0 { return .stop }
      nestedDepth -= 1
      if nestedDepth == 0 && depth > 0 { return .goOn }
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
    guard rows.isRowEmpty || rows.rowNumber + rowCount - 1 <= SheetText.rowLimit else {
      return fail("there are more than \(SheetText.rowLimit) rows")
    }
    return endRow(count: rowCount)
  }

  private func endCell() -> XMLStep {
    defer { column += cellCount }
    let text = value ?? paragraphs.bytes
    if isFault {
      notes.count(.errorCell, row: rows.rowNumber)
    } else if !text.isEmpty && !isCovered {
      guard column + cellCount <= SheetText.columnLimit else {
        return fail("there are more than \(SheetText.columnLimit) cells in a row")
      }
      for offset in 0..<cellCount {
        rows.write(text, column: column + offset)
        guard fits(text) else { return .stop }
      }
    }
    return .goOn
  }
}

/// The text of a cell: its paragraphs, with line feeds between them. Comments, and what is drawn in the cell, are no part of it.
struct SheetParagraphs {
  private(set) var bytes: [UInt8] = []
  private var count = 0
  private var isOpen = false
  /// The depth of an element whose text is left out.
  private var leftOutDepth = 0
  /// Blanks that follow one another are one, and none begins a paragraph.
  private var isAfterBlank = true

  /// More blanks than any cell has.
  private static let blankLimit = 32_767

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    (count, isOpen, leftOutDepth) = (0, false, 0)
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes, depth: Int) {
    if leftOutDepth > 0 { return }
    if depth == 1 {
      isOpen = name == "p"
      if isOpen && count > 0 { bytes.append(0x0A) }
      if isOpen { count += 1 }
      isAfterBlank = true
      return
    }
    switch name {
    case "s":
      let blankCount = min(attributes.number("c") ?? 1, Self.blankLimit)
      if isOpen { bytes += Array(repeating: 0x20, count: blankCount) }
    case "tab": if isOpen { bytes.append(0x09) }
    case "line-break": if isOpen { bytes.append(0x0A) }
    case "annotation", "ruby-text", "note", "frame": leftOutDepth = depth
    default: break
    }
  }

  mutating func end(depth: Int) {
    if depth == leftOutDepth { leftOutDepth = 0 }
    if depth == 1 { isOpen = false }
  }

  mutating func text(_ text: UnsafeBufferPointer<UInt8>) {
    guard isOpen, leftOutDepth == 0 else { return }
    for byte in text {
      let isBlank = byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
      if isBlank && isAfterBlank { continue }
      bytes.append(isBlank ? 0x20 : byte)
      isAfterBlank = isBlank
    }
  }
}

/// Looks for a sheet of an OpenDocument file, which has no list of them.
final class OpenDocumentSearch: XMLVisitor {
  /// What no sheet is called.
  static let none = "\u{0}"

  private(set) var failure: UpsurgeError?
  private let wanted: String?
  private(set) var names: [String] = []
  private(set) var visibleNames: [String] = []
  private var hiddenStyles: Set<String> = []
  private var style: String?
  private var tableDepth = 0
  private var exact: String?

  private static let limit = 10_000

  init(_ wanted: String?) { self.wanted = wanted }

  /// The sheet, once all was read that had to be.
  var found: String? {
    if let exact { return exact }
    guard let wanted else { return visibleNames.first ?? names.first }
    if let other = names.first(where: { $0.lowercased() == wanted.lowercased() }) { return other }
    return Int(wanted).flatMap { names.indices.contains($0 - 1) ? names[$0 - 1] : nil }
  }

  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "style": style = attributes.text("name")
    case "table-properties":
      let isHidden = attributes.value("display").map { XMLName.equals($0, "false") } ?? false
      if isHidden, let style, hiddenStyles.count < Self.limit { hiddenStyles.insert(style) }
    case "table":
      tableDepth += 1
      guard tableDepth == 1, let title = attributes.text("name") else { break }
      return take(title, isHidden: attributes.text("style-name").map(hiddenStyles.contains) ?? false)
    default: break
    }
    return .goOn
  }

  private func take(_ title: String, isHidden: Bool) -> XMLStep {
    if names.count >= Self.limit { return .stop }
    names.append(title)
    if !isHidden { visibleNames.append(title) }
    guard title == wanted || wanted == nil && !isHidden else { return .goOn }
    exact = title
    return .stop
  }

  func end(_ name: XMLName) -> XMLStep {
    if name == "table" { tableDepth -= 1 }
    return .goOn
  }

  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
}
