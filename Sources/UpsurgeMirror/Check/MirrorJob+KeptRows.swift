import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// Rows that were edited here and are to be kept (`local-edits: keep`), and that the job itself would delete or change:
/// by a foreign key, with the rows of another table.
extension MirrorJob {
  /// Why rows of a table cannot be kept.
  struct KeptRowFault {
    var table: String
    /// A sentence that follows the table's name.
    var message: String
    var fix: String
  }

  /// What the job's feeds do to rows of a table.
  private struct Doing {
    var table: MirrorTable
    var change: ReferenceActions.Change
    /// In words, to follow "rows of TABLE".
    var words: String
    /// What makes it stop.
    var fix: String
  }

  /// - Throws: `guardRefused` where foreign keys would take away or change rows that the job is to keep.
  func checkKeptRows() throws(UpsurgeError) {
    // A server's table with such a key is refused by itself.
    guard !isOnServer, databaseIsThere, tables.contains(where: { $0.localEdits == .keep }) else { return }
    guard let fault = try keptRowFaults(on: Connection.looking(at: database)).first else { return }
    throw UpsurgeError(
      .guardRefused,
      "nothing of the job is stored: table \(fault.table.escapedForTerminal) \(fault.message.escapedForTerminal)",
      hint: fault.fix.escapedForTerminal)
  }

  /// One for each table whose rows cannot be kept.
  func keptRowFaults(on connection: Connection) throws(UpsurgeError) -> [KeptRowFault] {
    let kept = tables.filter { $0.localEdits == .keep }
    if kept.isEmpty { return [] }
    let actions = try ReferenceActions(connection)
    var doings: [Doing] = []
    for table in tables {
      guard let schema = try TableSchema.read(connection, table: table.name) else { continue }
      doings += self.doings(table, schema)
    }
    var faults: [KeptRowFault] = []
    for table in kept {
      let check = SchemaCheck(job: self, table: table)
      for doing in doings {
        let path = actions.path(from: doing.table.name, doing.change, to: table.name) { step in
          // Columns that the feed does not write are free.
          step.deletes || step.columns.contains { check.mayBring($0) || table.sets($0) }
        }
        guard let path, let last = path.last else { continue }
        faults.append(fault(table, doing, path, last))
        break
      }
    }
    return faults
  }

  private func fault(
    _ table: MirrorTable, _ doing: Doing, _ path: [ReferenceActions.Step], _ last: ReferenceActions.Step
  ) -> KeptRowFault {
    let (name, other) = (table.name, doing.table.name)
    let verb = last.deletes ? "lose them" : "have them changed"
    let event = last.action.hasPrefix("ON DELETE") ? "ON DELETE" : "ON UPDATE"
    let instead =
      table.kind == .delta ? "leave out local-edits for \(name)" : "local-edits: repair for \(name)"
    return KeptRowFault(
      table: name,
      message:
        "keeps rows that were edited here (local-edits: keep), and would \(verb) with rows of \(other) \(doing.words): "
        + path.map(\.text).joined(separator: ", "),
      fix:
        "\(doing.fix) for \(other); or \(instead); or \(event) RESTRICT or NO ACTION in table \(last.table)")
  }

  /// What a table's feed does to rows to which others may refer.
  private func doings(_ table: MirrorTable, _ schema: TableSchema) -> [Doing] {
    var doings: [Doing] = []
    if table.sweep == .hard {
      doings.append(
        Doing(
          table: table, change: .deleted, words: "that this job deletes (sweep: hard)",
          fix: "write sweep: {soft: COL} or sweep: none"))
    }
    let rules = table.options.rules
    if rules.tombstone != nil || rules.mode == .delete {
      let option = rules.mode == .delete ? "mode: delete" : "delete-when"
      doings.append(
        Doing(
          table: table, change: .deleted, words: "that its feed deletes (\(option))",
          fix: "leave out \(option)"))
    }
    if let mode = rules.mode, mode != .upsert, mode != .update { return doings }
    let changed = changedColumns(SchemaCheck(job: self, table: table), schema)
    doings.append(
      Doing(
        table: table, change: .updated(Set(changed.map(SQLName.folded))),
        words: "whose columns its feed may change", fix: "list columns without the one that is referred to"))
    return doings
  }

  /// The columns that records may set in rows that are there: not those by which they find them.
  private func changedColumns(_ check: SchemaCheck, _ schema: TableSchema) -> [String] {
    let fixed = check.key(in: schema)?.columns ?? check.table.options.rules.key
    return schema.columns.enumerated().filter { index, column in
      // A feed that goes by another key seldom has the number of a row; columns says so where it does.
      if index == schema.rowidAlias && check.brought == nil { return false }
      return check.mayBring(column.name) && !fixed.contains { SQLName.isSame($0, column.name) }
    }.map { $0.element.name }
  }
}

extension MirrorTable {
  /// Whether `set` says what becomes of a column.
  fileprivate func sets(_ column: String) -> Bool {
    options.rules.merge.columns.keys.contains { SQLName.isSame($0, column) }
  }
}
