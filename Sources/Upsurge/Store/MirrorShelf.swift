/// What a mirror asks of a store beside its loads: what was noted of feeds, and what a table is. Called on one thread.
package protocol MirrorShelf: RunShelf {
  /// What was noted of a table: rows with the values of all columns, in the order of their keys.
  func notes(in notes: NoteTable, of table: String) throws(UpsurgeError) -> [[SQLValue]]

  /// Writes rows about a table, each in place of one with its key, all or nothing. The first column of each is the table.
  func write(_ rows: [[SQLValue]], in notes: NoteTable, of table: String) throws(UpsurgeError)

  /// UTC, ISO 8601, by the clock of the store.
  func now() throws(UpsurgeError) -> String

  /// The last run of a table that has ended or stays listed.
  func lastRun(of table: String) throws(UpsurgeError) -> RunRecord?

  /// A table as it stands, in the words of SQLite's schemas; nil without one.
  func schema(of table: String) throws(UpsurgeError) -> TableSchema?

  /// - Throws: what is wrong with SQL that is to be a condition over a table's rows.
  func check(scope: String, of table: String) throws(UpsurgeError)

  /// Whether a table has a row.
  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool

  /// What the table is beside its name and its columns: another text where it was made anew, emptied or rewritten since.
  /// - Returns: nil without a table, and where a crash of the server may leave none of its rows.
  func tableMark(of table: String) throws(UpsurgeError) -> String?

  /// How many rows of a table would go.
  func count(_ rows: RemovedRows, of table: String) throws(UpsurgeError) -> UInt64

  /// The names of feeds that still deliver rows of a table, those without a name left out.
  func rowOwners(of table: String) throws(UpsurgeError) -> [String]

  /// Whether somebody has edited or deleted a row that a feed's last delivery has had.
  func holdsEdits(of table: String, ownedBy owner: String) throws(UpsurgeError) -> Bool

  /// Forgets what a feed has stored in its rows: it has written some since without noting what, which is no edit.
  func forgetContent(of table: String, ownedBy owner: String) throws(UpsurgeError)

  /// Whether anything is noted of a table's rows.
  func holdsRowNotes(of table: String) throws(UpsurgeError) -> Bool

  /// Removes rows of a table, what was noted of it, and its runs that have not ended, all or nothing.
  /// - Parameters:
  ///   - notes: tables of notes, beside those of refused deliveries.
  ///   - isTrial: whether it is all taken back in the end.
  /// - Returns: how many rows went.
  /// - Throws: `database` where the rows cannot be deleted.
  func forget(
    _ table: String, rows: RemovedRows, notes: [NoteTable], isTrial: Bool
  ) throws(UpsurgeError) -> UInt64
}

/// Rows of a table that are to go.
package enum RemovedRows: Sendable {
  case none
  /// Rows of `inScope` of which it is noted that a feed has delivered them.
  case delivered(inScope: String?)
  /// Rows for which SQL over the table is true; all rows without it.
  case inScope(String?)
}

/// What a database holds in a table of notes, and what time it is there.
package struct StoredNotes: Sendable {
  package var rows: [[SQLValue]]
  /// UTC, ISO 8601.
  package var now: String

  package init(rows: [[SQLValue]], now: String) { (self.rows, self.now) = (rows, now) }
}
