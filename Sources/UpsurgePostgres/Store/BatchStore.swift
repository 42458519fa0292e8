import Upsurge
import UpsurgeRecords
import UpsurgeStorage

/// Stores batches in the table of a run, each within a transaction that is open: records of one kind by the statements for them.
final class BatchStore {
  private let table: TargetTable
  private let capabilities: Capabilities
  private let walks: Bool
  /// The columns of the records, in slot order.
  private var columns: [ColumnTarget]
  private var connection: PostgresConnection?
  private var plan: RecordPlan?
  private var writers: [RecordGroups.Kind: Writer] = [:]
  /// Columns that the table is to get before the next records.
  private var additions: [ColumnTarget] = []
  /// How many batches took each path, at least in part.
  private(set) var pathCounts: [PathChoice.Path: Int] = [:]
  private let tombstone: TombstoneTest?
  private var hasCommitted = false
  /// How the next batches are encoded, as long as all of their records are of one kind; nil where that is not known.
  private(set) var recipe: RowRecipe?
  /// All records of the batch that is stored next, encoded before; nil where they were not.
  var ahead: AheadRows?
  private var recipeCount = 0

  /// - Parameter walks: whether rows may be compared here.
  init(_ table: TargetTable, _ capabilities: Capabilities, walks: Bool) {
    (self.table, self.capabilities, self.walks) = (table, capabilities, walks)
    columns = table.knownColumns
    tombstone = table.given.tombstone.flatMap { tombstone in
      table.columns.slot(named: tombstone.column).map { TombstoneTest(cellIndex: $0, value: tombstone.value) }
    }
  }

  /// Takes a kind of record; what it is stored by stays.
  private final class Writer {
    var path: PathWriter?
    var new: NewTableWriter?

    func store(
      _ batch: borrowing Batch, _ records: [Int32]?, within savepoints: inout Savepoints
    ) throws(PostgresFailure) -> BatchOutcomes {
      if new != nil { return try new!.store(batch, only: records, within: &savepoints) }
      return try path!.store(batch, only: records, within: &savepoints)
    }

    /// Takes rows for the next batch.
    func take(_ ahead: AheadRows) { if new != nil { new!.take(ahead) } else { path!.take(ahead) } }

    /// Gives them back after it.
    func giveBack(_ ahead: AheadRows) { if new != nil { new!.giveBack(ahead) } else { path!.giveBack(ahead) } }
  }

  /// What became of the records of a batch.
  struct Outcome {
    var ledger = Ledger()
    var rejected: [BatchOutcomes.Rejected] = []
    var hasDeletes = false
    /// The first record that nothing was done about, because the transaction should hold no more; nil where all are done.
    var next: Int?
  }

  /// Whether transactions must be ones of a snapshot (REPEATABLE READ).
  private(set) var needsSnapshot = false

  /// Adds columns that records of the next batch speak of for the first time.
  func add(_ new: [ColumnTarget]) {
    columns += new
    let control = table.controlColumn
    additions += new.filter { target in control.map { !SQLName.isSame($0, target.name) } ?? true }
    forgetWriters()
  }

  /// Forgets what was made for a transaction that was rolled back.
  func forget() {
    forgetWriters()
    (connection, plan) = (nil, nil)
  }

  private func forgetWriters() { (writers, recipe) = ([:], nil) }

  /// Stores a part of a batch, or as much of it as one transaction should hold.
  /// - Parameter selection: the indexes of the records that the part counts; nil where these are indexes themselves. What is said of a
  ///   record is said by its index in the batch.
  func store(
    _ part: BatchPart, of batch: borrowing Batch, only selection: [Int32]? = nil, on connection: PostgresConnection
  ) throws(PostgresFailure) -> Outcome {
    let plan = try prepare(connection)
    var outcome = Outcome()
    if var rejected = part.rejected {
      if let selection { rejected.record = Int(selection[rejected.record]) }
      outcome.rejected = [rejected]
      return outcome
    }
    let groups = RecordGroups(
      batch, part.records, only: selection, tombstone: tombstone, keySlots: comparableKeySlots(plan))
    // Groups that were gathered end at no record before which all are done.
    var savepoints = groups.isGathered ? part.savepoints.withoutLimit : part.savepoints
    for group in groups.groups where outcome.next == nil {
      if savepoints.isSpent, let first = group.records?.first {
        outcome.next = Int(first)
        break
      }
      if group.kind.isDelete { outcome.hasDeletes = true }
      if let column = lackedKeyColumn(of: group.kind, plan) {
        let records = group.records ?? part.records.map { Int32(truncatingIfNeeded: $0) }
        outcome.rejected += records.map {
          BatchOutcomes.Rejected(record: Int($0), cause: .nullKey(column: column))
        }
        continue
      }
      let writer = try writer(for: group.kind, plan, connection)
      let own = group.kind == RecordGroups.Kind() && ahead?.recipe.number == recipe?.number ? ahead : nil
      if let own { writer.take(own) }
      defer { if let own { writer.giveBack(own) } }
      let outcomes = try writer.store(batch, group.records, within: &savepoints)
      outcome.next = outcomes.next
      try outcomes.check()
      outcome.add(outcomes, mode: group.kind.isDelete ? .delete : table.mode)
    }
    outcome.rejected.sort { $0.record < $1.record }
    return outcome
  }

  /// What becomes of records that are the same as their row.
  func ledger(ofSame count: Int) -> Ledger {
    var outcome = Outcome()
    var outcomes = BatchOutcomes()
    outcomes.unchanged = count
    outcome.add(outcomes, mode: table.mode)
    return outcome.ledger
  }

  /// Looks at the table on a connection that is new, and adds the columns that it is to have.
  private func prepare(_ connection: PostgresConnection) throws(PostgresFailure) -> RecordPlan {
    let isSame = self.connection === connection
    if isSame, let plan { try hold(plan.found, connection) }
    if isSame, additions.isEmpty, let plan { return plan }
    var found = try read(connection)
    if let found { try hold(found, connection) }
    // A table that has gone with rows that are committed is not made again.
    if found == nil, let making = table.making, !hasCommitted {
      try connection.run(
        making.creation
          + (making.isKeyedFirst ? "; \(making.keyAddition(hasOwnName: false) ?? "SELECT")" : ""))
      found = try read(connection)
    }
    guard var table = found else {
      throw PostgresFailure(.schemaChanged, "the table \(self.table.name.shown) has gone", sqlState: "42P01")
    }
    let missing = additions.filter { table.columnLike($0.name) == nil }
    if !missing.isEmpty {
      let list = missing.map { "ADD COLUMN \($0.name.quotedForPostgres) \(ServerType.name(of: $0.affinity))" }
      try connection.run("ALTER TABLE \(table.quotedName) \(list.joined(separator: ", "))")
      table = try read(connection) ?? table
    }
    let plan = RecordPlan(self.table, found: table)
    forgetWriters()
    (self.connection, self.plan) = (connection, plan)
    return plan
  }

  /// Locks a table that this run makes, so that it stays what it is until the transaction ends.
  /// - Throws: `schemaChanged` where another run has made it anew.
  private func hold(_ found: PostgresTable, _ connection: PostgresConnection) throws(PostgresFailure) {
    guard let making = table.making, making.run != nil, capabilities.family.keepsDDLInTransactions else { return }
    let name = making.ownQuotedName
    try connection.run("LOCK TABLE \(name) IN ROW EXCLUSIVE MODE")
    let mark = try connection.run("SELECT obj_description(to_regclass($1), 'pg_class')", [.text(name)])
    if mark.first?.text(0) == making.mark { return }
    throw PostgresFailure(
      .schemaChanged, "another run makes the table \(table.name.shown): \(making.ownName) is not this run's any more",
      sqlState: "42P01")
  }

  /// The columns were added with a commit.
  func didCommit() {
    additions = []
    hasCommitted = true
  }

  private func read(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresTable? {
    let name = table.making?.ownName ?? table.name.name
    return try PostgresTable.read(schema: table.making?.schema ?? table.name.schema, name: name, connection)
  }

  private func writer(
    for kind: RecordGroups.Kind, _ plan: RecordPlan, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Writer {
    if let known = writers[kind] { return known }
    let (shape, slots) = plan.fields(of: columns, as: kind)
    let writer = Writer()
    if let making = table.making, !making.isKeyedFirst {
      let new = try NewTableWriter(
        connection, making, columns: shape.columns.map(\.name), rules: shape.rules, capabilities, slots: slots)
      note(new.recipe(recipeCount), of: kind)
      writer.new = consume new
    } else {
      let path = PathWriter(connection, shape, capabilities, slots: slots, walks: walks)
      needsSnapshot = needsSnapshot || path.needsSnapshot
      note(path.recipe(recipeCount), of: kind)
      writer.path = consume path
    }
    writers[kind] = writer
    return writer
  }

  /// Batches are encoded ahead by the recipe for records that have all columns and are no deletes.
  private func note(_ recipe: RowRecipe, of kind: RecordGroups.Kind) {
    guard kind == RecordGroups.Kind(), tombstone == nil else { return }
    self.recipe = recipe
    recipeCount += 1
  }

  /// The first column of the key that records of a kind do not speak of; nil where they have all.
  private func lackedKeyColumn(of kind: RecordGroups.Kind, _ plan: RecordPlan) -> String? {
    guard let key = plan.key else { return nil }
    let given = Set(
      columns.indices.filter { !kind.lacks($0) }.compactMap { plan.column(of: columns[$0])?.name })
    let named = plan.found.columns.filter { column in
      key.parts.contains { part in
        part.column.map { $0 == column.name } ?? part.operands.contains(column.name)
      }
    }
    return named.first { !given.contains($0.name) }?.name
  }

  /// The slots of the key, where its columns are of types whose values have one spelling each, and records of different keys
  /// may change places.
  private func comparableKeySlots(_ plan: RecordPlan) -> [Int]? {
    guard let names = plan.key?.columns, plan.key?.predicate == nil else { return nil }
    let all = plan.shape(of: columns.compactMap { plan.column(of: $0)?.name })
    if PathChoice.objection(toReordering: all) != nil { return nil }
    var slots: [Int] = []
    for name in names {
      guard let slot = columns.firstIndex(where: { plan.column(of: $0)?.name == name }),
        let column = plan.found.column(name)
      else { return nil }
      switch BinaryColumn(column).form {
      case .int2, .int4, .int8: break
      case .text where column.collation?.isDeterministic ?? true: break
      default: return nil
      }
      slots.append(slot)
    }
    return slots
  }

  /// Gives a new table its key and its name; part of the transaction that is open.
  func finishNewTable(_ connection: PostgresConnection) throws(PostgresFailure) -> NewTableWriter.Ending {
    guard let making = table.making else { return .complete }
    let plan = try prepare(connection)
    let names = plan.found.columns.filter(\.isWritable).map(\.name)
    let writer = try NewTableWriter(
      connection, making, columns: names, rules: OrderedRules(), capabilities, slots: Array(names.indices))
    return try writer.finish()
  }
}

extension BatchStore.Outcome {
  /// Counts what became of records of one kind.
  fileprivate mutating func add(_ outcomes: BatchOutcomes, mode: WriteMode) {
    let counts = [
      outcomes.inserted, outcomes.updated, outcomes.deleted, outcomes.kept, outcomes.missing,
      outcomes.unchanged,
    ]
    ledger.read += UInt64(counts.reduce(0, +))
    ledger.inserted += UInt64(outcomes.inserted)
    ledger.updated += UInt64(outcomes.updated)
    ledger.deleted += UInt64(outcomes.deleted)
    ledger.stale += UInt64(outcomes.kept)
    ledger.ignored += UInt64(outcomes.missing)
    if mode == .ignore {
      ledger.ignored += UInt64(outcomes.unchanged)
    } else {
      ledger.unchanged += UInt64(outcomes.unchanged)
    }
    rejected += outcomes.rejected
  }
}
