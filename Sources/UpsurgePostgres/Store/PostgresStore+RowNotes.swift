import Upsurge
import UpsurgeRecords
import UpsurgeState

/// What is noted of rows that feeds have delivered.
extension PostgresStore {
  /// - Returns: nil where nothing is noted.
  /// - Throws: `usage` where nobody would know of some records whether they have become their row.
  func rowNotes(
    of table: TargetTable, _ target: SweepTarget, _ context: StoreContext
  ) throws(UpsurgeError) -> RowNotes? {
    guard let rules = options.delivery.rules.rowState else { return nil }
    try checkNoted(table, sourceCount: context.sourceNames.count)
    let isTrial = options.output.dryRun != nil
    let notes = RowNotes(
      rules, of: noteName(of: table.name), key: target.rows.key.map(\.name), sources: context.sourceNames,
      schema: stateSchema(beside: table.name), isTrial: isTrial)
    if !isTrial {
      try session.asking { (connection) throws(PostgresFailure) in try notes.notes.make(connection) }
    }
    return notes
  }

  private func checkNoted(_ table: TargetTable, sourceCount: Int) throws(UpsurgeError) {
    let name = noteName(of: table.name).escapedForTerminal
    func refusal(_ reason: Wording, hint: Wording) -> UpsurgeError {
      UpsurgeError(
        .usage, "table \(name): what is noted of each row (row-state, owned-by) \(saying: reason)", hint: hint
      )
    }
    let merge = table.given.merge
    if merge.condition != nil || merge.newer != nil {
      throw refusal(
        "does not go together with update-if and merge: newer on a server yet: nobody knows which records have lost",
        hint: "leave out update-if and merge: newer; or mirror into a file of SQLite")
    }
    if table.found == nil, sourceCount > 1 {
      throw refusal(
        "does not know of which source the rows of a new table are",
        hint: "make the table first; or give one source")
    }
    guard let found = table.found else { return }
    if let trigger = found.triggers.first(where: { $0.isForEachRow && $0.isBefore && $0.isEnabled }) {
      throw refusal(
        "does not go together with the trigger \(trigger.name.escapedForTerminal) yet: it may leave rows out",
        hint: "leave out row-state and owned-by; or mirror into a file of SQLite")
    }
    if found.hasRowSecurity || !found.rules.isEmpty {
      throw refusal(
        "does not go together with policies and rules yet: they may hide rows",
        hint: "leave out row-state and owned-by; or mirror into a file of SQLite")
    }
  }

  // MARK: - What mirrors ask

  func rowOwners(of table: String) throws(UpsurgeError) -> [String] {
    try askingNotes(of: table) { (notes, name, connection) throws(PostgresFailure) in
      let sql =
        "SELECT DISTINCT owned_by FROM \(notes.quotedName) WHERE \"table\" = $1 AND owned_by <> '' AND gone = 0 ORDER BY 1"
      return try connection.run(sql, [.text(name)]).rows.compactMap { $0.text(0) }
    } ?? []
  }

  func holdsRowNotes(of table: String) throws(UpsurgeError) -> Bool {
    try askingNotes(of: table) { (notes, name, connection) throws(PostgresFailure) in
      let sql = "SELECT EXISTS (SELECT FROM \(notes.quotedName) WHERE \"table\" = $1)"
      return try connection.run(sql, [.text(name)]).first?.flag(0) ?? false
    } ?? false
  }

  /// SQL that is true of the rows of a table that its feeds have delivered, as far as that is noted.
  func deliveredTerm(_ found: PostgresTable) throws(UpsurgeError) -> String {
    let table = TableName.asSource(schema: found.schema, name: found.name)
    let term = try askingNotes(of: table) { (notes, name, connection) throws(PostgresFailure) -> String in
      let lists = try connection.run(
        "SELECT DISTINCT key_columns FROM \(notes.quotedName) WHERE \"table\" = $1", [.text(name)])
      let terms = lists.rows.compactMap { row -> String? in
        let text = row.text(0) ?? ""
        guard let names = try? JSONValue(text).names, names.allSatisfy({ found.column($0) != nil }) else {
          return nil
        }
        return """
          EXISTS (SELECT FROM \(notes.quotedName) AS upsurge_n WHERE upsurge_n."table" = \(name.literalForPostgres)
            AND upsurge_n.stored = 1 AND upsurge_n.key_columns = \(text.literalForPostgres)
            AND upsurge_n."key" = \(SweptRows.keyText(of: names, found.name.quotedForPostgres)))
          """
      }
      return terms.isEmpty ? "false" : "(\(terms.joined(separator: " OR ")))"
    }
    return term ?? "false"
  }

  /// - Returns: nil where nothing is noted of any table.
  private func askingNotes<Answer>(
    of table: String, _ body: (StateTable, String, PostgresConnection) throws(PostgresFailure) -> Answer
  ) throws(UpsurgeError) -> Answer? {
    let place = try place(of: TableName(table))
    let notes = StateTable(RowStateTable.notes, schema: stateSchema(beside: place))
    return try session.asking { (connection) throws(PostgresFailure) in
      guard try notes.exists(connection) else { return nil }
      return try body(notes, noteName(of: place), connection)
    }
  }
}
