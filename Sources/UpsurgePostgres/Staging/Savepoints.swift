/// The savepoints of one transaction, in which parts of a batch are tried.
///
///     head()                         SAVEPOINT upsurge_part; SET CONSTRAINTS ALL IMMEDIATE
///     keep(), and the next head()    RELEASE upsurge_part; SAVEPOINT …
///     takeBack(), and the next one   ROLLBACK TO upsurge_part; RELEASE upsurge_part; SAVEPOINT …
///     settle(on:)                    what the last part still needs
///
/// What ends a part goes with what begins the next one, so that each part costs one message.
///
/// One that has written something stays a subtransaction until the transaction ends. A server keeps 64 of them at hand. With
/// more, each session that meets a row of the transaction looks on the disk for whose it is. So a batch ends early then, and
/// what is done can be committed: see `BatchParts`.
package struct Savepoints: Sendable, Equatable {
  /// How many of a transaction may have written.
  package static let limit = 64

  /// Whether there are any. Without, what a record makes fail ends the transaction.
  let areUsed: Bool
  /// Whether the server knows SET CONSTRAINTS.
  var knowsConstraints = true
  private let limit: Int
  /// Savepoints that stand.
  private(set) var count = 0
  /// What ends the last part.
  private var ending: [String] = []

  private static let part = "upsurge_part"

  private init(areUsed: Bool, limit: Int) { (self.areUsed, self.limit) = (areUsed, limit) }

  /// For a transaction that is to hold all of a batch.
  package static let unbounded = Savepoints(areUsed: true, limit: .max)
  package static let bounded = Savepoints(areUsed: true, limit: limit)
  package static let none = Savepoints(areUsed: false, limit: .max)

  var isSpent: Bool { count >= limit }

  /// Savepoints without an end, where any are used.
  var withoutLimit: Savepoints { areUsed ? .unbounded : self }

  /// Notes that one stands.
  mutating func note() { if areUsed { count += 1 } }

  // MARK: - Parts

  /// Begins a part, and ends the one before. What is only checked at the end of the transaction would fail in its COMMIT, where no
  /// record can be found any more; and a later record might mend what an earlier one has broken.
  /// - Returns: what is to run before the part's first statement.
  mutating func head() -> [String] {
    let before = ending
    ending = []
    return before + (areUsed ? ["SAVEPOINT \(Self.part)"] : [])
      + (knowsConstraints ? ["SET CONSTRAINTS ALL IMMEDIATE"] : [])
  }

  /// The part stands.
  mutating func keep() {
    if !areUsed { return }
    count += 1
    ending = ["RELEASE \(Self.part)"]
  }

  /// Nothing of the part is to stand; it may have failed.
  mutating func takeBack() {
    if areUsed { ending = ["ROLLBACK TO \(Self.part)", "RELEASE \(Self.part)"] }
  }

  /// Ends the last part, before something else is asked.
  /// - Parameter more: SQL that goes with it.
  mutating func settle(on connection: PostgresConnection, then more: String? = nil) throws(PostgresFailure) {
    let sql = ending + [more].compactMap { $0 }
    ending = []
    if !sql.isEmpty { try connection.run(sql.joined(separator: "; ")) }
  }

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
