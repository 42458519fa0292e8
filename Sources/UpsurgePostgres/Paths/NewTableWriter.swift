import UpsurgeRecords

/// Stores batches in a table that is new: they are copied into it without a key, which is added at the end.
///
/// Where the key does not hold then, a key has come twice. The table is emptied and gets its key, and the run begins again: its
/// batches go to the delta path from now on.
package struct NewTableWriter: ~Copyable {
  package enum Ending: Sendable, Equatable {
    /// The table has its name, its key and its indexes.
    case complete
    /// The table is empty, and all records are to be stored again.
    case keyComesTwice
  }

  package let newTable: NewTable
  private let connection: PostgresConnection
  private let isKeyed: Bool
  private let family: ServerFamily
  private var writer: BatchWriter<NewTablePath>

  /// Makes the table, or takes up one that a run before has made; part of the transaction that is open.
  /// - Parameters:
  ///   - columns: those that the records have.
  ///   - slots: the slot of each of them.
  package init(
    _ connection: PostgresConnection, _ newTable: NewTable, columns: [String], rules: OrderedRules,
    _ capabilities: Capabilities, slots: [Int]
  ) throws(PostgresFailure) {
    self.newTable = newTable
    self.connection = connection
    var found = try PostgresTable.read(schema: newTable.schema, name: newTable.ownName, connection)
    if found == nil {
      try connection.run(newTable.creation)
      found = try PostgresTable.read(schema: newTable.schema, name: newTable.ownName, connection)
    }
    guard let table = found else {
      throw PostgresFailure(.schemaChanged, "the table \(newTable.ownName) has gone", sqlState: "42P01")
    }
    isKeyed = table.primaryKey != nil
    family = capabilities.family
    // Records with a NULL in the key are found by the key that will be.
    let shape = RecordShape(
      table, key: table.primaryKey ?? newTable.futureKey(of: table), columns: columns, rules: rules)
    let base = isKeyed ? shape : RecordShape(table, key: nil, columns: columns, rules: rules)
    let append = isKeyed ? nil : AppendStore(connection, overridesIdentity: rules.overridesIdentity)
    writer = BatchWriter(
      NewTablePath(append: append, rest: StagedStore(connection, base, capabilities)), shape, slots: slots)
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

  /// Gives the table its key, its name and its indexes; part of the transaction that is open, which notes the run's end or its new
  /// beginning.
  package func finish() throws(PostgresFailure) -> Ending {
    let key = newTable.keyAddition(hasOwnName: try isKeyNameFree)
    // The keys of two million rows do not fit into the server's own 64 MB, and would be sorted on its disk.
    if family.keepsDDLInTransactions { try connection.run(Self.sortMemory) }
    try connection.run("SAVEPOINT upsurge_key")
    do throws(PostgresFailure) {
      if !isKeyed, let key { try connection.run(key) }
      try connection.run("RELEASE upsurge_key")
    } catch {
      // A key that comes twice, or is too large for an index.
      guard error.kind == .record, let key else { throw error }
      try connection.run(
        "ROLLBACK TO upsurge_key; RELEASE upsurge_key; TRUNCATE \(newTable.ownQuotedName); \(key)")
      return .keyComesTwice
    }
    try connection.run(([newTable.renaming] + newTable.indexCreations).joined(separator: "; "))
    return .complete
  }

  /// Raises what building an index may take, until the transaction ends.
  private static let sortMemory =
    "SELECT set_config('maintenance_work_mem', '256MB', true)"
    + " WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('256MB')"

  private var isKeyNameFree: Bool {
    get throws(PostgresFailure) {
      if newTable.keyName.utf8.count > 63 { return false }
      let name = "\(newTable.schema.quotedForPostgres).\(newTable.keyName.quotedForPostgres)"
      return try connection.run("SELECT to_regclass($1) IS NULL", [.text(name)]).first?.flag(0) ?? false
    }
  }
}

/// Copies, where the table has no key yet, and its base path.
private struct NewTablePath: RowStore {
  /// nil where it has its key.
  var append: AppendStore?
  let rest: StagedStore

  var arrangement: RowArrangement { append == nil ? .rounds : .none }

  mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if try append?.append(rows, order, &savepoints, &outcomes) == true { return }
    try rest.store(rows, order, &savepoints, &outcomes)
  }
}
