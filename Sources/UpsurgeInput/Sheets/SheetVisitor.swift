import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes records of the cells of one sheet.
class SheetVisitor: XMLVisitor {
  /// The file and the sheet, as positions name it.
  let name: String
  let byteLimit: Int
  var failure: UpsurgeError?
  var rows: SheetText
  var notes = SheetNotes()

  init(name: String, byteLimit: Int) {
    (self.name, self.byteLimit) = (name, byteLimit)
    rows = SheetText(rowByteLimit: byteLimit)
  }

  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep { .goOn }
  func end(_ name: XMLName) -> XMLStep { .goOn }
  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}

  /// Ends the row, and waits where enough was made.
  final func endRow(count: Int = 1) -> XMLStep {
    rows.endRow(count: count)
    return rows.isFull ? .suspend : .goOn
  }

  final func fail(_ what: Wording) -> XMLStep {
    failure = WorkbookFault.broken(name, row: rows.rowNumber, what)
    return .stop
  }

  /// - Returns: whether a value is one that fits in memory.
  final func fits(_ value: [UInt8]) -> Bool {
    if value.count <= byteLimit && !rows.isRowTooLarge { return true }
    failure = WorkbookFault.tooLarge(name, "the cells of row \(rows.rowNumber)", limit: byteLimit)
    return false
  }

  /// The bytes of an attribute.
  static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
