/// The savepoints of one transaction, in which parts of a batch are tried.
///
/// One that has written something stays a subtransaction until the transaction ends. A server keeps 64 of them at hand. With
/// more, each session that meets a row of the transaction looks on the disk for whose it is. So a batch ends early then, and
/// what is done can be committed: see `BatchParts`.
package struct Savepoints: Sendable {
  /// How many of a transaction may have written.
  package static let limit = 64

  /// The one around a part.
  static let part = "upsurge_part"

  /// Whether there are any. Without, what a record makes fail ends the transaction.
  let areUsed: Bool
  private let limit: Int
  /// Those that stand.
  private(set) var count = 0

  private init(areUsed: Bool, limit: Int) { (self.areUsed, self.limit) = (areUsed, limit) }

  /// For a transaction that is to hold all of a batch.
  static let unbounded = Savepoints(areUsed: true, limit: .max)
  static let bounded = Savepoints(areUsed: true, limit: limit)
  static let none = Savepoints(areUsed: false, limit: .max)

  var isSpent: Bool { count >= limit }

  /// Notes that one stands.
  mutating func note() { if areUsed { count += 1 } }

  // MARK: - SQL

  /// Begins a part. What is only checked at the end of the transaction would fail in its COMMIT, where no record can be found any
  /// more; and a later record might mend what an earlier one has broken.
  /// - Parameter knowsConstraints: some servers know no SET CONSTRAINTS.
  func head(knowsConstraints: Bool = true) -> [String] {
    (areUsed ? ["SAVEPOINT \(Self.part)"] : []) + (knowsConstraints ? ["SET CONSTRAINTS ALL IMMEDIATE"] : [])
  }

  /// Ends a part that stands.
  var release: [String] { areUsed ? ["RELEASE \(Self.part)"] : [] }

  /// Ends a part of which nothing is to stand.
  static let takingBack = takingBack(part)

  static func takingBack(_ name: String) -> String { "ROLLBACK TO \(name); RELEASE \(name)" }

  /// Runs what may fail because of a record, and takes it back then.
  /// - Parameter name: the savepoint's.
  /// - Returns: what `body` gives; nil where it failed, which ends the transaction without savepoints.
  func attempt<Result>(
    _ name: String, on connection: PostgresConnection, _ body: () throws(PostgresFailure) -> Result
  ) throws(PostgresFailure) -> Result? {
    if !areUsed { return try body() }
    try connection.run("SAVEPOINT \(name)")
    do {
      let result = try body()
      try connection.run("RELEASE \(name)")
      return result
    } catch {
      guard error.kind == .record else { throw error }
      try connection.run(Self.takingBack(name))
      return nil
    }
  }
}
