import Upsurge

extension MirrorRunner {
  /// What a runner is doing.
  public enum State: Sendable, Equatable {
    /// Nothing; of one that was started, until the next run is due.
    case idle
    /// The runner waits for the first records of this table's feed, or looks whether there are new ones.
    case fetching(table: String)
    /// Records are being stored.
    case applying(table: String)
    /// Rows that the feed no longer has are looked for and removed.
    case sweeping(table: String)
    /// The runner was told to end, and does so at the next commit.
    case stopping
  }

  /// Something that has happened.
  public enum Event: Sendable {
    /// The runner is doing something else from now on.
    case state(State)
    /// How far the table at work is; about ten times a second.
    case progress(RunControl.Progress)
    /// Something that people want to know.
    case note(RunNote)
    /// What became of one table.
    case table(MirrorSummary.Table)
    /// What became of a run.
    case ended(MirrorSummary)
  }
}
