import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// What a feature adds to a `TableWriter`; made only where settings, plan or table ask for it.
///
/// A stage owns what only its feature needs, says once which ways to store it leaves open, and is told what happens.
/// The writer informs its stages in the order of `WriterStages.list`. None is told of a record that goes into a statement of
/// many rows; who must be does not permit those.
///
/// All of it is called on the writer's thread. A stage implements what concerns it; the rest has an empty default.
protocol WriterStage: AnyObject {
  /// The writer, which owns the stage.
  var writer: TableWriter { get }

  /// What it leaves open as long as the plan is the same.
  var permits: StorePermits { get }

  /// What it leaves open at the moment, where that is less; the writer looks again after `TableWriter.permitsDidChange`.
  var permitsNow: StorePermits { get }

  /// Whether it is told of each record that goes alone, at the moment.
  var watchesRecords: Bool { get }

  // MARK: The plan

  /// The writer has taken another plan.
  func adopt(_ plan: UpsertPlan) throws(UpsurgeError)

  /// All stages have taken it.
  /// - Parameter permits: what all of them leave open with it.
  func didAdopt(leaving permits: StorePermits) throws(UpsurgeError)

  // MARK: Transactions

  /// A transaction is open.
  func didBegin() throws(UpsurgeError)

  /// What is open among the records of the transaction is decided.
  /// - Parameter isLast: whether no further record comes.
  func settle(isLast: Bool) throws(UpsurgeError)

  /// All stages have decided that.
  func didSettle() throws(UpsurgeError)

  /// The transaction is about to be committed.
  /// - Parameter isLast: whether no further record comes.
  func willCommit(isLast: Bool) throws(UpsurgeError)

  /// The transaction has ended, or the writer's part of one that it shares: no savepoint stands any more.
  func didEndPart() throws(UpsurgeError)

  /// The transaction is committed.
  func didCommit()

  /// Everything since the last commit has not happened.
  func didRollBack()

  /// The writer has ended, and takes no more records.
  func didEnd()

  /// The writer belongs to the calling thread from now on.
  func moveToCurrentThread()

  // MARK: Batches

  /// The next records of a batch are about to be stored, at most as many as there are between two looks.
  /// - Parameters:
  ///   - record: the first of them.
  ///   - reject: the first of the batch's rejects that is still to come.
  func willStore(_ batch: borrowing Batch, from record: Int, reject: Int) throws(UpsurgeError)

  /// The records and rejects of a batch before these are stored; it goes away, or on after a commit.
  func willLeave(_ batch: borrowing Batch, before record: Int, reject: Int) throws(UpsurgeError)

  /// Records between two looks, or a part of them, are about to be stored.
  func willStoreRun()

  /// Records between two looks, or a part of them, are stored.
  /// - Parameters:
  ///   - start: the place of the first one in the order.
  ///   - end: the place after the last one.
  func didStoreRun(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int
  ) throws(UpsurgeError)

  /// A batch is stored.
  func didStoreBatch()

  // MARK: Records that go alone

  /// A record is about to be stored.
  /// - Parameter isTombstone: whether it deletes its row, whatever the mode is.
  /// - Returns: the reject to make of it; nil to let it be stored.
  func willStore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject?

  /// The record in hand goes into the row that exists by an UPDATE (see `RecordObserver`).
  func willUpdate(byTarget target: Int)

  /// The record in hand is ignored because its row exists, although SQLite has refused its INSERT.
  func willIgnore()

  /// The record is stored.
  /// - Parameter isDelete: whether it takes its row away; then that need not have been there.
  func didStore(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isDelete: Bool
  ) throws(UpsurgeError)

  /// The record is not stored.
  /// - Parameter refusal: what SQLite has said; nil where that was not asked.
  func didFail(_ record: Int, _ refusal: Refusal?) throws(UpsurgeError)

  // MARK: Records that are not stored

  /// A record cannot be stored, and is to be rejected.
  /// - Returns: whether the stage keeps the reject to itself until it gives it to `TableWriter.reject`.
  func takes(_ reject: Reject) -> Bool

  /// A record is to be rejected, and no stage has kept that to itself.
  func willReject(_ reject: Reject, by origin: RejectOrigin)

  /// A record was rejected, or is kept until it has a place; also one that the parser could not read.
  func didRefuse(_ outcome: Outcome, at position: Position) throws(UpsurgeError)

  // MARK: Records that come once more

  /// The records that follow may be taken back and come once more.
  func didHold()

  /// The records since `didHold` are taken back.
  func didTakeBack() throws(UpsurgeError)

  /// The records of a batch come once more, in its order; some are left out.
  func willRepeat(_ batch: borrowing Batch)
}

extension WriterStage {
  var plan: UpsertPlan { writer.bound.plan }
  var settings: WriterSettings { writer.settings }
  var connection: Connection { writer.connection }

  var permitsNow: StorePermits { permits }
  var watchesRecords: Bool { false }

  func adopt(_ plan: UpsertPlan) throws(UpsurgeError) {}

  func didAdopt(leaving permits: StorePermits) throws(UpsurgeError) {}

  func didBegin() throws(UpsurgeError) {}

  func settle(isLast: Bool) throws(UpsurgeError) {}

  func didSettle() throws(UpsurgeError) {}

  func willCommit(isLast: Bool) throws(UpsurgeError) {}

  func didEndPart() throws(UpsurgeError) {}

  func didCommit() {}

  func didRollBack() {}

  func didEnd() {}

  func moveToCurrentThread() {}

  func willStore(_ batch: borrowing Batch, from record: Int, reject: Int) throws(UpsurgeError) {}

  func willLeave(_ batch: borrowing Batch, before record: Int, reject: Int) throws(UpsurgeError) {}

  func willStoreRun() {}

  func didStoreRun(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int
  ) throws(UpsurgeError) {}

  func didStoreBatch() {}

  func willStore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject? { nil }

  func willUpdate(byTarget target: Int) {}

  func willIgnore() {}

  func didStore(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isDelete: Bool
  ) throws(UpsurgeError) {}

  func didFail(_ record: Int, _ refusal: Refusal?) throws(UpsurgeError) {}

  func takes(_ reject: Reject) -> Bool { false }

  func willReject(_ reject: Reject, by origin: RejectOrigin) {}

  func didRefuse(_ outcome: Outcome, at position: Position) throws(UpsurgeError) {}

  func didHold() {}

  func didTakeBack() throws(UpsurgeError) {}

  func willRepeat(_ batch: borrowing Batch) {}
}
