import Upsurge
import UpsurgeRecords
import UpsurgeState

extension PostgresStore {
  /// What is known of a delivery in parts, and what will be; nil where it is read as a whole, and none of it remembered.
  func chunkMemory(
    of table: TargetTable, _ target: SweepTarget, _ source: PreparedSource, _ context: StoreContext
  ) throws(UpsurgeError) -> ChunkMemory? {
    guard options.output.dryRun == nil, options.transaction.durability != .off, capabilities.family == .postgreSQL,
      let reading = source.chunkWords(options, sourceCount: context.sourceNames.count), let cells = table.rememberedKeyCells(target)
    else { return nil }
    let notes = ChunkNotes(
      notes: StateTable(ChunkTable.notes, schema: stateSchema(beside: table.name)), table: noteName(of: table.name))
    guard try hasRoom(for: notes) else {
      context.note(
        RunNote(
          .info,
          "\(notes.notes.schema.escapedForTerminal).\(ChunkTable.name) cannot be made or written, so all of each delivery is compared"))
      return nil
    }
    var known: ChunkNotes.Known?
    let chunks = try DeliveryChunks(reading: "\(reading) \(table.key.words) \(cells)", keyCells: cells, options) {
      (limit) throws(UpsurgeError) in
      known = try session.asking { (connection) throws(PostgresFailure) in try notes.known(limit: limit, connection) }
      return known?.manifest
    }
    return ChunkMemory(chunks, notes, known: known, run: context.owner.text)
  }

  /// Makes the table of chunks where it is missing.
  /// - Returns: false where the user may not: nothing is remembered then.
  private func hasRoom(for notes: ChunkNotes) throws(UpsurgeError) -> Bool {
    try session.asking { (connection) throws(PostgresFailure) in
      do throws(PostgresFailure) {
        try notes.notes.make(connection)
      } catch {
        guard error.sqlState == "42501" else { throw error }
        return false
      }
      let rights = ["SELECT", "INSERT", "UPDATE", "DELETE"].map { "has_table_privilege($1, '\($0)')" }
      return try connection.run("SELECT \(rights.joined(separator: " AND "))", [.text(notes.notes.quotedName)]).first?.flag(0) ?? false
    }
  }
}

extension TargetTable {
  /// The cells of a record that make its key, where rows that a delivery has brought say nothing else than its records until
  /// somebody writes to them; nil where that is not sure.
  fileprivate func rememberedKeyCells(_ target: SweepTarget) -> [Int]? {
    guard mode == .upsert, given.merge == Merge(), given.nullKeys == .reject, given.tombstone == nil, !target.isReferredToByItself
    else { return nil }
    guard let found else {
      let cells = making?.key.compactMap { columns.slot(named: $0) } ?? []
      return cells.isEmpty || cells.count != making?.key.count ? nil : cells
    }
    // The transactions of rows are asked for, which rights to some columns do not let see.
    guard found.rights.selects, !found.hasRowTriggers, !found.hasRowSecurity, !found.isTemporary, !found.hasChildren, found.rules.isEmpty,
      columns.targets.allSatisfy({ found.columnLike($0.name)?.isWritable == true }), let keys = target.keys,
      !target.rows.key.contains(where: { $0.isDomain && !$0.isNotNull })
    else { return nil }
    return keys.slots
  }
}
