import CSQLite
import UpsurgeRecords

/// One transaction for several loads, which follow each other in it: each is a *part* of it, after a savepoint, so that
/// one that fails takes back only itself.
///
///     BEGIN   SAVEPOINT a ... RELEASE   SAVEPOINT b ... ROLLBACK TO, RELEASE   ...   COMMIT
///
/// It begins with the first part, so that nothing is locked while there is nothing to write.
package struct SharedTransaction {
  var hasBegun = false
  /// Whether a part is open.
  var hasPart = false
  /// Whether a part has ended that was not taken back.
  var hasKept = false

  static let savepoint = "upsurge_part"
}

extension Connection {
  /// From now on what `beginWriting` begins is a part of one transaction.
  package func shareTransaction() { shared = SharedTransaction() }

  /// Whether anything was begun that is not ended.
  package var hasSharedTransaction: Bool { shared != nil && sqlite3_get_autocommit(handle) == 0 }

  func beginPart() throws(UpsurgeError) {
    if sqlite3_get_autocommit(handle) != 0 {
      if shared?.hasBegun == true { throw lostShared() }
      try beginAlone()
      shared?.hasBegun = true
    }
    try execute("SAVEPOINT \(SharedTransaction.savepoint)")
    shared?.hasPart = true
  }

  func endPart(isKept: Bool) throws(UpsurgeError) {
    guard let shared, shared.hasPart else { return }
    self.shared?.hasPart = false
    if sqlite3_get_autocommit(handle) != 0 {
      if isKept { throw lostShared() }
      // Nothing was lost but this part.
      if !shared.hasKept { self.shared?.hasBegun = false }
      return
    }
    let undo = isKept ? "" : "ROLLBACK TO \(SharedTransaction.savepoint);"
    try execute("\(undo) RELEASE \(SharedTransaction.savepoint)")
    if isKept { self.shared?.hasKept = true }
  }

  /// Whether SQLite, or RAISE(ROLLBACK) in a trigger, has taken back the transaction with all its parts.
  package var hasLostShared: Bool { shared?.hasBegun == true && sqlite3_get_autocommit(handle) != 0 }

  /// Says that the transaction with all its parts is gone.
  package func lostShared() -> UpsurgeError {
    UpsurgeError(
      .database,
      "the transaction that the tables share was rolled back, by SQLite or by RAISE(ROLLBACK) in a trigger",
      hint: "RAISE(ABORT) in a trigger refuses only the record")
  }

  /// Commits all parts. From then on each transaction is one of its own.
  /// - Throws: what COMMIT says; all parts are still open then, or rolled back.
  package func commitShared() throws(UpsurgeError) {
    if hasLostShared { throw lostShared() }
    if hasSharedTransaction { try execute("COMMIT") }
    shared = nil
  }

  /// Takes all parts back. From then on each transaction is one of its own.
  package func rollBackShared() {
    if hasSharedTransaction { try? execute("ROLLBACK") }
    shared = nil
  }

  /// Runs something while foreign keys are looked at only when it has ended, by the caller; what it leaves open must be
  /// taken back then.
  package func deferringReferences<Result>(
    _ body: () throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    try execute("PRAGMA defer_foreign_keys=ON")
    defer { try? execute("PRAGMA defer_foreign_keys=OFF") }
    return try body()
  }

  /// Whether a row refers to one that is not there, as far as this transaction has brought that about.
  package var hasOpenReferences: Bool { status(SQLITE_DBSTATUS_DEFERRED_FKS) != 0 }
}
