import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Rows that were edited here since the feed has stored them (see `RowEdits`).
///
///     the first transaction   marks the notes of rows that were changed or deleted
///     repair                  a record that is stored makes of the mark `repaired`; nothing else is done a record
///     keep                    a record about a row that is marked is passed over; the sweep leaves such rows
///     the end                 the marks are counted
extension RowStateKeeper {
  /// What is known of them.
  package struct Edits {
    /// nil where nobody looks for edits.
    var rows: RowEdits?
    /// Whether the note of any row is marked.
    var holdsChanged = false
    package var holdsDeleted = false
    /// What SQLite said of changes by others when they were marked.
    fileprivate var dataVersion: Int64?
    fileprivate var changedQuestion: Statement?
    fileprivate var deletedNote: Statement?
    fileprivate var removal: Statement?
    fileprivate var forgetting: Statement?
    /// Spells the keys of records whose rows are not there.
    package var recordKey: RecordKey?

    mutating func forgetStatements() {
      (changedQuestion, deletedNote, removal, forgetting, recordKey) = (nil, nil, nil, nil, nil)
    }
  }

  /// Whether records about rows that were edited are passed over.
  package var passesOver: Bool { rules.localEdits == .keep && (edits.holdsChanged || edits.holdsDeleted) }

  private var runNumber: String { run.map { "\($0)" } ?? "NULL" }

  /// Whether records must go one by one: which of them bring a row back is told of each.
  package var repairs: Bool { rules.localEdits == .repair && (edits.holdsChanged || edits.holdsDeleted) }

  /// Marks the notes of edited rows in the first transaction of the run, before its first record.
  /// - Throws: `guardRefused` where edits are to be kept, and nobody knows any more which they are.
  package func markEdits() throws(UpsurgeError) {
    guard let rows = edits.rows else { return }
    if rules.localEdits == .keep, let column = try rows.missingColumn(on: connection) {
      throw RowStateTable.missing(column, of: schema.name)
    }
    edits.dataVersion = try connection.integer("PRAGMA main.data_version")
    try rows.unmark(run: runNumber, on: connection)
    edits.holdsChanged = try rows.markChanged(on: connection)
    edits.holdsDeleted = try rows.markDeleted(on: connection)
  }

  /// Marks those of rows that others have changed between two transactions of the run. What is not there any more may be
  /// the run's own work.
  package func markLateEdits() throws(UpsurgeError) {
    guard let rows = edits.rows else { return }
    let version = try connection.integer("PRAGMA main.data_version")
    if version == edits.dataVersion { return }
    edits.dataVersion = version
    if try rows.markChanged(on: connection) { edits.holdsChanged = true }
  }

  /// SQL that is true of a row that no sweep takes away; nil without such rows.
  package var keptTerm: String? {
    rules.localEdits == .keep && edits.holdsChanged ? edits.rows?.markedTerm : nil
  }

  /// SQL that is true of a row that is marked as changed, or was before it was brought back; nil without such rows.
  package var editedTerm: String? {
    edits.holdsChanged || edits.holdsDeleted ? edits.rows?.metTerm : nil
  }

  /// Takes what the table's own triggers have made of rows for what the feed has stored. It does so before a commit after
  /// which the run may be killed.
  package func settleTriggers() throws(UpsurgeError) {
    guard rules.localEdits == .keep, !schema.triggers.isEmpty, let rows = edits.rows else { return }
    try rows.takeOver(content: content, columns: contentColumns, on: connection)
  }

  // MARK: - Records

  /// Forgets what the feed has stored in the row whose identity a statement stands on, as its own record is about to delete
  /// it: a run that is killed after that and goes on takes it for nobody's edit.
  package func forget(rowOf handle: OpaquePointer) throws(UpsurgeError) {
    let statement: Statement
    if let known = edits.forgetting {
      statement = known
    } else {
      guard let rows = edits.rows else { return }
      statement = try connection.prepare(
        """
        UPDATE main.upsurge_rows SET content = NULL WHERE "table" = \(table) AND owned_by = \(owner) AND "key" =
          (SELECT \(rows.key) FROM main.\(try SQLName.quote(schema.name)) WHERE \(try identityCondition()))
        """, isPersistent: true)
      edits.forgetting = statement
    }
    defer { statement.reset() }
    bindIdentity(of: handle, to: statement)
    _ = try statement.step()
  }

  /// Whether the row whose identity a statement stands on is marked.
  package func isMarked(rowOf handle: OpaquePointer) throws(UpsurgeError) -> Bool {
    guard edits.holdsChanged, let rows = edits.rows else { return false }
    let statement: Statement
    if let known = edits.changedQuestion {
      statement = known
    } else {
      statement = try connection.prepare(
        "SELECT 1 FROM main.\(try SQLName.quote(schema.name)) WHERE \(try identityCondition()) AND \(rows.markedTerm)",
        isPersistent: true)
      edits.changedQuestion = statement
    }
    defer { statement.reset() }
    bindIdentity(of: handle, to: statement)
    return try statement.step()
  }

  /// Notes that the feed still has a row that was deleted here.
  /// - Returns: false where it was not; then nothing is noted.
  package func noteDeleted(_ key: String, source: String) throws(UpsurgeError) -> Bool {
    let statement: Statement
    if let known = edits.deletedNote {
      statement = known
    } else {
      statement = try connection.prepare(
        "UPDATE main.upsurge_rows SET source = ?2, run = ?3, gone = 0 WHERE \(markedKey)", isPersistent: true)
      edits.deletedNote = statement
    }
    defer { statement.reset() }
    try statement.bind(key, at: 1)
    try statement.bind(shown(source), at: 2)
    try statement.bind(run.map { .integer($0) } ?? .null, at: 3)
    _ = try statement.step()
    return sqlite3_changes(connection.handle) > 0
  }

  /// Forgets a row that was deleted here, and that the feed says is gone.
  package func forgetDeleted(_ key: String) throws(UpsurgeError) {
    let statement: Statement
    if let known = edits.removal {
      statement = known
    } else {
      statement = try connection.prepare(
        "DELETE FROM main.upsurge_rows WHERE \(markedKey)", isPersistent: true)
      edits.removal = statement
    }
    defer { statement.reset() }
    try statement.bind(key, at: 1)
    _ = try statement.step()
  }

  private var markedKey: String {
    "\"key\" = ?1 AND \"table\" = \(table) AND owned_by = \(owner) AND edit = 'deleted'"
  }

  // MARK: - The end

  /// SQL that is true of notes that stay although their row is not there: somebody has deleted it.
  /// - Parameter isWhole: whether it is known what the feed no longer has.
  func keptNotes(isWhole: Bool) -> String {
    let ours =
      rules.localEdits == nil ? "0" : "edit IS 'deleted'" + (isWhole ? " AND run IS \(runNumber)" : "")
    return """
      owned_by = \(owner) AND \(ours) OR owned_by <> \(owner) AND content IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM main.upsurge_rows AS other WHERE other."key" = upsurge_rows."key"
          AND other."table" = upsurge_rows."table" AND other.owned_by <> upsurge_rows.owned_by)
      """
  }

  /// Counts the edits that the run has met, and takes over what the table's triggers have made of its rows meanwhile.
  package func finishEdits() throws(UpsurgeError) -> LocalEditCounts {
    var counts = LocalEditCounts()
    guard let rows = edits.rows else { return counts }
    if !schema.triggers.isEmpty || !schema.foreignKeys.isEmpty {
      try rows.takeOver(content: content, columns: contentColumns, on: connection)
    }
    let statement = try connection.prepare(
      """
      SELECT edit = 'repaired', count(*) FROM main.upsurge_rows
      WHERE "table" = \(table) AND owned_by = \(owner) AND edit IS NOT NULL AND run IS \(runNumber) GROUP BY 1
      """)
    while try statement.step() {
      let count = UInt64(clamping: statement.integer(at: 1))
      if statement.integer(at: 0) != 0 {
        counts.repaired = count
      } else if rules.localEdits == .keep {
        counts.kept = count
      }
    }
    return counts
  }
}
