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

  /// A table as it stands; nil without one.
  func mirrored(_ table: String) throws(UpsurgeError) -> MirroredTable?

  /// Whether a table has a row.
  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool
}

/// What a mirror must know of a table, whichever store has it.
package struct MirroredTable: Sendable {
  package struct Column: Sendable {
    package var name: String
    /// As the store declares it.
    package var type: String

    package init(name: String, type: String) { (self.name, self.type) = (name, type) }
  }

  package var columns: [Column]
  /// The tables that its rows refer to.
  package var parents: [String]

  package init(columns: [Column], parents: [String]) { (self.columns, self.parents) = (columns, parents) }
}

/// What a database holds in a table of notes, and what time it is there.
package struct StoredNotes: Sendable {
  package var rows: [[SQLValue]]
  /// UTC, ISO 8601.
  package var now: String

  package init(rows: [[SQLValue]], now: String) { (self.rows, self.now) = (rows, now) }
}
