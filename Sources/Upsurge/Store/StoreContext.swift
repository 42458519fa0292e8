/// What a store is told of the run whose records it takes, and by what it speaks to the run's other threads.
package struct StoreContext {
  package let job: LoadJob
  /// The sources as they may be shown and stored.
  package let sourceNames: [String]
  /// What its record calls the run.
  package let owner: RunOwner
  /// When the run has begun, in UTC.
  package let startedAt: String
  /// How the records of each source are read, for those that are rejected.
  package let contexts: RejectContexts
  package let note: @Sendable (RunNote) -> Void
  /// Is told in words what is built from now on: an index, a full-text table.
  package let willBuild: @Sendable (String) -> Void
  /// Is told that the last commit is made, and all of it brought to the disk.
  package let willFinish: @Sendable () -> Void
  /// Whether the run was told to end.
  package let isCancelled: @Sendable () -> Bool
  /// Asks for the memory that batches do not need (true), or gives it back; the answer says whether it can be had.
  package let holdsMemory: @Sendable (Bool) -> Bool
  /// Holds what ends an act that takes long, as long as there is one.
  package let interrupter: Guarded<Interrupter?>
  /// What distinguishes the delivery's bytes from those of others, once all were read; nil where nobody knows.
  package let deliveryHash: @Sendable () -> UInt64?
  /// What may be kept of the rows that a snapshot's records were about.
  package let seenMemory: SeenMemory

  package var options: LoadOptions { job.options }
}
