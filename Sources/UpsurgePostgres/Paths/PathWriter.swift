import UpsurgeRecords

/// Stores each batch by the path that is best for it: appended where the table has nothing in its key range, compared here where it
/// has the same rows, and what is left by the table's base path.
///
/// Each is stored within a transaction that the caller has begun and commits, or in several: see `BatchParts`.
package struct PathWriter: ~Copyable {
  package let choice: PathChoice
  /// Whether the transactions must be ones of a snapshot (REPEATABLE READ) for the counts to be right.
  package let needsSnapshot: Bool
  /// How many batches took each path, at least in part.
  package var batchCounts: [PathChoice.Path: Int] { writer.path.batchCounts }

  private var writer: BatchWriter<ChosenPath>

  /// - Parameters:
  ///   - slots: the slot of each of the shape's columns in the records.
  ///   - walks: whether rows may be compared here.
  package init(
    _ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int],
    walks: Bool = true
  ) {
    self.init(connection, shape, capabilities, slots: slots, walks: walks, telling: nil)
  }

  /// - Parameter told: is told each row that is written; nil where nobody asks for that.
  init(
    _ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int],
    walks: Bool, telling told: ToldRows?
  ) {
    choice = PathChoice(shape, capabilities)
    needsSnapshot = choice.base.path != .delta && OrderedPlan(shape, capabilities).needsSnapshot
    let telling = told.map { OrderedStore.Telling($0, shape, capabilities) }
    let path = ChosenPath(connection, shape, capabilities, choice, walks: walks, telling: telling)
    writer = BatchWriter(path, shape, slots: slots)
  }

  /// See `BatchWriter.recipe`.
  func recipe(_ number: Int) -> RowRecipe { writer.recipe(number) }

  /// See `BatchWriter.take`.
  mutating func take(_ ahead: AheadRows) { writer.take(ahead) }

  /// See `BatchWriter.giveBack`.
  mutating func giveBack(_ ahead: AheadRows) { writer.giveBack(ahead) }

  /// Stores records of a batch, or as many of them as one transaction should hold: see `BatchWriter`.
  package mutating func store(
    _ batch: borrowing Batch, only selection: [Int32]? = nil, within savepoints: inout Savepoints
  ) throws(PostgresFailure) -> BatchOutcomes {
    try writer.store(batch, only: selection, within: &savepoints)
  }
}

/// What each batch is stored by, in this order: append, walk, and the base path or arrays for what is left.
private struct ChosenPath: RowStore {
  private let choice: PathChoice
  private var append: AppendStore
  private var walk: WalkStore
  private let walks: Bool
  private let base: StagedStore
  private let small: UnnestStore
  /// What stores records whose rows are told; nil where nobody asks for that.
  private let told: OrderedStore?
  private(set) var batchCounts: [PathChoice.Path: Int] = [:]

  init(
    _ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities,
    _ choice: PathChoice,
    walks: Bool, telling: OrderedStore.Telling?
  ) {
    self.choice = choice
    self.walks = walks && choice.walkObjection == nil
    append = AppendStore(connection, overridesIdentity: shape.rules.overridesIdentity)
    walk = WalkStore(connection)
    base = StagedStore(connection, shape, capabilities)
    small = UnnestStore(connection, shape, capabilities)
    told = telling.map { OrderedStore(connection, OrderedPlan(shape, capabilities), telling: $0) }
  }

  var arrangement: RowArrangement { .rounds }

  mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    if told == nil, choice.appendObjection == nil, walk.wasWorthIt != true,
      try append.appendFree(rows, order, &savepoints, &outcomes)
    {
      batchCounts[.append, default: 0] += 1
      return
    }
    let walked = walks ? try walk.differing(rows, order, &outcomes) : nil
    let rest = walked ?? order
    let isSmall = told == nil && rest.rows.count < PathChoice.smallBatchCount && choice.unnestsSmall
    let path = rest.rows.isEmpty ? nil : isSmall ? .unnest : choice.base.path
    switch path {
    case nil: break
    case _ where told != nil: try told?.store(rows, rest, &savepoints, &outcomes)
    case .unnest: try small.store(rows, rest, &savepoints, &outcomes)
    default: try base.store(rows, rest, &savepoints, &outcomes)
    }
    if let walked { outcomes.forget(order, but: walked, of: rows) }
    // What has failed and is tried again counts once.
    if rest.rows.count < order.rows.count { batchCounts[.walk, default: 0] += 1 }
    if let path { batchCounts[path, default: 0] += 1 }
  }
}
