/// Takes the records of one load into a table of a store, in transactions; belongs to the writing thread.
///
///     write, write, ...       batches as the reader hands them on; what is stored is committed where the options say so
///     settle                  after the last one: what became of each record is known then
///     sweep                   rows that a snapshot no longer has go, unless its guards refuse
///     finish  or  rollback    everything is committed, or nothing since the last commit
///
/// A transfer commits where the input stands together with the rows, so that the same job goes on from there. Rejects go to
/// the sink that it was given, in the order of the input. For every choice of the store, rows, ledger and rejects are those
/// of storing the records one by one.
///
/// A store whose connection has broken throws `connectionLost`. It may have broken with records that were not committed, or
/// in the commit itself, so that nobody knows whether that stands. The run looks up what does (`Store.standing`), and goes
/// on from there. So it does after `commitsLost`: the store stands before what it had confirmed.
package protocol StoreTransfer: AnyObject {
  // MARK: What became of the records

  /// Outcomes of all records so far, those not yet committed included.
  var ledger: Ledger { get }
  /// Outcomes of the committed records.
  var committedLedger: Ledger { get }
  /// How often it has committed.
  var commitCount: Int { get }
  /// Rejected records by reason, those not yet committed included.
  var rejectsByReason: [Reject.Code: UInt64] { get }
  /// The reject that ends the run.
  var fatalReject: Reject? { get }
  /// Whether a record was a delete by its tombstone.
  var hasMetTombstone: Bool { get }
  /// The last record whose outcome is committed.
  var lastCommitted: Position? { get }
  /// Whether everything that was read is committed.
  var hasCommittedAll: Bool { get }
  /// Whether the same job would go on from the last commit.
  var isResumable: Bool { get }
  /// Where rejected records go; nil where they are only counted.
  var rejects: (any RejectSink)? { get }

  // MARK: Batches

  /// Stores a batch, its rejects and its new columns in input order.
  /// - Throws: `badInput` at the reject that ends the run; `guardRefused`, `database`, `databaseBusy`, `interrupted`.
  func write(_ batch: inout Batch) throws(UpsurgeError)

  /// Whether records wait in it for others, to be stored together.
  var isGathering: Bool { get }

  /// Stores them.
  func storeGathered() throws(UpsurgeError)

  /// Waits for records that are stored on another thread, where that is so.
  /// - Throws: as `write`.
  func awaitStored() throws(UpsurgeError)

  /// Whether a transaction is open, in which others cannot write.
  var isInTransaction: Bool { get }

  /// Commits while there is nothing to store, unless the end of the transaction decides what is in it.
  func commitWhileIdle() throws(UpsurgeError)

  /// Decides anew what is known only after the first records; called after each batch.
  func reconsider() throws(UpsurgeError)

  // MARK: The end

  /// Stores what waits, and finds out what became of it.
  func settle() throws(UpsurgeError)

  /// Removes what a snapshot no longer has, unless its guards refuse.
  func sweep() throws(UpsurgeError)

  /// Commits all that is left, the sink's rejects included, and ends.
  /// - Parameter isInterrupted: whether input is left, for the run to go on with.
  func finish(isInterrupted: Bool) throws(UpsurgeError)

  /// Forgets everything since the last commit, and ends.
  func rollback()

  /// Whether all records are to be stored again, from the first one, with the key made before them: in a table that was to get
  /// its key after its rows, one has come twice. True only after `finish` has thrown.
  var mustBeginAgain: Bool { get }

  /// Seconds that it took to make the table ready, which are no part of preparing the run.
  var setUpSeconds: Double { get }

  /// Puts what it knows beside the ledger into the summary.
  func record(in summary: inout RunSummary)

  /// A number that the table's rows are not more than, those of the open transaction included, where one is known at no
  /// cost; nil where none is.
  var rowLimit: UInt64? { get }

  /// What there is to say of rows that the load has added and that were there before, where that is known at no cost; nil where
  /// nothing is to be said.
  var noteOfRepeatedRows: RunNote? { get }

  /// What is left to do when somebody has seen the ledger; nil where that is nothing. Asked at the end.
  var ending: RunEnding? { get }

  // MARK: Parts of a delivery that are known

  /// What is known of the delivery in parts; nil where nothing is.
  var chunks: DeliveryChunks? { get }

  /// Records that were not read, as the last delivery had them, too.
  var skippedRecordCount: UInt64 { get }

  /// Counts them.
  func countSkipped()
}

extension StoreTransfer {
  package var isGathering: Bool { false }
  package func storeGathered() throws(UpsurgeError) {}
  package func awaitStored() throws(UpsurgeError) {}
  package func reconsider() throws(UpsurgeError) {}
  package var rowLimit: UInt64? { nil }
  package var noteOfRepeatedRows: RunNote? { nil }
  package var mustBeginAgain: Bool { false }
  package var setUpSeconds: Double { 0 }
  package var chunks: DeliveryChunks? { nil }
  package var skippedRecordCount: UInt64 { 0 }
  package func countSkipped() {}

  /// Rejected records by reason, those that are about to be rolled back and the one that ends the run included:
  /// `5 ragged, 1 unique`.
  package var rejectWords: String { rejectsByReason.words(with: fatalReject) }
}
