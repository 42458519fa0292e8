import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// The connections of a run that has several, and what they have stored since the run's position was written down.
///
///     records        ……………………………………………………………………………
///     run's row      ────────┤ seal 7
///     connection 0           ├─────────┤ mark of seal 7: stored, rejected
///     connection 1           ├────┤                        a kill has kept it from its COMMIT
///
/// A round is a batch: each connection stores the records of its keys, and all commit together. The run's row is written while they
/// store the next round (a seal), with the rejects of all of them in the order of the input. A run that resumes reads from the seal, and
/// each connection leaves out the records up to its mark.
final class RunLanes {
  /// What stands, and is not in the run's row.
  struct Unsealed {
    /// In the order of the input.
    var rejects: [Reject] = []
    /// Rejects of the parser, which are committed with the seal.
    var parserRejects: [Reject.Code: UInt64] = [:]
    /// Records that are the same as their row, of connections that had nothing to store; they are committed with the seal, too.
    var same = Ledger()
    var position = RunPosition()
    var place = InputPlace()
    var ledger = Ledger()
    var rejectsByReason: [Reject.Code: UInt64] = [:]
    var hasMetTombstone = false
    /// Where the rows of the connections must be.
    var marks: [String] = []
  }

  /// Records of a batch, divided.
  struct Division {
    /// For each connection.
    var records: [LaneRecords]
    /// Records that are the same as their row, of connections that have nothing to store.
    var sameCount = 0
    /// Rejects that connections have noted before the run was resumed.
    var earlier: [(record: Int, reject: Reject)] = []

    var workingCount: Int { records.count { !$0.stored.isEmpty } }

    /// Takes out records that need not be stored.
    /// - Parameters:
    ///   - same: records that are the same as their row.
    ///   - count: of the batch.
    mutating func leaveOut(_ same: [Int32], of count: Int) {
      if same.isEmpty { return }
      var isSame = [Bool](repeating: false, count: count)
      for record in same { isSame[Int(record)] = true }
      for index in records.indices {
        let all = records[index].stored
        records[index].stored = all.filter { !isSame[Int($0)] }
        if records[index].stored.count == all.count { continue }
        if records[index].stored.isEmpty {
          sameCount += all.count
        } else {
          records[index].same = all.filter { isSame[Int($0)] }
        }
      }
    }
  }

  private struct Number: Hashable {
    var sourceIndex: Int
    var record: UInt64
  }

  private let lanes: [RunLane]
  private let table: PostgresLanes
  private let run: Int64
  private let plan: RecordPlan
  private let division: LaneDivision
  private var columns: [ColumnTarget]
  private var keys: LaneKeys
  private let reader: KeyReader
  /// nil where records go to their connection, whatever their row is.
  let walk: RoundWalk?
  /// How often the run's position was written down.
  private(set) var seal: UInt64
  private(set) var unsealed: Unsealed?
  /// Rejects of connections that were further than the run's position when it was resumed.
  private var noted: [Number: LaneProgress.Noted] = [:]
  /// The last record that was read.
  private var seen: Number?
  /// Whether a connection, or the seal, has failed: what stands is looked up by whoever resumes the run.
  private(set) var hasFailed = false
  /// Whether each connection commits as soon as it can, as they have waited for locks of one another.
  var commitsFreely = false

  /// - Throws: `database` for rows that no run has written.
  init(_ place: RunLane.Place, by division: LaneDivision, found: PostgresTable) throws(UpsurgeError) {
    (table, run, self.division) = (place.lanes, place.begun.run, division)
    reader = KeyReader(session: place.store.session, settings: place.settings)
    plan = RecordPlan(place.table, found: found)
    walk = RoundWalk(place, plan)
    columns = place.table.knownColumns
    let position = try RunText.position(place.begun.position)
    guard let own = position.lanes, own.count == place.begun.lanes.count else {
      throw PostgresLanes.fault(place.begun.position)
    }
    seal = own.seal
    var lanes: [RunLane] = []
    for (number, row) in place.begun.lanes.enumerated() {
      let mark = try LaneMark(row.position)
      let progress = mark.seal == own.seal ? try LaneProgress(row.progress) : LaneProgress()
      guard row.lane == number, mark.seal <= own.seal else { throw PostgresLanes.fault(row.position) }
      for reject in progress.rejects {
        noted[Number(sourceIndex: reject.sourceIndex, record: reject.record)] = reject
      }
      lanes.append(RunLane(number, place, mark: mark, progress))
    }
    self.lanes = lanes
    keys = LaneKeys(plan, columns, by: division.names, count: own.count)
  }

  deinit { for lane in lanes { lane.end() } }

  var count: Int { lanes.count }

  /// What the run's row says of them.
  var position: RunPosition.Lanes { RunPosition.Lanes(count: count, seal: seal, division: division.text) }

  /// What the connections have stored beside the run's position.
  var progress: [LaneProgress] { lanes.filter { $0.mark.seal == seal }.map(\.progress) }

  /// Adds columns that records of the next batch speak of for the first time.
  func add(_ new: [ColumnTarget]) {
    columns += new
    keys = LaneKeys(plan, columns, by: division.names, count: count)
    walk?.add(new)
    for lane in lanes { lane.add(new) }
  }

  // MARK: - A round

  /// Divides records of a batch, without those that their connection has stored before the run was resumed.
  /// - Throws: `badInput` for a key that is another value each time it is read; `guardRefused` where the input has changed.
  func divide(
    _ batch: borrowing Batch, from first: Int, file: String, changed: (_ line: UInt64) -> UpsurgeError
  ) throws(UpsurgeError) -> Division {
    let parts = try keys.divide(batch, from: first, file: file, by: reader)
    var division = Division(records: parts.map { LaneRecords(stored: $0) })
    let sourceIndex = batch.origin.sourceIndex
    for (index, lane) in lanes.enumerated() where lane.mark.seal == seal && lane.mark.record > 0 {
      let mark = lane.mark
      division.records[index].stored.removeAll {
        mark.covers(batch.records[Int($0)].number, sourceIndex: sourceIndex)
      }
      try check(mark, batch, from: first, changed)
    }
    for record in first..<max(batch.recordCount, first) where !noted.isEmpty {
      let number = Number(sourceIndex: sourceIndex, record: batch.records[record].number)
      guard let noted = noted.removeValue(forKey: number) else { continue }
      var reject = Reject(
        noted.code, at: batch.position(of: record, file: file), column: noted.column, reason: noted.said,
        raw: batch.rawBytes(of: record))
      reject.sourceIndex = sourceIndex
      division.earlier.append((record, reject))
    }
    return division
  }

  /// - Throws: where the record of a mark does not end where it did.
  private func check(
    _ mark: LaneMark, _ batch: borrowing Batch, from first: Int, _ changed: (_ line: UInt64) -> UpsurgeError
  ) throws(UpsurgeError) {
    guard mark.sourceIndex == batch.origin.sourceIndex, first < batch.recordCount,
      batch.records[first].number <= mark.record, mark.record <= batch.records[batch.recordCount - 1].number
    else { return }
    for record in first..<batch.recordCount where batch.records[record].number == mark.record {
      if LaneMark(seal: seal, batch, record: record) == mark { return }
      throw changed(batch.records[record].line)
    }
    throw changed(batch.records[first].line)
  }

  /// Has each connection store its records.
  func begin(_ division: Division, _ round: LaneRound) throws(UpsurgeError) {
    for lane in lanes { lane.forgetOutcome() }
    for (lane, records) in zip(lanes, division.records) where !records.stored.isEmpty {
      try lane.begin(records, round)
    }
  }

  /// Waits for all of them.
  func finish() { for lane in lanes { lane.finish() } }

  var outcomes: [LaneOutcome] { lanes.map(\.outcome) }

  /// Whether one of them may have committed something.
  var mayHaveCommitted: Bool {
    lanes.contains { lane in
      lane.outcome.ledger.read > 0
        || lane.outcome.failure.map {
          [.connectionLost, .outcomeUnknown, .unreachable, .breaksAgain, .interrupted].contains($0.kind)
        } ?? false
    }
  }

  /// Notes what stands after a round.
  /// - Parameter end: the last record that was read.
  func note(_ stands: Unsealed, upTo batch: borrowing Batch) {
    var stands = stands
    stands.marks = lanes.map(\.mark.text)
    if let before = unsealed {
      stands.rejects = before.rejects + stands.rejects
      stands.parserRejects.merge(before.parserRejects) { $0 + $1 }
      stands.same += before.same
    }
    unsealed = stands
    for lane in lanes { lane.forgetOutcome() }
    if batch.recordCount > 0 {
      seen = Number(
        sourceIndex: batch.origin.sourceIndex, record: batch.records[batch.recordCount - 1].number)
    }
  }

  /// A connection, or the seal, has failed.
  func noteFailure() { hasFailed = true }

  // MARK: - Seals

  /// Whether what stands can be written into the run's row: no connection is further.
  var canSeal: Bool { unsealed != nil && !isAhead }

  /// Whether a connection has stored records that were not read yet.
  var isAhead: Bool {
    lanes.contains { lane in
      guard lane.mark.seal == seal, lane.mark.record > 0 else { return false }
      guard let seen else { return true }
      return (lane.mark.sourceIndex, lane.mark.record) > (seen.sourceIndex, seen.record)
    }
  }

  /// Whether the rows of the connections are where they were left; a server that took over may have less.
  func areStanding(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    try table.positions(of: run, connection) == unsealed?.marks
  }

  /// What stands is in the run's row.
  func didSeal() {
    seal += 1
    unsealed = nil
  }

  /// Forgets the connections of a run that is complete; part of the transaction that is open.
  func remove(_ connection: PostgresConnection) throws(PostgresFailure) { try table.remove(run, connection) }
}
