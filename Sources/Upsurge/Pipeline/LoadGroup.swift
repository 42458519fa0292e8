#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Loads that share one transaction, one after the other, so that all of them become visible at once.
///
///     load     reader and writer as usual; the writer ends after its last record, and the transaction stays open
///     finish   records that wait for others are stored, rows that are gone are swept, and all of it is committed
///
/// A load that fails takes back only itself; whether the others go on is for the caller to say. The connection goes from
/// thread to thread with the work, so only one thread may be at work at a time.
package final class LoadGroup: @unchecked Sendable {
  // Sendable because its loads follow each other: each ends before the next one begins, and all before `finish`.

  /// A load whose records are stored and not committed.
  struct Part {
    let run: LoadRun
    let writing: Writing<SQLiteTransfer>
    /// What is left to do when all is committed and the ledger was seen.
    var ending: RunEnding?
  }

  let database: String
  let options: LoadOptions
  /// Whether it is of one table alone, whose records may wait for others.
  package let isOfOneTable: Bool
  let control: RunControl
  let note: @Sendable (RunNote) -> Void
  /// Why nothing of the group may stay, although it goes on.
  var fault: UpsurgeError?
  var connection: Connection?
  var parts: [Part] = []
  /// What of its loads was read before the first of them.
  package let ahead: FeedsAhead
  /// What the rows that are not to be swept may take, of all tables.
  package let seenMemory: SeenMemory
  /// Who is to hear what has become of a load in the end.
  private var ended: [(load: EndedLoad, run: LoadRun)] = []

  /// - Parameter options: of each table; `unfit` has nothing against them.
  package init(
    database: String, options: [LoadOptions], control: RunControl,
    note: @escaping @Sendable (RunNote) -> Void
  ) {
    precondition(!options.isEmpty, "a group has a load")
    self.database = database
    self.control = control
    self.note = note
    // What they share is no more than each of them may take, and waits as long as the most patient of them.
    var shared = options[0]
    shared.transaction.memory =
      options.map(\.transaction.memory).min { $0.byteCount < $1.byteCount } ?? shared.transaction.memory
    shared.transaction.walLimit =
      options.map(\.transaction.walLimit).min { $0.byteCount < $1.byteCount } ?? shared.transaction.walLimit
    shared.transaction.busyTimeout =
      options.map(\.transaction.busyTimeout).max() ?? shared.transaction.busyTimeout
    if options.contains(where: { $0.transaction.durability == .full }) {
      shared.transaction.durability = .full
    }
    self.options = shared
    isOfOneTable = options.count == 1
    ahead = FeedsAhead(database: database, freeByteCount: shared.environment.spoolRoom)
    seenMemory = SeenMemory(byteLimit: shared.transaction.seenByteLimit)
  }

  /// Why loads cannot share a connection; nil where they can.
  package static func unfit(_ options: [LoadOptions]) -> String? {
    if options.contains(where: { $0.transaction.durability == .off }) {
      return "durability: off keeps nothing to roll back to"
    }
    guard let first = options.first else { return nil }
    let isSame = options.allSatisfy {
      $0.table.initPath == first.table.initPath && $0.table.initSQL == first.table.initSQL
    }
    return isSame ? nil : "init is not the same for all of them"
  }

  /// The connection of all loads, for the calling thread.
  func openedConnection() throws(UpsurgeError) -> Connection {
    if let connection {
      connection.moveToCurrentThread()
      return connection
    }
    var made = try open()
    try Connection.configure(
      &made, for: options, holds: true, opening: open)
    try InitScript(options: options).run(on: made)
    made.shareTransaction()
    connection = made
    return made
  }

  private func open() throws(UpsurgeError) -> Connection {
    try Connection(
      path: database, createIfMissing: true, busyTimeoutMilliseconds: options.transaction.busyTimeout,
      isTrial: options.output.isTrial, vfs: options.environment.vfsName,
      isCancelled: { [control] in control.cancellationSignal != nil })
  }

  func add(_ part: Part) {
    // Of the deliveries of a table, the last one says which rows are gone.
    if let before = parts.last(where: { $0.isOf(part.name) && $0.sweepsLater }) {
      part.writer.takeOverSweep(of: before.writer)
      before.writing.hasSwept = true
    }
    parts.append(part)
  }

  /// Whether a delivery of a table is stored, and swept for itself.
  func hasEndedDelivery(of table: String) -> Bool { parts.contains { $0.isOf(table) && !$0.sweepsLater } }

  func note(_ end: EndedLoad, of run: LoadRun) { ended.append((end, run)) }

  /// Whether nothing of the group will be committed, whatever comes.
  package var isLost: Bool { fault != nil || connection?.hasLostShared == true }

  /// Forgets a load that has failed and is tried again, so that it does not keep the next try out.
  package func forget(_ load: EndedLoad) { ended.removeAll { $0.load === load } }

  /// Lets other programs write while a load is waited for.
  /// - Returns: false where that cannot be, as something is stored that is to be committed with what comes.
  package func release() -> Bool {
    guard parts.isEmpty else { return false }
    guard let connection else { return true }
    connection.moveToCurrentThread()
    connection.rollBackShared()
    connection.shareTransaction()
    return true
  }

  /// Informs loads what has become of them.
  func tell(_ runs: [LoadRun]) {
    for (load, run) in ended where runs.contains(where: { $0 === run }) { load.end(run, nil) }
  }

  /// Informs each load what has become of it, and forgets them.
  func tellAll() {
    for (load, run) in ended { load.end(run, parts.first { $0.run === run }?.ending) }
    ended = []
    parts = []
  }
}
