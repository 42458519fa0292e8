/// Writes each row that is inserted, updated or deleted as one JSON object a line, for `--changes` and
/// `--dry-run=diff`.
///
///     {"op":"update","table":"t","key":{"id":7},"before":{"n":1},"after":{"n":2},"file":"a.csv","record":3}
///
/// An insert has no `before`, a delete no `after`, an update only the columns that changed. Integers are exact, a real
/// always has a point or an exponent (infinity is `9e999`), a BLOB is `{"$base64":true,"encoded":"AP8="}`.
final class ChangeLog: RecordObserver {
  let wantedRows = ObservedRows.beforeAndAfter
  private let file: OutputFile
  private var table = ""
  private var columns: [String] = []
  /// Indexes of the key's columns; empty where rows have none.
  private var keyColumns: [Int] = []
  private var text = JSONText()
  /// Where in the file the records begin that may come once more.
  private var mark = OutputFile.Mark()

  init(file: OutputFile) { self.file = file }

  func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError) {
    table = plan.schema.name
    self.columns = columns.map { plan.schema.columns[$0].name }
    let key = plan.key?.columns ?? plan.schema.primaryKeyColumns
    keyColumns = key.compactMap { name in self.columns.firstIndex { SQLName.isSame($0, name) } }
  }

  func observe(
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

  func didHold() { mark = file.end }

  func didTakeBack() throws(UpsurgeError) { try file.takeBack(to: mark) }

  func willCommit() throws(UpsurgeError) { try file.sync() }

  func didCommit() throws(UpsurgeError) { try file.keep() }

  func didRollBack() { file.discard() }

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
    case .text(let long) where long.utf8.count > ChangeLog.pieceByteCount:
      text.beginString()
      var rest = long.utf8[...]
      while !rest.isEmpty {
        let piece = rest.prefix(ChangeLog.pieceByteCount)
        if piece.withContiguousStorageIfAvailable({ text.appendToString($0) }) == nil {
          text.appendToString(piece)
        }
        rest = rest[piece.endIndex...]
        try writeOut()
      }
      text.endString()
    case .blob(let long) where long.count > ChangeLog.pieceByteCount:
      text.beginObject()
      text.key("$base64")
      text.bool(true)
      text.key("encoded")
      text.beginString()
      for start in stride(from: 0, to: long.count, by: ChangeLog.pieceByteCount) {
        let end = min(start + ChangeLog.pieceByteCount, long.count)
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
