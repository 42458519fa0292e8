import UpsurgeRecords

/// What is wrong with a workbook, as a person reads it.
enum WorkbookFault {
  /// Whatever is wrong with its parts, a spreadsheet program writes them anew.
  static let saveHint: Wording = "open it with a spreadsheet program, and save it again"

  /// A part that is not there, or says what it must not.
  static func broken(_ path: String, _ what: Wording) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(path)) is a workbook that cannot be read: \(saying: what)",
      position: Position(file: path), hint: saveHint)
  }

  /// A sheet that says what it must not.
  static func broken(_ sheet: String, row: Int, _ what: Wording) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(sheet)) cannot be read on from row \(row): \(saying: what)",
      position: Position(file: sheet, line: UInt64(max(row, 1))), hint: saveHint)
  }

  /// How much of the memory something may take.
  enum Share {
    /// All shared texts, most of which are in a file.
    case texts
    /// What a workbook says of its parts.
    case parts
    /// One row, of which there are several copies.
    case row

    /// - Parameter byteLimit: a quarter of the memory.
    func limit(_ byteLimit: Int) -> Int {
      switch self {
      case .texts: 64 * byteLimit
      case .parts: byteLimit
      case .row: byteLimit / 4
      }
    }

    fileprivate var words: String {
      switch self {
      case .texts: "sixteen times"
      case .parts: "a quarter of"
      case .row: "a sixteenth of"
      }
    }
  }

  /// What is larger than it may be.
  /// - Parameter byteLimit: a quarter of the memory.
  static func tooLarge(_ name: String, _ what: Wording, _ share: Share, byteLimit: Int) -> UpsurgeError {
    let memory = "\((8 * byteLimit + (1 << 20) - 1) >> 20)MiB"
    return UpsurgeError(
      .badInput,
      "\(saying: what) of \(SourceName.shown(name)) take more than \(sizeText(UInt64(share.limit(byteLimit)))), \(share.words) \(.memory)",
      position: Position(file: name), hint: "\(.memory, memory) has room for twice as much")
  }

  static func encrypted(_ path: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(path)) is encrypted, and encrypted workbooks are not read",
      position: Position(file: path),
      hint: "open it with its password, and save it without one")
  }

  /// A file that somebody else writes to.
  static func changed(_ path: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(path)) was changed while it was opened", position: Position(file: path),
      hint: "load it when its writer is done; writers should write to a new name and rename")
  }

  static func noSheet(_ path: String, _ wanted: String, known names: [String]) -> UpsurgeError {
    let more = names.count > 8 ? " and \(names.count - 8) more" : ""
    let list = names.prefix(8).map(\.escapedForTerminal).joined(separator: ", ") + more
    return UpsurgeError(
      .unreadableInput, "\(SourceName.shown(path)) has no sheet \(wanted.escapedForTerminal)",
      position: Position(file: path),
      hint: names.isEmpty ? "it has no sheet with cells" : "its sheets are: \(list)")
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
    counts.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      Note(code: $0.key, count: $0.value.count, row: $0.value.row)
    }
  }
}
