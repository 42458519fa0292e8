/// The text of a cell: its paragraphs, with line feeds between them. Comments, and what is drawn in the cell, are no part of it.
///
/// Blanks are kept, as LibreOffice writes and reads them. Those with a line end among them only lay the XML out: they are one blank,
/// or none at both ends of a paragraph.
struct SheetParagraphs {
  private(set) var bytes: [UInt8] = []
  private var count = 0
  private var isOpen = false
  /// Where the paragraph begins.
  private var start = 0
  /// The depth of an element whose text is left out.
  private var leftOutDepth = 0
  /// Blanks at the end of what was read so far, and whether a line ends among them.
  private var blanks: (count: Int, hasLineEnd: Bool) = (0, false)

  /// More blanks than any cell has.
  private static let blankLimit = 32_767

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    (count, isOpen, leftOutDepth, blanks) = (0, false, 0, (0, false))
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes, depth: Int) {
    if leftOutDepth > 0 { return }
    if depth == 1 {
      isOpen = name == "p"
      if isOpen && count > 0 { bytes.append(0x0A) }
      if isOpen { count += 1 }
      (start, blanks) = (bytes.count, (0, false))
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

  /// Writes what is said by an element.
  private mutating func write(_ byte: UInt8, count: Int = 1) {
    if !isOpen { return }
    settle()
    bytes.append(contentsOf: repeatElement(byte, count: count))
  }

  mutating func end(depth: Int) {
    if depth == leftOutDepth { leftOutDepth = 0 }
    if depth == 1 && isOpen {
      settle(isAtEnd: true)
      isOpen = false
    }
  }

  mutating func text(_ text: UnsafeBufferPointer<UInt8>) {
    guard isOpen, leftOutDepth == 0 else { return }
    for byte in text {
      if byte == 0x20 {
        blanks.count += 1
      } else if byte == 0x09 || byte == 0x0A || byte == 0x0D {
        blanks = (blanks.count + 1, true)
      } else if blanks.count > 0 {
        settle()
      }
      bytes.append(byte)
    }
  }

  /// Leaves of the blanks what the cell has of them.
  private mutating func settle(isAtEnd: Bool = false) {
    defer { blanks = (0, false) }
    if !blanks.hasLineEnd { return }
    bytes.removeLast(blanks.count)
    if bytes.count > start && !isAtEnd { bytes.append(0x20) }
  }
}
