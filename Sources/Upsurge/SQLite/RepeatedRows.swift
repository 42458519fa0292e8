/// Finds out whether the rows of a load without a key were there before: then its file was probably loaded twice.
///
/// New rows follow one another by their rowids. So those of the load are the last ones, and a few pairs of rows show it, which
/// takes no scan: they are compared with as many rows before them, and with the first ones of the table.
struct RepeatedRows {
  /// How many rows of the load were compared, all of them equal.
  let comparedCount: Int
  /// The last rowid before those of the load.
  let lastRowid: Int64

  /// A single row may well be like the one before it.
  private static let fewest: Int64 = 2
  /// So many rows are compared.
  private static let most: Int64 = 64
  /// Conditions of one statement, of which SQLite takes no more than 1,000 by default.
  private static let columnLimit = 500

  /// - Parameter count: rows that the load has added.
  /// - Returns: nil where the rows are others, or nobody knows.
  init?(of plan: UpsertPlan, count: Int64, on connection: Connection) {
    let schema = plan.schema
    guard count >= Self.fewest, plan.slots.count <= Self.columnLimit, schema.kind == .table, !schema.isWithoutRowid,
      let rowid = schema.rowidName, let table = try? SQLName.quote(schema.name)
    else { return nil }
    let from = "main.\(table)"
    func integer(_ sql: String) -> Int64? { (try? connection.integer(sql)) ?? nil }
    guard let last = integer("SELECT max(\(rowid)) FROM \(from)"), let first = integer("SELECT min(\(rowid)) FROM \(from)")
    else { return nil }
    let (lastBefore, isFar) = last.subtractingReportingOverflow(count)
    let (start, isFarther) = lastBefore.subtractingReportingOverflow(count - 1)
    // As many as are new must have been there.
    guard !isFar, !isFarther, start >= first else { return nil }
    var conditions: [String] = []
    for slot in plan.slots {
      guard let name = try? SQLName.quote(schema.columns[slot.columnIndex].name) else { return nil }
      conditions.append("a.\(name) IS b.\(name)")
    }
    let samples = min(count, Self.most)
    let steps = (0..<samples).map { $0 * (count - 1) / (samples - 1) }
    let isEqual = [start, first].contains { start in
      steps.allSatisfy { step in
        integer(
          "SELECT 1 FROM \(from) AS a, \(from) AS b WHERE a.\(rowid) = \(start + step) AND b.\(rowid) = \(lastBefore + 1 + step) AND "
            + conditions.joined(separator: " AND ")) == 1
      }
    }
    if !isEqual { return nil }
    (comparedCount, lastRowid) = (Int(samples), lastBefore)
  }
}

extension SQLiteTransfer {
  var noteOfRepeatedRows: RunNote? {
    guard !table.facts.isNew, !options.delivery.isRepeated, ledger.updated == 0, ledger.deleted == 0,
      table.repetition(options: options) == .store, let count = Int64(exactly: ledger.inserted),
      let found = RepeatedRows(of: table.plan, count: count, on: connection),
      let quoted = try? SQLName.quote(table.facts.name)
    else { return nil }
    let (rowid, name) = (table.plan.schema.rowidName ?? "rowid", table.facts.name.escapedForTerminal)
    let compared = found.comparedCount < count ? " (\(found.comparedCount) of them were compared)" : ""
    let undo =
      options.output.dryRun != nil
      ? "" : "DELETE FROM \(quoted) WHERE \(rowid) > \(found.lastRowid) takes this load back, and ".escapedForTerminal
    return RunNote(
      .warning,
      "table \(name) had the \(Words.count(UInt64(count), "row")) of this load before\(compared), as without a key each load adds "
        + "all of its records; \(undo)\(.key, "COLS") with \(.createKey) stores each row once")
  }
}
