/// What a store is told of the run whose records it takes, and by what it speaks to the run's other threads.
struct StoreContext {
  let job: LoadJob
  /// The sources as they may be shown and stored.
  let sourceNames: [String]
  /// What its record calls the run.
  let owner: RunOwner
  /// How the records of each source are read, for those that are rejected.
  let contexts: RejectContexts
  let note: @Sendable (RunNote) -> Void
  /// Is told in words what is built from now on: an index, a full-text table.
  let willBuild: @Sendable (String) -> Void
  /// Is told that the last commit is made, and all of it brought to the disk.
  let willFinish: @Sendable () -> Void
  /// Whether the run was told to end.
  let isCancelled: @Sendable () -> Bool
  /// Asks for the memory that batches do not need (true), or gives it back; the answer says whether it can be had.
  let holdsMemory: @Sendable (Bool) -> Bool
  /// Holds what ends an act that takes long, as long as there is one.
  let interrupter: Guarded<Interrupter?>
  /// What distinguishes the delivery's bytes from those of others, once all were read; nil where nobody knows.
  let deliveryHash: @Sendable () -> UInt64?
  /// What may be kept of the rows that a snapshot's records were about.
  let seenMemory: SeenMemory

  var options: LoadOptions { job.options }
}
