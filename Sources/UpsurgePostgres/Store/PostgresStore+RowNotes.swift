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
    if rules.localEdits == .keep { try checkKept(table, target) }
    let isTrial = options.output.dryRun != nil
    let notes = RowNotes(
      rules, of: noteName(of: table.name), key: target.rows.key.map(\.name),
      columns: table.found?.columns.map(\.name) ?? [], sources: context.sourceNames,
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

  /// - Throws: `guardRefused` where foreign keys would take rows away that are to be kept, or change them; `usage` where the server
  ///   alone knows which of them records are about.
  private func checkKept(_ table: TargetTable, _ target: SweepTarget) throws(UpsurgeError) {
    // Of a table that the run makes, no row was edited yet.
    guard let found = table.found else { return }
    let name = noteName(of: table.name).escapedForTerminal
    if target.rows.key.contains(where: { $0.isDomain || BinaryColumn($0).form == .castText }) {
      throw UpsurgeError(
        .usage,
        "table \(name): local-edits: keep asks for a key of numbers, texts, dates or UUIDs on a server",
        hint: "local-edits: repair; or mirror into a file of SQLite")
    }
    let acting = found.constraints.first { constraint in
      guard case .foreignKey = constraint.kind else { return false }
      return ["CASCADE", "SET NULL", "SET DEFAULT"].contains { action in
        ["ON DELETE", "ON UPDATE"].contains { constraint.definition.contains("\($0) \(action)") }
      }
    }
    guard let acting else { return }
    throw UpsurgeError(
      .guardRefused,
      "table \(name) keeps rows that were edited here (local-edits: keep), and its foreign key \(acting.name.escapedForTerminal) may delete or "
        + "change them: \(acting.definition.escapedForTerminal)",
      hint: "local-edits: repair; or RESTRICT or NO ACTION in the foreign key")
  }

  // MARK: - What mirrors ask

  func holdsEdits(of table: String, ownedBy owner: String) throws(UpsurgeError) -> Bool {
    guard let found = try catalogued(table) else { return false }
    var rules = RowStateRules()
    rules.owner = owner
    let isEdited = try askingNotes(of: table) { (notes, name, connection) throws(PostgresFailure) -> Bool in
      // Texts of values are those of a delivery's transaction.
      try connection.run(TransactionSettings().beginSQL)
      defer { connection.rollback() }
      let lists = try connection.run(
        "SELECT DISTINCT key_columns FROM \(notes.quotedName) WHERE \"table\" = $1 AND owned_by = $2 AND content IS NOT NULL",
        [.text(name), .text(owner)])
      for row in lists.rows {
        guard let names = try? JSONValue(row.text(0) ?? "").names else { continue }
        let key = names.compactMap(found.column)
        if key.count < names.count { continue }
        let rows = SweptRows(
          quotedName: found.ownRows, alias: found.name.quotedForPostgres, key: key,
          collations: key.map { _ in "" }, scope: nil,
          mark: nil)
        let known = RowNotes(
          rules, of: name, key: names, columns: found.columns.map(\.name), sources: [], schema: notes.schema,
          isTrial: false)
        if try known.holdsEdits(rows, connection) { return true }
      }
      return false
    }
    return isEdited ?? false
  }

  func forgetContent(of table: String, ownedBy owner: String) throws(UpsurgeError) {
    _ = try askingNotes(of: table) { (notes, name, connection) throws(PostgresFailure) in
      let noted = "\"table\" = $1 AND owned_by = $2 AND (content IS NOT NULL OR edit IS NOT NULL)"
      let parameters: [PostgresParameter] = [.text(name), .text(owner)]
      // Who notes no rows may have no right to change what others note.
      let isNoted = try connection.run(
        "SELECT EXISTS (SELECT FROM \(notes.quotedName) WHERE \(noted))", parameters)
      guard isNoted.first?.flag(0) == true else { return }
      try connection.run(
        "UPDATE \(notes.quotedName) SET content = NULL, edit = NULL WHERE \(noted)", parameters)
    }
  }

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
