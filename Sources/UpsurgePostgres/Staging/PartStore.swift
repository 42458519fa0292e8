/// Stores a part of a batch.
protocol PartStore {
  /// Stores the records of a range of places in a savepoint, and counts them once all of them are stored.
  /// - Parameter head: SQL that begins the savepoint.
  /// - Throws: where it fails, the savepoint stays for the caller, as it does when it is done.
  mutating func store(
    _ part: Range<Int>, count: Int, after head: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure)

  /// What the last call has stored is taken back, although nothing was against it.
  mutating func takeBackLast() throws(PostgresFailure)

  /// Gets ready for many small parts.
  mutating func beginSearch() throws(PostgresFailure)

  /// Takes records out that were found to be bad in another way.
  mutating func leaveOut(_ ords: [Int]) throws(PostgresFailure)

  /// Runs a query that gives places of a range.
  /// - Parameter query: the statement for a source of records and a range.
  mutating func places(
    in part: Range<Int>, _ query: (_ source: String, _ part: Range<Int>) -> String,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int]
}

extension PartStore {
  func takeBackLast() throws(PostgresFailure) {}

  /// Asks a query that may fail.
  /// - Parameter savepoint: the name of one, to which it goes back.
  /// - Returns: nil where it has failed.
  mutating func places(
    in part: Range<Int>, after savepoint: String, on connection: PostgresConnection,
    _ outcomes: inout BatchOutcomes,
    _ query: (_ source: String, _ part: Range<Int>) -> String
  ) throws(PostgresFailure) -> [Int]? {
    try connection.run("SAVEPOINT \(savepoint)")
    do {
      let places = try places(in: part, query, &outcomes)
      try connection.run("RELEASE \(savepoint)")
      return places
    } catch {
      guard connection.isOpen, [.record, .privilege, .schemaChanged, .other].contains(error.kind) else {
        throw error
      }
      try connection.run(Savepoints.takingBack(savepoint))
      return nil
    }
  }
}
