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
    case "s": write(0x20, count: min(attributes.number("c") ?? 1, Self.blankLimit))
    case "tab": write(0x09)
    case "line-break": write(0x0A)
    case "annotation", "ruby-text", "note", "frame": leftOutDepth = depth
    default: break
    }
  }

  /// Writes what no blank of the XML is a part of.
  private mutating func write(_ byte: UInt8, count: Int = 1) {
    if !isOpen { return }
    bytes.append(contentsOf: repeatElement(byte, count: count))
    isAfterBlank = false
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
