/// Finds all records at once of which a column that is sent as text is not of its type, by `pg_input_is_valid`, which version 16 has.
///
/// It is asked once, after the first value that failed. What it finds is tried, so it may be wrong.
struct InputFilter {
  private let connection: PostgresConnection
  private let shape: RecordShape
  private let columns: [PostgresColumn]
  private var wasAsked = false

  private static let leastVersion = 16_00_00

  /// - Returns: nil where no column is text, or the server cannot say.
  init?(_ connection: PostgresConnection, _ shape: RecordShape) {
    self.connection = connection
    self.shape = shape
    columns = shape.columns.filter { shape.binary($0).form == .castText }
    if columns.isEmpty || connection.versionNumber < Self.leastVersion { return nil }
  }

  /// Whether a failure is about a value, and none was before.
  func isToAsk(_ failure: PostgresFailure) -> Bool { !wasAsked && failure.sqlState.hasPrefix("22") }

  /// The places of the records with such a value; nil where the server cannot say.
  mutating func find<Store: PartStore>(
    _ part: Range<Int>, in store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int]? {
    wasAsked = true
    // Without a length, which the search finds; and "bit" alone would be one of one bit.
    let tests = columns.map {
      "pg_input_is_valid(s.\($0.name.quotedForPostgres), format_type(\($0.type), -1))"
    }
    let shape = shape
    // An input function that only knows how to fail, fails here.
    return try store.places(in: part, after: "upsurge_input", on: connection, &outcomes) { source, part in
      "SELECT s.upsurge_ord FROM \(source) AS s WHERE \(shape.slice(part)) AND NOT (\(tests.joined(separator: " AND ")))"
    }
  }
}
