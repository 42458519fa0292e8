/// Takes the rejected records of a load, on the writing thread.
protocol RejectSink: TransactionObserver {
  /// Keeps one record.
  func write(_ reject: Reject) throws(UpsurgeError)

  /// Writes out what is buffered.
  func flush() throws(UpsurgeError)

  /// The length of the file that the next commit stands for; nil where there is none.
  var length: UInt64? { get }
}

/// Rejects that go to the table `upsurge_rejects`, in the transactions of their neighbours. What is rolled back takes
/// its rejects with it; so does a dry run.
final class RejectTableSink: RejectSink {
  private let writer: RejectTableWriter
  private let contexts: RejectContexts

  /// - Throws: `guardRefused` when a table of that name is not ours.
  init(_ connection: Connection, table: String, contexts: RejectContexts) throws(UpsurgeError) {
    writer = try RejectTableWriter(connection, table: table)
    self.contexts = contexts
  }

  func write(_ reject: Reject) throws(UpsurgeError) {
    try writer.write(reject, context: contexts.text(of: reject.position.file) ?? "")
  }

  func flush() {}

  func willCommit() {}

  var length: UInt64? { nil }

  func didCommit() { writer.transactionEnded() }

  func didRollBack() { writer.transactionEnded() }
}

extension LoadOptions {
  /// Where this run's rejects go; nil where they are only counted.
  /// - Parameter length: of the file that an earlier part of the run has written.
  /// - Throws: `cannotCreate`, `guardRefused`.
  func rejectSink(
    _ connection: Connection, table: String, contexts: RejectContexts, goingOnAt length: UInt64? = nil
  ) throws(UpsurgeError) -> (any RejectSink)? {
    switch rejects {
    case nil: nil
    case .file(let path):
      try RejectFile(path: path, isTrial: dryRun != nil, contexts: contexts, goingOnAt: length)
    case .table: try RejectTableSink(connection, table: table, contexts: contexts)
    }
  }
}
