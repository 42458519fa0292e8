import Upsurge
import UpsurgeRecords
import UpsurgeState

extension PostgresTransfer {
  /// A run resumes only where all that it has read can be read again.
  var isResumable: Bool {
    guard transactions.keepsRun, committedLedger.read > 0 else { return false }
    return files.canReadAgain(upTo: last?.sourceIndex ?? 0)
  }

  /// Looks whether a table still has rows that a crash of the server, or a failover, does not leave.
  /// - Throws: `commitsLost`.
  func checkRows(_ connection: PostgresConnection) throws(PostgresFailure) {
    guard transactions.commitsParts, let found = table.found, found.losesRowsInCrash else { return }
    let stored = committedLedger.inserted + committedLedger.updated + committedLedger.unchanged
    guard stored > committedLedger.deleted else { return }
    let rows = try connection.run("SELECT EXISTS (SELECT FROM \(found.quotedName))", [])
    if rows.first?.flag(0) == true { return }
    throw PostgresFailure(
      .commitsLost, "has emptied \(table.name.shown), which is UNLOGGED, as a crash or a failover does")
  }
}
