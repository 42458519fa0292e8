/// Writes each row that is inserted, updated or deleted as one JSON object a line, for `--changes` and
/// `--dry-run=diff`.
///
///     {"op":"update","table":"t","key":{"id":7},"before":{"n":1},"after":{"n":2},"file":"a.csv","record":3}
///
/// An insert has no `before`, a delete no `after`, an update only the columns that changed. Integers are exact, a real
/// always has a point or an exponent (infinity is `9e999`), a BLOB is `{"$base64":true,"encoded":"AP8="}`.
package final class ChangeFile {
  private let file: OutputFile
  /// The option that named it, as a run's row has it.
  package let option: String
  private var table = ""
  private var columns: [String] = []
  /// Indexes of the key's columns; empty where rows have none.
  private var keyColumns: [Int] = []
  private var text = JSONText()

  /// A place in what was written, which holds until the next commit.
  package struct Mark {
    fileprivate let place: OutputFile.Mark
  }

  init(_ file: OutputFile, option: String) { (self.file, self.option) = (file, option) }

  /// Makes the file that the options name.
  /// - Parameter resumed: the earlier part of the run; what that has committed stays.
  /// - Returns: nil where changes are not asked for.
  /// - Throws: `cannotCreate`; `databaseBusy` for a file that another process writes.
  package static func make(
    _ options: LoadOptions.Output, resumed: RunRecord?, note: (RunNote) -> Void
  ) throws(UpsurgeError) -> ChangeFile? {
    guard let path = options.changesOutput else { return nil }
    let option = options.changesOption
    let file = try Preview.file(path, option, resumed?.position.outputLengths ?? [:], note)
    return ChangeFile(file, option: option.text)
  }

  /// Says what the rows are from now on.
  /// - Parameter key: the columns that name a row; empty where none do.
  package func begin(table: String, columns: [String], key: [String]) {
    (self.table, self.columns) = (table, columns)
    keyColumns = key.compactMap { name in
      columns.firstIndex(of: name) ?? columns.firstIndex { SQLName.isSame($0, name) }
    }
  }

  /// Writes what became of a row; nothing where it stays as it was.
  /// - Parameters:
  ///   - position: of the record that the row is of; without a number where it is of none.
  ///   - before: the row as it was; nil of one that is new.
  ///   - after: the row as it is now; nil of one that has gone.
  package func write(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    let operation: String
    var shown = Array(columns.indices)
    switch outcome {
    case .inserted: operation = "insert"
    case .deleted: operation = "delete"
    case .updated:
      operation = "update"
      if let before, let after { shown = shown.filter { before[$0] != after[$0] } }
    case .unchanged, .stale, .ignored, .rejected, .quarantined: return
    }
    text.beginObject()
    text.key("op")
    text.string(operation)
    text.key("table")
    text.string(table)
    text.key("key")
    try write(before ?? after ?? [], keyColumns)
    if let before, outcome != .inserted {
      text.key("before")
      try write(before, shown)
    }
    if let after, outcome != .deleted {
      text.key("after")
      try write(after, shown)
    }
    text.key("file")
    text.string(position.file)
    text.key("record")
    if let record = position.record { text.number(record) } else { text.null() }
    text.endObject()
    text.newline()
    try file.append(text.bytes)
    text.removeAll()
  }

  // MARK: Transactions

  /// How long it is, what is not committed included; nil for standard output.
  package var length: UInt64? { file.length }

  /// The end of what was written.
  package var end: Mark { Mark(place: file.end) }

  /// Forgets what was written after a place.
  package func takeBack(to mark: Mark) throws(UpsurgeError) { try file.takeBack(to: mark.place) }

  /// Brings what was written to the disk, before the commit that it is about.
  package func willCommit() throws(UpsurgeError) { try file.sync() }

  /// What was written so far stays.
  package func didCommit() throws(UpsurgeError) { try file.keep() }

  /// Forgets what was written since the last commit.
  package func didRollBack() { file.discard() }

  // MARK: Values

  private func write(_ row: [SQLValue], _ indexes: [Int]) throws(UpsurgeError) {
    text.beginObject()
    for index in indexes where index < row.count {
      text.key(columns[index])
      try write(row[index])
    }
    text.endObject()
  }

  /// A value; a long one piece by piece, so that it is not held once more as JSON.
  private func write(_ value: SQLValue) throws(UpsurgeError) {
    switch value {
    case .text(let long) where long.utf8.count > ChangeFile.pieceByteCount:
      text.beginString()
      var rest = long.utf8[...]
      while !rest.isEmpty {
        let piece = rest.prefix(ChangeFile.pieceByteCount)
        if piece.withContiguousStorageIfAvailable({ text.appendToString($0) }) == nil {
          text.appendToString(piece)
        }
        rest = rest[piece.endIndex...]
        try writeOut()
      }
      text.endString()
    case .blob(let long) where long.count > ChangeFile.pieceByteCount:
      text.beginObject()
      text.key("$base64")
      text.bool(true)
      text.key("encoded")
      text.beginString()
      for start in stride(from: 0, to: long.count, by: ChangeFile.pieceByteCount) {
        let end = min(start + ChangeFile.pieceByteCount, long.count)
        text.appendToString(Base64.encode(Array(long[start..<end])).utf8)
        try writeOut()
      }
      text.endString()
      text.endObject()
    default: text.value(value)
    }
  }

  private func writeOut() throws(UpsurgeError) {
    try file.append(text.bytes)
    text.removeWritten()
  }

  /// A multiple of three, so that Base64 has no padding within.
  private static let pieceByteCount = 48 << 10
}

extension JSONText {
  /// A value as SQLite stores it (NaN as NULL); reading it back gives the same value and type.
  mutating func value(_ value: SQLValue) {
    switch value {
    case .null: null()
    case .integer(let number): self.number(number)
    case .real(let number): exact(number)
    case .text(let text): string(text)
    case .blob(let bytes):
      beginObject()
      key("$base64")
      bool(true)
      key("encoded")
      string(Base64.encode(bytes))
      endObject()
    }
  }
}
