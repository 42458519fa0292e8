/// Where records go. The pipeline knows sources, batches and threads; a store knows how its tables are looked at and made,
/// how records become rows, and where a run stands. The pipeline says no SQL.
///
///     openRuns, hasLostRows    earlier runs of the job, for `RunStart`
///     table                    looked at, or made from what the input is; its facts and keys are known then
///     setUp                    what else must be before the first record
///     begin                    a transfer, which takes batches, and commits where the input stands with the rows
///     ending                   what is left to do when somebody has seen the ledger
///
/// Nothing of it is called for a record: outcomes come back as counts and as rejects in the order of the input, so that a
/// store may take many records at once. That a commit may be unknown, and that a run may have to go back to the last one,
/// is part of it (`connectionLost`), and that a server has lost commits that it had confirmed (`commitsLost`).
///
/// All of it is called on the writing thread.
package protocol Store: RunShelf {
  associatedtype Table: StoreTable
  associatedtype Transfer: StoreTransfer

  /// Finds the table, or makes it from the input; a transaction in which it was made may stay open.
  /// - Parameter options: those of the table.
  /// - Returns: nil where the load must start over.
  /// - Throws: `usage` where the key does not fit, `guardRefused` where the table must not be made or changed.
  func table(for input: LoadInput, options: LoadOptions) throws(UpsurgeError) -> Table?

  /// Does what else must be before the first record, and says what was made.
  func setUp(_ table: inout Table, for input: LoadInput) throws(UpsurgeError)

  /// Says what the load would do, and takes back what was made to find that out.
  func explain(_ table: Table, for input: LoadInput) throws(UpsurgeError) -> String

  /// Begins to take records.
  /// - Parameter beginning: how the run begins, which comes after what was stored in another way.
  func begin(
    _ table: Table, for input: LoadInput, from beginning: Beginning, _ context: StoreContext
  ) throws(UpsurgeError) -> Transfer

  /// Takes back what was made for a load that does not begin.
  func takeBack() throws(UpsurgeError)

  /// What stands of a run whose connection has broken: what it has committed, whether it knows or not. Connects again. It may be
  /// less than was confirmed, where another server has taken over.
  /// - Parameters:
  ///   - owner: what the run is called.
  ///   - earlier: the run that it goes on with, which has another owner before the first commit.
  /// - Returns: nil where nothing of it stands.
  func standing(of job: RunJob, owner: RunOwner, earlier: RunRecord?) throws(UpsurgeError) -> RunRecord?

  /// What is left to do when somebody has seen the ledger of a run that is complete; nil where that is nothing.
  func ending(of run: RunRecord) -> RunEnding?
}

extension Store {
  package func standing(
    of job: RunJob, owner: RunOwner, earlier: RunRecord?
  ) throws(UpsurgeError) -> RunRecord? {
    let runs = try openRuns(of: job.table)
    return runs.last { $0.owner == owner.text } ?? runs.last { $0.id == earlier?.id && $0.owner == earlier?.owner }
  }
}

/// Makes the store of a job's database; the cancellation ends its waits.
package typealias StoreMaker = @Sendable (LoadJob, ReadCancellation) throws(UpsurgeError) -> any Store
