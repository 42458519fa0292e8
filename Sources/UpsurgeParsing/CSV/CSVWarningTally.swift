import UpsurgeRecords

/// Counts a parser's warnings by number, so that a warning per record costs no look-up by name; handed to the
/// batch's `WarningLog` at the end of each call.
struct CSVWarningTally {
  /// Warnings about records, not values.
  enum Kind: Int, CaseIterable {
    case blankLine, comment, padded, surplusEmpty, byteOrderMark, repeatedHeader, trailingComment, footerLike

    var code: WarningLog.Code {
      switch self {
      case .blankLine: .blankLine
      case .comment: .comment
      case .padded: .padded
      case .surplusEmpty: .surplusEmpty
      case .byteOrderMark: .byteOrderMark
      case .repeatedHeader: .repeatedHeader
      case .trailingComment: .trailingComment
      case .footerLike: .footerLike
      }
    }
  }

  private struct Entry {
    var count: UInt64 = 0
    var first: Position?
  }

  /// One for each kind, then two for each column: spelling changed, text in a number column.
  private var entries: [Entry]
  /// Indices of entries with a count, in order of first appearance.
  private var touched: [Int] = []

  init(columnCount: Int) {
    entries = Array(repeating: Entry(), count: Kind.allCases.count + 2 * columnCount)
  }

  /// Makes room for one column more.
  mutating func addColumn() { entries += [Entry(), Entry()] }

  var isEmpty: Bool { touched.isEmpty }

  /// Counts one more of what was counted before.
  /// - Returns: false where it is the first; then it is not counted.
  @inline(__always)
  mutating func countAgain(_ kind: Kind) -> Bool {
    if entries[kind.rawValue].count == 0 { return false }
    entries[kind.rawValue].count += 1
    return true
  }

  mutating func count(_ kind: Kind, at position: Position) {
    count(entry: kind.rawValue, at: position)
  }

  mutating func count(
    _ note: ConversionNote, inSlot slot: Int, at position: Position
  ) {
    let first = Kind.allCases.count + 2 * slot
    count(entry: note == .textInNumberColumn ? first + 1 : first, at: position)
  }

  private mutating func count(entry: Int, at position: Position) {
    if entries[entry].count == 0 {
      entries[entry].first = position
      touched.append(entry)
    }
    entries[entry].count += 1
  }

  /// Adds what was counted to `log` and starts anew.
  mutating func move(to log: inout WarningLog, naming columns: [ColumnTarget], file: String) {
    for index in touched {
      let slot = (index - Kind.allCases.count) / 2
      let kind = Kind(rawValue: index)
      let noteCode: WarningLog.Code =
        (index - Kind.allCases.count) % 2 == 0 ? .spellingChanged : .textInNumberColumn
      log.add(
        kind?.code ?? noteCode, column: kind == nil ? columns[slot].name : nil, count: entries[index].count,
        at: entries[index].first ?? Position(file: file))
      entries[index] = Entry()
    }
    touched.removeAll(keepingCapacity: true)
  }
}
