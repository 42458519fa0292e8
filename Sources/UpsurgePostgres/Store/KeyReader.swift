import UpsurgeRecords

/// Asks the server for values that only it can read: `Feb 29 2024` is the key 2024-02-29, and goes over the connection of that one.
struct KeyReader {
  let session: ServerSession
  /// The settings by which records are stored, so that a text means the same value.
  let settings: TransactionSettings

  /// Words for a moment that is another one when they are read again.
  private static let words = ["now", "today", "tomorrow", "yesterday"]

  /// Whether a text stands for another value each time.
  static func isOfTheMoment(_ text: String) -> Bool {
    let lower = text.lowercased()
    return words.contains { lower.contains($0) }
  }

  /// Values in the binary form of a column's type.
  /// - Returns: nil for each text that is no value of the type.
  func values(of column: PostgresColumn, spelled texts: [String]) throws(UpsurgeError) -> [[UInt8]?] {
    var values: [[UInt8]?] = []
    // Those that fail together come again in halves; the next ones are the last.
    var pieces = texts.isEmpty ? [] : [texts[...]]
    while let piece = pieces.popLast() {
      if let found = try read(piece, column) {
        values += found
      } else if piece.count == 1 {
        values.append(nil)
      } else {
        let middle = piece.startIndex + piece.count / 2
        pieces += [piece[middle...], piece[..<middle]]
      }
    }
    return values
  }

  /// - Returns: nil where one of the texts is no value.
  private func read(_ texts: ArraySlice<String>, _ column: PostgresColumn) throws(UpsurgeError) -> [[UInt8]]?
  {
    var list = JSONText()
    list.beginArray()
    for text in texts { list.string(text) }
    list.endArray()
    let sql =
      "SELECT value::\(column.castName ?? column.typeName) FROM json_array_elements_text($1::json)"
      + " WITH ORDINALITY AS list(value, place) ORDER BY place"
    return try session.asking { (connection) throws(PostgresFailure) -> [[UInt8]]? in
      defer { connection.rollback() }
      do throws(PostgresFailure) {
        try connection.run(settings.beginSQL)
        let result = try connection.run(sql, [.text(list.text)], wantsBinary: true)
        return (0..<result.rowCount).map { result.bytes($0, 0).map { [UInt8]($0) } ?? [] }
      } catch {
        if error.kind == .record { return nil }
        throw error
      }
    }
  }
}
