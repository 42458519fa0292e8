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
  /// A quarter of the memory.
  private let byteLimit: Int
  private let rowByteLimit: Int
  var failure: UpsurgeError?
  var rows: SheetText
  var notes = SheetNotes()

  init(name: String, byteLimit: Int) {
    (self.name, self.byteLimit, rowByteLimit) = (name, byteLimit, WorkbookFault.Share.row.limit(byteLimit))
    rows = SheetText()
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

  /// - Parameter byteCount: of a value that is not in the row yet.
  /// - Returns: whether the row fits in memory.
  @inline(__always)
  final func fits(_ byteCount: Int = 0) -> Bool {
    if byteCount <= rowByteLimit && rows.rowByteCount <= rowByteLimit { return true }
    failure = WorkbookFault.tooLarge(name, "the cells of row \(rows.rowNumber)", .row, byteLimit: byteLimit)
    return false
  }

  /// The bytes of an attribute.
  static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
