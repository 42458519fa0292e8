import UpsurgeRecords

/// What is wrong with a workbook, as a person reads it.
enum WorkbookFault {
  /// Whatever is wrong with its parts, a spreadsheet program writes them anew.
  static let saveAgain = Wording("open it with a spreadsheet program, and save it again")

  /// A part that is not there, or says what it must not.
  static func broken(_ path: String, _ what: Wording) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(path)) is a workbook that cannot be read: \(saying: what)",
      position: Position(file: path), hint: saveAgain)
  }

  /// A sheet that says what it must not.
  static func broken(_ sheet: String, row: Int, _ what: Wording) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(sheet)) cannot be read on from row \(row): \(saying: what)",
      position: Position(file: sheet, line: UInt64(max(row, 1))), hint: saveAgain)
  }

  /// What does not fit in memory.
  static func tooLarge(_ name: String, _ what: Wording, limit: Int) -> UpsurgeError {
    let memory = "\((8 * limit + (1 << 20) - 1) >> 20)MiB"
    return UpsurgeError(
      .badInput, "\(saying: what) of \(SourceName.shown(name)) take more than \(sizeText(UInt64(limit))), a quarter of \(.memory)",
      position: Position(file: name), hint: "\(.memory, memory) has room for twice as much")
  }

  static func noSheet(_ path: String, _ wanted: String, known names: [String]) -> UpsurgeError {
    let more = names.count > 8 ? " and \(names.count - 8) more" : ""
    let list = names.prefix(8).map(\.escapedForTerminal).joined(separator: ", ") + more
    return UpsurgeError(
      .unreadableInput, "\(SourceName.shown(path)) has no sheet \(wanted.escapedForTerminal)",
      position: Position(file: path), hint: names.isEmpty ? "it has no sheet with cells" : "its sheets are: \(list)")
  }
}

/// What is to be said of a sheet once all of it was read.
package struct SheetNotes: Sendable {
  package struct Note: Sendable {
    package var code: WarningLog.Code
    package var count: UInt64
    /// The row of the first one.
    package var row: UInt64
  }

  private var counts: [WarningLog.Code: (count: UInt64, row: UInt64)] = [:]

  mutating func count(_ code: WarningLog.Code, row: Int) {
    let known = counts[code]
    counts[code] = ((known?.count ?? 0) + 1, known?.row ?? UInt64(max(row, 1)))
  }

  package var all: [Note] {
    counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { Note(code: $0.key, count: $0.value.count, row: $0.value.row) }
  }
}
