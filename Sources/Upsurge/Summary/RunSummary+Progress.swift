extension RunSummary {
  /// What of a run is committed, and whether it can be resumed from there.
  public struct Progress: Sendable {
    /// Records that had been committed when the run ended.
    public var committedCount: UInt64 = 0
    /// Where the last commit ended.
    public var committedThrough: Position?
    /// Records that an earlier part of the run had committed, which are part of the ledger.
    public var resumedCount: UInt64 = 0
    /// Whether the same command goes on from the last commit.
    public var isResumable = false
    /// What running it again would do with the records that are committed, where it would do something; nil where
    /// nothing is done twice.
    public var repetition: Repetition?
    /// What the same command lacks to get past the place where the run has stopped.
    package var remedy: Remedy?
    /// Whether the run was to load everything, whatever there was, as `--resume never` asks.
    package var beginsAnew = false
    /// The command line that goes on with the run, where it can.
    package var command: RunCommand?
    /// Whether the run got as far as its records.
    package var hasBegunToWrite = false
  }

  /// How a record that comes again has an effect twice.
  public enum Repetition: String, Sendable {
    /// No key would refuse it: it is stored twice.
    case store
    /// A rule adds it to the row once more.
    case add
  }

  /// What the same command lacks to get past the place where the run has stopped.
  package enum Remedy: Sendable {
    /// `--on-error reject`, and a place for the rejects.
    case rejecting
    /// A larger `--max-rejects`.
    case moreRejects
  }

  /// Whether a delivery was accepted by its digest, or can be.
  public struct Acceptance: Sendable {
    /// What `--accept-delivery` takes to let this delivery through, where a guard has refused it.
    public var refusedDigest: String?
    /// Whether the delivery was let through by its digest, whatever its guards say.
    public var isByDigest = false
    /// Whether nothing was swept because rows of other tables refer to rows that are not in the delivery.
    package var isHeldByReferences = false
  }
}
