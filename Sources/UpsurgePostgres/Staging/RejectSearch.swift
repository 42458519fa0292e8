/// Finds the records that cannot be stored, from the first place to the last: a part that fails is taken back, and its first half
/// is tried.
///
///     0..<16 fails          one of 0..<16 is bad
///       0..<8 is stored     so one of 8..<16 is
///       8..<12 fails        one of 8..<12
///       8..<10 is stored    one of 10..<12
///       10 fails            rejected
///     11..<16 is stored     as far as the next bad one may be
///
/// So rows, counts and rejects are those of storing the records one by one. The places are those of arrival. So it can end where
/// the transaction has as many savepoints as it should, and all records before that place are done.
///
/// After a bad record as many are tried as lay between the last ones: more would fail too often, and fewer say too little. That is
/// near to the fewest tries there can be (Hwang 1972, group testing): a bad one in 10,000 needs some 16.
///
/// Many bad records are found at once where something is known of them: `ConstraintFilter`, `InputFilter`.
struct RejectSearch {
  private static let patience = 8

  private let connection: PostgresConnection
  /// The number in the batch of the record at each place.
  private let records: [Int32]
  /// The places that are not rejected by a filter, in their order.
  private var places: [Int]
  /// How many of `places` are settled: stored or rejected.
  private var doneCount = 0
  /// Of the places up to this index one must be bad; nil where nothing is known.
  private var badEnd: Int?
  private var gap = RejectGap()
  private var filter: ConstraintFilter?
  private var inputs: InputFilter?
  private(set) var savepoints: Savepoints
  private var hasBegun = false

  /// - Parameter records: the number in the batch of the record at each place.
  init(_ connection: PostgresConnection, _ shape: RecordShape, records: [Int32], _ savepoints: Savepoints) {
    self.connection = connection
    self.records = records
    filter = ConstraintFilter(connection, shape)
    inputs = InputFilter(connection, shape)
    self.savepoints = savepoints
    places = Array(records.indices)
  }

  /// Stores all records, or finds those that cannot be. What ends the last part is left to `savepoints`.
  /// - Parameter failure: what all of them have met with already, which was taken back.
  mutating func apply<Store: PartStore>(
    after failure: PostgresFailure? = nil, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if let failure { try judge(failure, upTo: places.count, with: &store, &outcomes) }
    while doneCount < places.count {
      if savepoints.isSpent {
        outcomes.next = Int(records[places[doneCount]])
        return
      }
      let end = nextEnd
      if let failure = try attempt(doneCount..<end, with: &store, &outcomes) {
        try judge(failure, upTo: end, with: &store, &outcomes)
      } else {
        // What was known to be bad alone is not.
        if doneCount + 1 == badEnd { badEnd = nil }
        doneCount = end
        if badEnd == nil { gap.grow() }
      }
    }
  }

  /// How far the next try goes: half of what one bad record is known to be in, or as far as none is expected.
  private var nextEnd: Int {
    guard let badEnd else { return doneCount + min(gap.reach, places.count - doneCount) }
    return doneCount + max(1, (badEnd - doneCount) / 2)
  }

  /// Tries to store some of `places`.
  /// - Returns: what is against it; nothing of it stands then.
  private mutating func attempt<Store: PartStore>(
    _ range: Range<Int>, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> PostgresFailure? {
    let part = places[range.lowerBound]..<places[range.upperBound - 1] + 1
    do {
      try store.store(part, count: range.count, after: savepoints.head(), &outcomes)
      savepoints.keep()
      return nil
    } catch {
      guard error.kind == .record, savepoints.areUsed else { throw error }
      savepoints.takeBack()
      return error
    }
  }

  /// Notes that the places up to an index have failed: the only one is rejected.
  private mutating func judge<Store: PartStore>(
    _ failure: PostgresFailure, upTo end: Int, with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if end == doneCount + 1 {
      reject(places[doneCount], failure, &outcomes)
      _ = filter?.hasOften(failure)
      doneCount = end
      badEnd = nil
      gap.end(at: doneCount)
      return
    }
    badEnd = end
    if !hasBegun {
      hasBegun = true
      try savepoints.settle(on: connection)
      try store.beginSearch()
    }
    guard let suspects = try suspects(failure, in: &store, &outcomes),
      try reject(found: suspects, with: &store, &outcomes)
    else { return }
    // Nothing is known of those that are left.
    badEnd = nil
    gap = RejectGap(from: doneCount)
  }

  /// The places of which a filter says that they fail as well.
  private mutating func suspects<Store: PartStore>(
    _ failure: PostgresFailure, in store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int]? {
    let part = places[doneCount]..<records.count
    if inputs?.isToAsk(failure) == true {
      try savepoints.settle(on: connection)
      if let places = try inputs?.find(part, in: &store, &outcomes) { return places }
    }
    guard filter?.hasOften(failure) == true else { return nil }
    try savepoints.settle(on: connection)
    return try filter?.find(failure, part, in: &store, &outcomes)
  }

  /// Tries the records that a filter has found, each alone, and takes that back: so the server says what is wrong with each. One
  /// that it would store stays, and is stored in its turn.
  /// - Returns: whether any was rejected.
  private mutating func reject<Store: PartStore>(
    found suspects: [Int], with store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    var bad: [Int] = []
    var storedCount = 0
    // A filter that is wrong so often is not to be trusted.
    for place in suspects where storedCount < Self.patience {
      let counts = outcomes.counts
      do {
        try store.store(place..<place + 1, count: 1, after: savepoints.head(), &outcomes)
        storedCount += 1
        try store.takeBackLast()
      } catch {
        guard error.kind == .record else { throw error }
        reject(place, error, &outcomes)
        bad.append(place)
      }
      savepoints.takeBack()
      outcomes.counts = counts
    }
    if bad.isEmpty { return false }
    try savepoints.settle(on: connection)
    outcomes.statementCount += 1
    try store.leaveOut(bad)
    let gone = Set(bad)
    places = places[..<doneCount] + places[doneCount...].filter { !gone.contains($0) }
    return true
  }

  private func reject(_ place: Int, _ failure: PostgresFailure, _ outcomes: inout BatchOutcomes) {
    outcomes.rejected.append(BatchOutcomes.Rejected(record: Int(records[place]), cause: .failure(failure)))
  }
}

/// How many records are tried at once, where nothing is known of them: as many as lay between bad ones.
struct RejectGap {
  /// Of all that are left, before the first bad one.
  private(set) var reach = Int.max
  private var mean: Int?
  private var start: Int

  /// - Parameter start: how many are settled.
  init(from start: Int = 0) { self.start = start }

  /// None of them was bad.
  mutating func grow() { reach = reach > Int.max / 2 ? .max : reach * 2 }

  /// A bad one was found.
  /// - Parameter index: how many are settled with it.
  mutating func end(at index: Int) {
    let length = index - start
    start = index
    // Half of it is the last one: bad records often come together.
    mean = mean.map { ($0 + length) / 2 } ?? length
    reach = max(1, mean ?? 1)
  }
}
