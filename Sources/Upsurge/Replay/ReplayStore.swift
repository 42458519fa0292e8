/// A database whose rejected records are tried again, whatever it is: SQLite's file, or a server.
///
///     runs, marks, shelves     what is open, and what is kept
///     transaction              all that changes; on a server its body may be called again, when nothing of its call before stands
///
/// All of it is called on one thread.
package protocol ReplayStore: AnyObject {
  /// For messages: the path of the database, or its URL without a password.
  var place: String { get }

  /// Whether two names mean the same table.
  func isSame(_ table: String, _ other: String) -> Bool

  /// The runs that the database knows of.
  func runs() throws(UpsurgeError) -> [RunRecord]

  /// The marks of replays, those of files and those of what the database keeps.
  func marks() throws(UpsurgeError) -> [ReplayMark]

  /// The tables of rejects that there are.
  /// - Throws: `guardRefused` for one that is not ours, or of a newer layout.
  func shelves() throws(UpsurgeError) -> [RejectShelf]

  /// Begins a transaction. The body ends it by `store`, `commit` or `rollback`; by an error it is rolled back.
  func transaction<Result>(
    _ body: (any ReplayTransaction) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result

  /// Writes a mark, and brings it to the disk with all commits before it.
  /// - Parameter earlier: its earlier state, as it was committed; nil for one that is new.
  func writeDurably(_ mark: ReplayMark, after earlier: ReplayMark?) throws(UpsurgeError)

  /// Removes the contexts that no record is left for.
  func deleteUnusedContexts(of shelf: RejectShelf) throws(UpsurgeError)
}

/// A transaction of a replay.
package protocol ReplayTransaction {
  /// As they stand in the transaction.
  func marks() throws(UpsurgeError) -> [ReplayMark]

  /// Writes a mark in the place of its earlier state.
  /// - Parameter earlier: that state, as it was committed; nil for one that is new.
  /// - Throws: `guardRefused` where another process has changed it since. In a file that only one process can write nobody has.
  func write(_ mark: ReplayMark, after earlier: ReplayMark?) throws(UpsurgeError)

  /// Removes a mark, unless a replay has changed it since.
  func remove(_ mark: ReplayMark) throws(UpsurgeError)

  /// The next records in the order of arrival that share table and context.
  /// - Parameters as of `StoredReject.page`.
  func rejects(
    of shelf: RejectShelf, after: Int64, through: Int64, count: Int, recordByteLimit: Int
  ) throws(UpsurgeError) -> [StoredReject]

  /// Takes a record out.
  func delete(_ id: Int64, of shelf: RejectShelf) throws(UpsurgeError)

  /// Says anew why a record is rejected.
  func update(_ id: Int64, to reject: Reject, of shelf: RejectShelf) throws(UpsurgeError)

  /// Stores what can be stored of a page, and ends the transaction.
  /// - Parameter keep: is told the fates when nothing but the COMMIT is left; says whether to commit.
  func store(
    _ page: inout RejectPage, keep: (borrowing RejectPage) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError)

  func commit() throws(UpsurgeError)

  func rollback() throws(UpsurgeError)
}

/// A table of rejected records. SQLite has one, a server one for each schema.
package struct RejectShelf: Sendable {
  /// The schema; empty where there are none.
  package let schema: String
  /// The largest id: what is rejected from now on has a larger one.
  package let lastID: Int64
  /// About how many records there are: ids rise, and gaps are those that were stored since.
  package let count: UInt64

  package init(schema: String, lastID: Int64, count: UInt64) {
    (self.schema, self.lastID, self.count) = (schema, lastID, count)
  }
}

/// Databases of one kind that are not SQLite's, and whose rejects can be tried again.
package protocol ReplayProvider: StoreProvider {
  /// The database of a replay.
  /// - Parameters:
  ///   - cancellation: ends its waits.
  ///   - note: is told what is kept there and not tried.
  func replay(
    for job: ReplayJob, _ cancellation: ReadCancellation, note: (RunNote) -> Void
  ) throws(UpsurgeError) -> any ReplayStore
}
