/// Stores a part of a batch within the savepoint `upsurge_part`, which it makes and releases.
protocol PartStore {
  /// Stores the records of a range of places, and counts them.
  /// - Throws: where it fails, the savepoint stays for the caller.
  mutating func store(_ part: Range<Int>, count: Int, _ outcomes: inout BatchOutcomes) throws(PostgresFailure)

  /// Takes records out that were found to be bad in another way.
  mutating func leaveOut(_ ords: [Int]) throws(PostgresFailure)

  /// Runs a query that gives places of a range.
  /// - Parameter query: the statement for a source of records and a range.
  mutating func places(
    in part: Range<Int>, _ query: (_ source: String, _ part: Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int]
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
/// So rows, counts and rejects are those of storing the records one by one. Of a constraint that fails often, all bad records are
/// found at once by its own expression: `ConstraintFilter`.
struct Halving {
  /// Begins a part. What is only checked at the end of the transaction would fail in its COMMIT, where no record can be found any
  /// more; and a later record might repair what an earlier one has broken.
  static let head = "SAVEPOINT upsurge_part; SET CONSTRAINTS ALL IMMEDIATE"

  private static let detailedCount = 16

  private let connection: PostgresConnection
  /// The number in the batch of the record at each place.
  private let records: [Int32]
  /// Places that are to be left out: rejected, or not to be written.
  private var isOut: [Bool]
  private var filter: ConstraintFilter?
  /// Where the part ends that was asked for: what is beyond it is not to be written yet.
  private var end = 0

  init(_ connection: PostgresConnection, records: [Int32], filter: ConstraintFilter?) {
    self.connection = connection
    self.records = records
    self.filter = filter
    isOut = Array(repeating: false, count: records.count)
  }

  /// Of places: those that are left.
  func count(of part: Range<Int>) -> Int {
    var count = 0
    for place in part where !isOut[place] { count += 1 }
    return count
  }

  /// Leaves out places that have nothing to be written.
  mutating func keep(only places: [Int], in part: Range<Int>) {
    for place in part { isOut[place] = true }
    for place in places { isOut[place] = false }
  }

  /// Stores a part, or finds the records of it that cannot be.
  mutating func apply<Store: PartStore>(
    _ part: Range<Int>, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    end = part.upperBound
    filter?.begin()
    _ = try apply(part, isKnownBad: false, with: &store, &outcomes)
  }

  /// - Returns: whether all of it was stored.
  private mutating func apply<Store: PartStore>(
    _ part: Range<Int>, isKnownBad: Bool, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    let count = count(of: part)
    if count == 0 { return true }
    if isKnownBad && count > 1 { return try halve(part, with: &store, &outcomes) }
    do {
      try store.store(part, count: count, &outcomes)
      return true
    } catch {
      guard error.kind == .record else { throw error }
      try connection.run("ROLLBACK TO upsurge_part; RELEASE upsurge_part")
      return try handle(error, part, with: &store, &outcomes)
    }
  }

  private mutating func handle<Store: PartStore>(
    _ failure: PostgresFailure, _ part: Range<Int>, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    if count(of: part) == 1, let place = part.first(where: { !isOut[$0] }) {
      reject([place], failure, &outcomes)
      _ = filter?.hasOften(failure)
      return false
    }
    if filter?.hasOften(failure) == true, let places = try filter?.find(failure, part.lowerBound..<end, in: &store, &outcomes) {
      let bad = places.filter { !isOut[$0] }
      if !bad.isEmpty {
        try take(bad, failure, from: &store, &outcomes)
        _ = try apply(part, isKnownBad: false, with: &store, &outcomes)
        return false
      }
    }
    return try halve(part, with: &store, &outcomes)
  }

  /// Rejects what a filter has found. A few are tried, as the server then says what of each is wrong.
  private mutating func take<Store: PartStore>(
    _ places: [Int], _ failure: PostgresFailure, from store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if places.count <= Self.detailedCount {
      for place in places {
        _ = try apply(place..<place + 1, isKnownBad: false, with: &store, &outcomes)
        isOut[place] = true
      }
    } else {
      reject(places, failure.ofAnotherRecord, &outcomes)
    }
    outcomes.statementCount += 1
    try store.leaveOut(places)
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

  private mutating func reject(_ places: [Int], _ failure: PostgresFailure, _ outcomes: inout BatchOutcomes) {
    for place in places {
      isOut[place] = true
      outcomes.rejected.append(BatchOutcomes.Rejected(record: Int(records[place]), cause: .failure(failure)))
    }
  }
}

extension PostgresFailure {
  /// This failure for another record of the constraint: without what it says of one record.
  fileprivate var ofAnotherRecord: PostgresFailure {
    var failure = self
    failure.detail = nil
    return failure
  }
}
