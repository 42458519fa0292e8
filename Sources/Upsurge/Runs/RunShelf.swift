/// What a store knows of earlier runs with which a job may have to do.
package protocol RunShelf {
  /// For messages: the path of the database, or its URL without a password.
  var place: String { get }

  /// The runs of a table that have not ended, and those that are complete but whose ledger may not have been seen; in the
  /// order in which they began.
  func openRuns(of table: String) throws(UpsurgeError) -> [RunRecord]

  /// Whether somebody has dropped or emptied the table since a run has stored rows in it.
  func hasLostRows(of run: RunRecord) throws(UpsurgeError) -> Bool
}

extension Connection: RunShelf {
  package var place: String { path }

  package func openRuns(of table: String) throws(UpsurgeError) -> [RunRecord] { try RunTable.open(self, table: table) }

  package func hasLostRows(of run: RunRecord) throws(UpsurgeError) -> Bool {
    let ledger = run.progress.ledger
    // So many rows the run has left there, at least if no key came twice.
    let found = ledger.inserted + ledger.updated + ledger.unchanged
    guard found > ledger.deleted else { return false }
    guard let schema = try TableSchema.read(self, table: run.job.table) else { return true }
    guard schema.kind == .table else { return false }
    return try integer("SELECT 1 FROM main.\(SQLName.quote(schema.name)) LIMIT 1") == nil
  }
}
