import Upsurge
import UpsurgeRecords

/// Compares the records of a round with the table's rows before connections share them. Rows of a key range lie together, and each
/// connection would read all of them for its part.
///
///     keys of a round   1 2 3 4 5 6 …    their rows are read once, by the session of the run
///     the same          1 2 3   5 6 …    no connection stores them
///     others                  4          goes to the connection of its key
///
/// What is the same is unchanged from then on, whatever somebody else does to the row meanwhile. Records that say a key again are
/// always others: what comes before them in the round may change the row.
final class RoundWalk {
  private let session: ServerSession
  private let settings: TransactionSettings
  private let plan: RecordPlan
  private var columns: [ColumnTarget]
  private let capabilities: Capabilities
  private var walker: Walker?
  /// How the next batch is encoded, where it will be compared; nil where that is not known.
  private(set) var recipe: RowRecipe?
  private var recipeCount = 0
  /// All records of the batch that is compared next, encoded before; nil where they were not.
  var ahead: AheadRows?
  private var (vainCount, skipCount) = (0, 0)

  /// A fiftieth of a round, and so many records at least, say whether all of it is compared.
  private static let (probeShare, leastProbe) = (50, 16)

  /// - Returns: nil where records must go to their connection, whatever their row is.
  init?(_ place: RunLane.Place, _ plan: RecordPlan) {
    let store = place.store
    guard store.job.options.tuning.walks, place.table.given.tombstone == nil else { return nil }
    (session, settings, capabilities) = (store.session, place.settings, store.capabilities)
    (self.plan, columns) = (plan, place.table.knownColumns)
    let shape = plan.fields(of: columns, as: RecordGroups.Kind()).shape
    if PathChoice(shape, capabilities).walkObjection != nil { return nil }
  }

  /// Adds columns that records of the next batch speak of for the first time.
  func add(_ new: [ColumnTarget]) {
    columns += new
    forget()
  }

  private func forget() { (walker, recipe) = (nil, nil) }

  /// The records from one on that are the same as their row, in their order; none where that is not worth looking.
  func same(in batch: UnsafePointer<Batch>, from first: Int) throws(UpsurgeError) -> [Int32] {
    if batch.pointee.recordCount - first < Self.leastProbe || batch.pointee.hasAbsentCells { return [] }
    if skipCount > 0 {
      skipCount -= 1
      return []
    }
    return try session.asking { (connection) throws(PostgresFailure) -> [Int32] in
      defer { connection.rollback() }
      do throws(PostgresFailure) {
        try connection.run(settings.beginSQL)
        return try compare(batch, from: first, connection)
      } catch {
        forget()
        // Whoever stores the records finds out about it, and waits for locks.
        if [.record, .retryTransaction].contains(error.kind) { return [] }
        throw error
      }
    }
  }

  private func compare(
    _ batch: UnsafePointer<Batch>, from first: Int, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [Int32] {
    guard let walker = walker(on: connection) else { return [] }
    let records = first..<batch.pointee.recordCount
    if !walker.isWorthIt {
      let probe = records.prefix(max(records.count / Self.probeShare, Self.leastProbe))
      _ = try walker.same(in: batch.pointee, only: probe)
    }
    var same: [Int32] = []
    if walker.isWorthIt {
      let own = ahead?.recipe.number == recipe?.number ? ahead : nil
      same = try walker.same(in: batch.pointee, only: first == 0 ? nil : records, own)
    }
    note(walker)
    return same
  }

  /// Batches are encoded ahead, and compared each time, as long as that is worth it. Else it is tried more and more seldom.
  private func note(_ walker: Walker) {
    if walker.isWorthIt {
      (vainCount, skipCount) = (0, 0)
      if recipe == nil {
        recipe = walker.recipe(recipeCount)
        recipeCount += 1
      }
    } else {
      recipe = nil
      vainCount = min(vainCount + 1, 6)
      skipCount = 1 << vainCount - 1
    }
  }

  private func walker(on connection: PostgresConnection) -> Walker? {
    if let walker, walker.connection === connection { return walker }
    forget()
    let (shape, slots) = plan.fields(of: columns, as: RecordGroups.Kind())
    if PathChoice(shape, capabilities).walkObjection != nil { return nil }
    walker = Walker(connection, shape, slots: slots)
    return walker
  }
}

/// Compares records over one connection.
private final class Walker {
  let connection: PostgresConnection
  private var writer: BatchWriter<SamePath>

  init(_ connection: PostgresConnection, _ shape: RecordShape, slots: [Int]) {
    self.connection = connection
    writer = BatchWriter(SamePath(connection), shape, slots: slots)
  }

  /// Whether most of the records that were compared last were the same as their row.
  var isWorthIt: Bool { writer.path.isWorthIt }

  func recipe(_ number: Int) -> RowRecipe { writer.recipe(number) }

  /// - Parameters:
  ///   - records: nil is all.
  ///   - ahead: all of them, encoded before.
  func same(
    in batch: borrowing Batch, only records: Range<Int>?, _ ahead: AheadRows? = nil
  ) throws(PostgresFailure) -> [Int32] {
    if let ahead { writer.take(ahead) }
    defer { if let ahead { writer.giveBack(ahead) } }
    var savepoints = Savepoints.none
    let selection = records?.map { Int32(truncatingIfNeeded: $0) }
    _ = try writer.store(batch, only: selection, within: &savepoints)
    return writer.path.same
  }
}

/// Stores nothing, and finds the records that are the same as their row.
private struct SamePath: RowStore {
  private var walk: WalkStore
  /// In their order.
  private(set) var same: [Int32] = []

  init(_ connection: PostgresConnection) { walk = WalkStore(connection) }

  var isWorthIt: Bool { walk.wasWorthIt == true }
  var arrangement: RowArrangement { .rounds }

  mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    same = []
    if order.rows.isEmpty { return }
    guard let rest = try walk.differing(rows, order, &outcomes) else { return }
    var isSame = [Bool](repeating: true, count: rows.count)
    for row in rest.rows { isSame[Int(row)] = false }
    let records = rows.records
    same = isSame.indices.filter { isSame[$0] }.map { records[$0] }
  }
}
