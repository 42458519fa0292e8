import UpsurgeRecords

/// Makes records of the cells of one sheet.
protocol SheetVisitor: XMLVisitor {
  var lines: SheetLines { get set }
}

extension SheetVisitor {
  var failure: UpsurgeError? { lines.failure }
}

/// What the cells of a sheet became so far.
struct SheetLines {
  /// The file and the sheet, as positions name it.
  private let name: String
  /// A quarter of the memory.
  private let byteLimit: Int
  private let rowByteLimit: Int
  var failure: UpsurgeError?
  var text = SheetText()
  var notes = SheetNotes()

  init(_ name: String, byteLimit: Int) {
    (self.name, self.byteLimit, rowByteLimit) = (name, byteLimit, WorkbookFault.Share.row.limit(byteLimit))
  }

  /// Ends the row, and waits where enough was made.
  mutating func endRow(count: Int = 1) -> XMLStep {
    text.endRow(count: count)
    return text.isFull ? .suspend : .goOn
  }

  mutating func note(_ code: WarningLog.Code) { notes.count(code, row: text.rowNumber) }

  mutating func fail(_ what: Wording) -> XMLStep {
    failure = WorkbookFault.broken(name, row: text.rowNumber, what)
    return .stop
  }

  /// Goes on where the row fits in memory.
  /// - Parameter byteCount: of a value that is not in the row yet.
  @inline(__always)
  mutating func bounded(_ byteCount: Int = 0) -> XMLStep {
    if byteCount <= rowByteLimit && text.rowByteCount <= rowByteLimit && failure == nil { return .goOn }
    return tooLarge()
  }

  @inline(never)
  private mutating func tooLarge() -> XMLStep {
    failure =
      failure
      ?? WorkbookFault.tooLarge(name, "the cells of row \(text.rowNumber)", .row, byteLimit: byteLimit)
    return .stop
  }
}

/// Reads a sheet, whatever kind of workbook it is of.
protocol SheetReader: AnyObject {
  func feed(_ bytes: UnsafeRawBufferPointer) throws(UpsurgeError) -> XMLReader.Outcome
  func resume() throws(UpsurgeError) -> XMLReader.Outcome
  /// As `SheetText.take(into:)`.
  func take(into buffer: UnsafeMutableRawBufferPointer) -> Int
  /// Ends the sheet.
  func end()
  var notes: SheetNotes { get }
}

extension XMLReading: SheetReader where Visitor: SheetVisitor {
  func take(into buffer: UnsafeMutableRawBufferPointer) -> Int { change { $0.lines.text.take(into: buffer) } }
  func end() { change { $0.lines.text.end() } }
  var notes: SheetNotes { change { $0.lines.notes } }
}
