/// Stores a part of a batch.
protocol PartStore {
  /// Stores the records of a range of places in the savepoint `Savepoints.part`, and counts them.
  /// - Parameter ending: SQL that ends the savepoint.
  /// - Throws: where it fails, the savepoint stays for the caller.
  mutating func store(
    _ part: Range<Int>, count: Int, ending: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure)

  /// Gets ready for many small parts.
  mutating func beginHalves() throws(PostgresFailure)

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

/// Finds the records that cannot be stored: a part that fails is taken back and tried as two halves.
///
///     0..<8 fails
///       0..<4 is stored
///       4..<8 must fail, so it is not tried
///         4..<6 fails
///           4 fails: rejected
///           5 is stored
///         6..<8 is stored
///
/// So rows, counts and rejects are those of storing the records one by one. The places are those of arrival. So it can end where
/// the transaction has as many savepoints as it should, and all records before that place are done.
///
/// Many bad records are found at once where something is known of them: `ConstraintFilter`, `InputFilter`.
struct Halving {
  private static let patience = 8

  private let connection: PostgresConnection
  /// The number in the batch of the record at each place.
  private let records: [Int32]
  /// Places that are rejected.
  private var isOut: [Bool]
  private var filter: ConstraintFilter?
  private var inputs: InputFilter?
  private(set) var savepoints: Savepoints
  private var hasBegun = false
  private var isStopped = false
  private let end: Int

  /// - Parameter records: the number in the batch of the record at each place.
  init(_ connection: PostgresConnection, _ shape: RecordShape, records: [Int32], _ savepoints: Savepoints) {
    self.connection = connection
    self.records = records
    filter = ConstraintFilter(connection, shape)
    inputs = InputFilter(connection, shape)
    self.savepoints = savepoints
    isOut = Array(repeating: false, count: records.count)
    end = records.count
  }

  /// Stores all records, or finds those that cannot be.
  /// - Parameter failure: what all of them have met with already, which was taken back.
  mutating func apply<Store: PartStore>(
    after failure: PostgresFailure? = nil, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if let failure {
      _ = try handle(failure, 0..<end, with: &store, &outcomes)
    } else {
      _ = try apply(0..<end, isKnownBad: false, with: &store, &outcomes)
    }
  }

  /// Of places: those that are left.
  private func count(of part: Range<Int>) -> Int {
    var count = 0
    for place in part where !isOut[place] { count += 1 }
    return count
  }

  /// - Returns: whether all of it was stored.
  private mutating func apply<Store: PartStore>(
    _ part: Range<Int>, isKnownBad: Bool, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    let count = count(of: part)
    if count == 0 || isStopped { return true }
    if isKnownBad && count > 1 { return try halve(part, with: &store, &outcomes) }
    if savepoints.isSpent {
      isStopped = true
      outcomes.next = part.first { !isOut[$0] }.map { Int(records[$0]) }
      return true
    }
    do {
      try store.store(part, count: count, ending: savepoints.release, &outcomes)
      savepoints.note()
      return true
    } catch {
      guard error.kind == .record, savepoints.areUsed else { throw error }
      try connection.run(Savepoints.takingBack)
      return try handle(error, part, with: &store, &outcomes)
    }
  }

  private mutating func handle<Store: PartStore>(
    _ failure: PostgresFailure, _ part: Range<Int>, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    if count(of: part) == 1, let place = part.first(where: { !isOut[$0] }) {
      reject(place, failure, &outcomes)
      _ = filter?.hasOften(failure)
      return false
    }
    if !hasBegun {
      hasBegun = true
      try store.beginHalves()
    }
    if let places = try suspects(failure, part.lowerBound..<end, in: &store, &outcomes),
      try reject(found: places, with: &store, &outcomes)
    {
      _ = try apply(part, isKnownBad: false, with: &store, &outcomes)
      return false
    }
    return try halve(part, with: &store, &outcomes)
  }

  /// The places of which a filter says that they fail as well.
  private mutating func suspects<Store: PartStore>(
    _ failure: PostgresFailure, _ part: Range<Int>, in store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int]? {
    if let places = try inputs?.find(failure, part, in: &store, &outcomes) { return places }
    guard filter?.hasOften(failure) == true else { return nil }
    return try filter?.find(failure, part, in: &store, &outcomes)
  }

  /// Tries the records that a filter has found, each alone, and takes that back: so the server says what is wrong with each. One
  /// that it would store stays, and is stored in its turn.
  /// - Returns: whether any was rejected.
  private mutating func reject<Store: PartStore>(
    found places: [Int], with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    var bad: [Int] = []
    var storedCount = 0
    // A filter that is wrong so often is not to be trusted.
    for place in places where !isOut[place] && storedCount < Self.patience {
      let counts = outcomes.counts
      do {
        try store.store(place..<place + 1, count: 1, ending: [Savepoints.takingBack], &outcomes)
        storedCount += 1
      } catch {
        guard error.kind == .record else { throw error }
        try connection.run(Savepoints.takingBack)
        reject(place, error, &outcomes)
        bad.append(place)
      }
      outcomes.counts = counts
    }
    if bad.isEmpty { return false }
    outcomes.statementCount += 1
    try store.leaveOut(bad)
    return true
  }

  private mutating func halve<Store: PartStore>(
    _ part: Range<Int>, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    let middle = middle(of: part)
    let isFirstWhole = try apply(part.lowerBound..<middle, isKnownBad: false, with: &store, &outcomes)
    // If it was not the first half, it is the second one.
    _ = try apply(middle..<part.upperBound, isKnownBad: isFirstWhole, with: &store, &outcomes)
    return false
  }

  /// Where as many places are left before as after.
  private func middle(of part: Range<Int>) -> Int {
    let half = count(of: part) / 2
    var count = 0
    for place in part where !isOut[place] {
      if count == half { return place }
      count += 1
    }
    return part.lowerBound + part.count / 2
  }

  private mutating func reject(_ place: Int, _ failure: PostgresFailure, _ outcomes: inout BatchOutcomes) {
    isOut[place] = true
    outcomes.rejected.append(BatchOutcomes.Rejected(record: Int(records[place]), cause: .failure(failure)))
  }
}
