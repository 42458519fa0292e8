import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// What becomes of rows that a snapshot no longer has; for one thread at a time, within the only transaction of a delivery.
///
///     begin    before the first record: counts the rows that were there
///     note     after each batch: the keys of its records go up into a temporary table
///     end      after the last one: keys that are missing are gathered and counted, the guards are asked, and those rows go
///
/// What is counted is what goes: rows that others store meanwhile are neither.
final class SnapshotSweep {
  let rules: SnapshotRules
  /// nil where nothing is swept.
  let target: SweepTarget?
  private let notes: AcceptanceNotes
  let isTrial: Bool
  /// What keys may take on this side.
  private let memory: SeenMemory
  /// What distinguishes the delivery's bytes from those of others, once all were read.
  private let contentHash: () -> UInt64?
  /// Calls with a connection that sees the last commit; throws where no server can be reached.
  let looking: LookingBody
  /// What is known of the delivery in parts; nil where nothing is, and nothing is remembered.
  let chunks: ChunkMemory?
  /// Is told each row that goes; nil where nobody asks for that.
  let told: ToldRows?
  /// What is noted of each row; nil where nothing is.
  var rowNotes: RowNotes?
  /// Whether the records are only changes, so that rows are noted and nothing is judged.
  var isDelta = false
  /// Whether the keys that the last commit has are beside those of now.
  private var knowsBefore = false
  var seen: SeenKeys?
  private(set) var before: RowCounts?
  private(set) var holdsUnaccepted = false
  /// Records of which nobody knows which row they are about.
  private(set) var unreadableCount: UInt64 = 0

  /// Rows that have gone, or were marked.
  private(set) var sweptCount: UInt64 = 0
  /// Rows whose mark was taken back beside their records.
  private(set) var revivedCount = 0
  /// Why nothing was swept.
  private(set) var refusal: UpsurgeError?
  /// Whether rows of other tables refer to rows that were to go.
  private(set) var isHeldByReferences = false
  private(set) var verdict = DeliveryJudgement.Verdict()
  /// What was done with rows that were edited here.
  private(set) var localEdits = LocalEditCounts()

  typealias LookingBody = ((PostgresConnection) throws(PostgresFailure) -> Void) throws(PostgresFailure) -> Void

  /// Rows before the first record.
  struct RowCounts {
    /// All of the table.
    var all: Int64
    /// The feed's that are not marked as gone.
    var live: Int64
    /// Live rows that count for the guards.
    var accepted: Int64
    /// Rows that are not the feed's.
    var outside: Int64
  }

  /// - Parameters:
  ///   - target: nil where nothing is swept.
  ///   - looking: calls with a separate connection.
  init(
    _ rules: SnapshotRules, _ target: SweepTarget?, _ notes: AcceptanceNotes, isTrial: Bool,
    memory: SeenMemory,
    chunks: ChunkMemory?, told: ToldRows?, contentHash: @escaping () -> UInt64?,
    looking: @escaping LookingBody
  ) {
    (self.rules, self.target, self.notes, self.isTrial, self.chunks) = (rules, target, notes, isTrial, chunks)
    (self.memory, self.told, self.contentHash, self.looking) = (memory, told, contentHash, looking)
  }

  /// Whether the table is one that the delivery itself makes.
  var isNewTable: Bool { target?.keys == nil }

  // MARK: - Records

  /// Looks at the rows before the first record; does nothing when it is called again.
  /// - Parameter refuse: makes a failure of an error of ours, with which the transaction ends.
  func begin(
    _ connection: PostgresConnection, refuse: (UpsurgeError) -> PostgresFailure
  ) throws(PostgresFailure) {
    guard let target, before == nil else { return }
    guard try chunks?.begin(connection) ?? true else { throw refuse(chunks!.giveUp()) }
    try rowNotes?.settle(isTableNew: isNewTable, connection, refuse: refuse)
    if isNewTable {
      before = RowCounts(all: 0, live: 0, accepted: 0, outside: 0)
      return
    }
    let rows = target.rows
    try rowNotes?.markEdits(rows, connection, refuse: refuse)
    if rules.sweep == .none, let keys = target.keys {
      before = RowCounts(all: 0, live: 0, accepted: 0, outside: 0)
      seen = SeenKeys(rows, keys.shape, slots: keys.slots, numbers: nil, hasSource: true)
      return try seen!.make(connection)
    }
    holdsUnaccepted = try notes.holdsRows(connection)
    let isAccepted = holdsUnaccepted ? " AND \(notes.acceptedTerm(key: rows.keyText))" : ""
    let row = try connection.run(
      """
      SELECT count(*), count(*) FILTER (WHERE \(rows.isLive)), count(*) FILTER (WHERE \(rows.isLive)\(isAccepted)),
        count(*) FILTER (WHERE \(rows.isOutside)) FROM \(rows.table)
      """, []
    ).first
    var counts = RowCounts(
      all: row?.integer(0) ?? 0, live: row?.integer(1) ?? 0, accepted: row?.integer(2) ?? 0,
      outside: row?.integer(3) ?? 0)
    if let rowNotes, rowNotes.rules.isOwned {
      // Only what the feed has delivered may go.
      let terms = "(\(rows.isLive))\(isAccepted) AND \(rowNotes.sweptTerm(rows))"
      counts.accepted =
        try connection.run("SELECT count(*) FROM \(rows.table) WHERE \(terms)", []).first?.integer(0) ?? 0
    }
    if rules.scope != nil, rowNotes?.hasMarked == true { counts.outside = try outsideCount(rows, connection) }
    before = counts
    if let chunks {
      let isTrue = try chunks.look(at: rows, count: counts.all - counts.outside, connection)
      if !isTrue || holdsUnaccepted && chunks.isUsed { throw refuse(chunks.giveUp()) }
    }
    guard let keys = target.keys,
      rowNotes != nil || rules.scope != nil || (rows.mark == nil ? counts.live : counts.all) > 0
    else { return }
    // A scope, a mark, notes and rows that nobody has accepted are asked for by SQL.
    let isPlain = rules.scope == nil && rows.mark == nil && !holdsUnaccepted && rowNotes == nil
    let numbers = isPlain ? SeenNumbers(of: rows.key, memory) : nil
    seen = SeenKeys(rows, keys.shape, slots: keys.slots, numbers: numbers, hasSource: rowNotes != nil)
    try seen!.make(connection)
  }

  /// Notes which rows the records of a batch were about; also those of records that were refused, which stand in the delivery, too.
  /// - Parameters:
  ///   - records: the indexes of those that are done.
  ///   - rejected: those that were not stored, in their order.
  func note(
    _ batch: borrowing Batch, _ records: Range<Int>, _ rejected: [BatchOutcomes.Rejected],
    unreadableBefore parserCount: Int, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    guard target != nil else { return }
    let unreadable = Set(rejected.filter { isAboutNoKnownRow($0.cause) }.map(\.record))
    unreadableCount += UInt64(unreadable.count + parserCount)
    if seen == nil || records.isEmpty { return }
    let readable = records.filter { !unreadable.contains($0) }.map { Int32(truncatingIfNeeded: $0) }
    let source = batch.origin.sourceIndex
    guard rowNotes != nil, !rejected.isEmpty else {
      unreadableCount += UInt64(
        try seen!.add(readable, of: batch, source: source, mayFail: !rejected.isEmpty, connection))
      return
    }
    // A record that was refused is no delivery of its row, and keeps it from being swept.
    let refused = Set(rejected.map { Int32(truncatingIfNeeded: $0.record) })
    for (isRefused, source) in [(false, source), (true, nil)] {
      let records = readable.filter { refused.contains($0) == isRefused }
      unreadableCount += UInt64(
        try seen!.add(records, of: batch, source: source, mayFail: isRefused, connection))
    }
  }

  /// Whether the key of a record cannot be one of any row.
  private func isAboutNoKnownRow(_ cause: BatchOutcomes.Rejected.Cause) -> Bool {
    let names = target?.rows.key.map(\.name) ?? []
    switch cause {
    case .nullKey: return true
    case .fault(_, let column): return names.contains(column)
    case .failure(let failure):
      // A value that its type does not take; a domain of the key has checks as well.
      let isOfType = failure.sqlState.hasPrefix("22") || target?.rows.key.contains(where: \.isDomain) == true
      return isOfType && failure.column.map { names.contains($0) } ?? true
    }
  }

  // MARK: - The end

  /// Judges the delivery, and removes what it no longer has unless something speaks against it.
  /// - Parameters:
  ///   - ledger: of all records of the delivery.
  ///   - refuse: makes a failure of an error of ours, with which the transaction ends.
  func end(
    _ ledger: Ledger, _ connection: PostgresConnection, refuse: (UpsurgeError) -> PostgresFailure
  ) throws(PostgresFailure) {
    (sweptCount, revivedCount, refusal, isHeldByReferences) = (0, 0, nil, false)
    guard let target else { return try judgeWhole(ledger, connection) }
    try begin(connection, refuse: refuse)
    let unswept = try unsweptCount(connection)
    if rules.sweep != .none {
      let isThere = !isNewTable || ledger.inserted > 0
      if isThere, try isOutOfScope(target, connection) { throw refuse(.outside(scope: rules.scope ?? "")) }
      try settle(target, ledger, connection, refuse: refuse)
    } else if !isDelta {
      try judgeWhole(ledger, connection)
    }
    if let rowNotes, rowNotes.hasMarked, seen != nil {
      if rules.sweep != .none, refusal == nil { localEdits.unswept = unswept }
      if rowNotes.rules.localEdits == .repair {
        localEdits.repaired = try rowNotes.repairedCount(target.rows, connection)
      } else if rowNotes.keepsChanged || rowNotes.keepsDeleted {
        localEdits.kept = try rowNotes.keptCount(target.rows, connection)
      }
    }
    // Of a delta, and of one that lacks some records, nobody knows what the feed no longer has.
    let knowsUnseen = !isDelta && refusal == nil && (rules.sweep != .none || unreadableCount == 0)
    try rowNotes?.finish(
      isNewTable ? .all : .seen, target.rows,
      RowNotes.Verdict(isRefused: refusal != nil, knowsBefore: knowsBefore, knowsUnseen: knowsUnseen), connection)
  }

  /// Judges a delivery because of which nothing is swept.
  private func judgeWhole(_ ledger: Ledger, _ connection: PostgresConnection) throws(PostgresFailure) {
    let facts = SnapshotFacts(
      readCount: ledger.wanted, unreadableCount: 0, rowsBefore: 0, unseenCount: 0)
    try judge(facts, connection) { () throws(PostgresFailure) in false }
    if refusal == nil { try accept(connection) }
  }

  /// Judges the delivery, and removes rows.
  private func settle(
    _ target: SweepTarget, _ ledger: Ledger, _ connection: PostgresConnection,
    refuse: (UpsurgeError) -> PostgresFailure
  ) throws(PostgresFailure) {
    let gone = try gather(target, ledger, connection, refuse: refuse)
    let facts = SnapshotFacts(
      readCount: ledger.wanted, unreadableCount: unreadableCount, rowsBefore: UInt64(before?.accepted ?? 0),
      unseenCount: gone.accepted)
    try judge(facts, connection) { () throws(PostgresFailure) in
      try keepUnaccepted(target, ledger, connection)
    }
    if refusal != nil { return }
    guard let error = try remove(target, gone.all, connection) else { return try accept(connection) }
    refusal = error
    if isTrial { return }
    if try keepUnaccepted(target, ledger, connection) { return }
    try notes.write(judgement([]).unsweptNote, connection)
  }

  private func judgement(_ refused: [RefusedDelivery]) -> DeliveryJudgement {
    DeliveryJudgement(rules, refused: refused, contentHash: contentHash(), isTrial: isTrial)
  }

  private func judge(
    _ facts: SnapshotFacts, _ connection: PostgresConnection, keepRows: () throws(PostgresFailure) -> Bool
  ) throws(PostgresFailure) {
    let refused = try notes.refused(connection)
    verdict = try judgement(refused).verdict(
      { (hasUnknownRows) throws(PostgresFailure) in
        rules.refusal(facts.with(unknownRows: hasUnknownRows), table: target?.name ?? notes.table)
      }, keepRows: keepRows)
    refusal = verdict.refusal
    if let note = verdict.note { try notes.write(note, connection) }
  }

  private func accept(_ connection: PostgresConnection) throws(PostgresFailure) {
    if !isTrial { try notes.forget(connection) }
  }

  /// Whether records were about rows that are not the feed's, or have made the feed's what was another's.
  private func isOutOfScope(
    _ target: SweepTarget, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    guard rules.scope != nil else { return false }
    let rows = target.rows
    if rowNotes?.hasMarked == true {
      // A row that somebody here has put outside is brought back.
      let sql = "SELECT EXISTS (SELECT FROM \(rows.table) WHERE \(rows.isOutside) AND \(rows.isIn(.seen))\(exceptKept))"
      if seen != nil, try connection.run(sql, []).first?.flag(0) == true { return true }
      return try outsideCount(rows, connection) != before?.outside
    }
    let strays = seen == nil ? "" : ", count(*) FILTER (WHERE \(rows.isIn(.seen)))"
    let row = try connection.run("SELECT count(*)\(strays) FROM \(rows.table) WHERE \(rows.isOutside)", []).first
    return row?.integer(0) != before?.outside || seen != nil && row?.integer(1) != 0
  }

  /// Rows that are not the feed's, but for those that were edited here.
  private func outsideCount(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> Int64 {
    let isEdited = rowNotes?.isEdited(rows) ?? "false"
    let sql = "SELECT count(*) FROM \(rows.table) WHERE \(rows.isOutside) AND NOT \(isEdited)"
    return try connection.run(sql, []).first?.integer(0) ?? 0
  }

  // MARK: - Rows

  /// Puts the keys of rows that no record was about into a temporary table.
  private func gather(
    _ target: SweepTarget, _ ledger: Ledger, _ connection: PostgresConnection, refuse: (UpsurgeError) -> PostgresFailure
  ) throws(PostgresFailure) -> (all: UInt64, accepted: UInt64) {
    if let chunks, chunks.skippedRecordCount > 0 {
      guard let count = try gather(leftBy: chunks, target, connection) else { throw refuse(chunks.giveUp()) }
      return (count, count)
    }
    guard seen != nil, before?.live != 0 else { return (0, 0) }
    let rows = target.rows
    let numbers = seen!.onThisSide()
    if let numbers {
      if let count = try gather(numbers, rows, ledger, connection) { return (count, count) }
      try seen!.bringUp(connection)
    }
    let accepted = holdsUnaccepted ? notes.acceptedTerm(key: rows.keyText) : "true"
    let owned = rowNotes.map { $0.rules.isOwned ? " AND \($0.sweptTerm(rows))" : "" } ?? ""
    try connection.run(
      """
      CREATE TEMPORARY TABLE \(KeyTable.gone.name) ON COMMIT DROP AS SELECT \(rows.keyList), \(accepted) AS upsurge_accepted
      FROM \(rows.table) WHERE (\(rows.isLive)) AND NOT \(rows.isIn(.seen))\(owned)\(exceptKept)
      """, [])
    let row = try connection.run(
      "SELECT count(*), count(*) FILTER (WHERE upsurge_accepted) FROM \(KeyTable.gone.quotedName)", []
    ).first
    return (UInt64(row?.integer(0) ?? 0), UInt64(row?.integer(1) ?? 0))
  }

  /// Looks for the missing ones on this side.
  /// - Returns: nil where they are too many for that.
  private func gather(
    _ numbers: SeenNumbers, _ rows: SweptRows, _ ledger: Ledger, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> UInt64? {
    // Each record has a row then, and what is beyond them is missing.
    if ledger.rejected + ledger.quarantined + ledger.ignored + ledger.deleted == 0, unreadableCount == 0 {
      let count = try connection.run("SELECT count(*) FROM \(rows.quotedName)", []).first?.integer(0)
      if count == Int64(numbers.count) { return 0 }
    }
    let sql = "COPY (SELECT \(rows.keyList) FROM \(rows.table)) TO STDOUT (FORMAT binary)"
    guard let missing = try numbers.missing(sql, connection) else { return nil }
    if missing.isEmpty { return 0 }
    let name = KeyTable.gone.name
    _ = try connection.beginCopy(
      "CREATE TEMPORARY TABLE \(name) ON COMMIT DROP AS SELECT \(rows.keyList), true AS upsurge_accepted FROM \(rows.table) WITH NO DATA;"
        + " COPY \(KeyTable.gone.quotedName) (\(rows.keyNames[0])) FROM STDIN (FORMAT binary)")
    try numbers.send(missing, connection)
    return UInt64(missing.count)
  }

  /// - Returns: why the rows could not be removed; then none is.
  private func remove(
    _ target: SweepTarget, _ goneCount: UInt64, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> UpsurgeError? {
    let rows = target.rows
    if seen == nil || rows.mark == nil && goneCount == 0 { return nil }
    let count = "SELECT count(*) FROM \(rows.quotedName)"
    try connection.run("SAVEPOINT upsurge_sweep")
    let mark = told?.end
    do throws(PostgresFailure) {
      let countBefore = target.isReferredToByItself ? try connection.run(count, []).first?.integer(0) ?? 0 : 0
      let swept = goneCount > 0 ? try removeGone(rows, connection) : 0
      if swept < goneCount {
        // Others may have removed some of them meanwhile.
        let keptCount = try countGone(rows, connection)
        if keptCount > 0 {
          try connection.run(Self.takingBack)
          if let mark { try told?.takeBack(to: mark) }
          return .rowsKept(in: target.name, keptCount, of: goneCount)
        }
      }
      if let mark = rows.mark {
        let condition = "(\(rows.isInScope)) AND NOT \(mark.isThere) AND \(rows.isIn(.seen))"
        revivedCount = try write(.mark(mark.there, mark), rows, where: condition, connection)
      }
      // What waits for the end of the transaction is told now.
      try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
      if target.isReferredToByItself, rows.mark == nil,
        try connection.run(count, []).first?.integer(0) != countBefore - Int64(swept)
      {
        return try takeBack(target, nil, mark, connection)
      }
      try connection.run("RELEASE SAVEPOINT upsurge_sweep")
      sweptCount = UInt64(swept)
      return nil
    } catch {
      guard error.kind == .record, connection.isOpen else { throw error }
      return try takeBack(target, error, mark, connection)
    }
  }

  /// - Returns: how many rows have gone, or were marked.
  private func removeGone(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> Int
  {
    let change = rows.mark.map { RowChange.mark($0.gone, $0) } ?? .deletion
    var count = 0
    for condition in Self.conditions(of: rows) {
      count += try write(change, rows, where: condition, connection)
    }
    return count
  }

  /// Rows that were to go, and are there.
  private func countGone(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> UInt64 {
    var count: Int64 = 0
    for condition in Self.conditions(of: rows) {
      count += try connection.run("SELECT count(*) FROM \(rows.table) WHERE \(condition)", []).first?.integer(0) ?? 0
    }
    return UInt64(count)
  }

  /// SQL for the rows that are to go, each in one of these: a comparison that finds NULL is no join.
  private static func conditions(of rows: SweptRows) -> [String] {
    [rows.isIn(.gone), rows.isWithoutKey(in: .gone)].compactMap { $0 }.map { "(\(rows.isLive)) AND \($0)" }
  }

  private static let takingBack = Savepoints.takingBack("upsurge_sweep")

  private func takeBack(
    _ target: SweepTarget, _ failure: PostgresFailure?, _ mark: ChangeFile.Mark?,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> UpsurgeError {
    try connection.run(Self.takingBack)
    if let mark { try told?.takeBack(to: mark) }
    var children: [String] = []
    if failure?.sqlState == "23503" || failure == nil, let oid = target.oid {
      let sql = """
        SELECT DISTINCT c.relname FROM pg_constraint AS f JOIN pg_class AS c ON c.oid = f.conrelid
        WHERE f.confrelid = \(oid) AND f.contype = 'f' AND NOT EXISTS (
          SELECT FROM pg_constraint AS p WHERE p.oid = f.conparentid AND p.confrelid = f.confrelid) ORDER BY 1
        """
      children = try connection.run(sql, []).rows.compactMap { $0.text(0) }
    }
    isHeldByReferences = !children.isEmpty
    return .nothingSwept(
      from: target.name, children: children, because: failure?.asError(on: connection.target))
  }

  // MARK: - Rows that are not accepted

  /// Keeps the rows of a delivery that is not accepted from counting in the next one.
  /// - Returns: false where nobody can tell which they are.
  private func keepUnaccepted(
    _ target: SweepTarget, _ ledger: Ledger, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    let mayHaveBrought =
      rowNotes?.rules.isOwned == true || ledger.inserted > 0
      || (rules.sweep != .hard || rules.scope != nil) && ledger.updated > 0
    if !mayHaveBrought { return true }
    let rows = target.rows
    var terms = ["(\(rows.isLive))"]
    if before?.live != 0 {
      guard try findBefore(rows, connection) else { return false }
      if seen != nil { try seen!.bringUp(connection) }
      terms += [rows.isIn(.seen), "NOT \(rows.isIn(.before))"]
    }
    try notes.note(keys: "\(rows.keyText) FROM \(rows.table) WHERE \(terms.joined(separator: " AND "))", connection)
    return true
  }

  /// Brings the keys that the last commit has beside those of now.
  /// - Returns: false where that cannot be looked at.
  private func findBefore(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    try connection.run("SAVEPOINT upsurge_before; \(KeyTable.before.creation(for: rows))")
    _ = try connection.beginCopy(KeyTable.before.copy)
    do throws(PostgresFailure) {
      try looking { (other) throws(PostgresFailure) in
        let sql = "COPY (SELECT \(rows.keyList) FROM \(rows.table) WHERE \(rows.isLive)) TO STDOUT (FORMAT binary)"
        _ = try other.copyOut(sql) { (bytes) throws(PostgresFailure) -> Bool in
          try connection.put(bytes)
          return true
        }
      }
    } catch {
      if !connection.isOpen { throw error }
      connection.failCopy("the last commit cannot be looked at")
      try connection.run("ROLLBACK TO SAVEPOINT upsurge_before")
      return false
    }
    _ = try connection.endCopy()
    knowsBefore = true
    return true
  }
}
