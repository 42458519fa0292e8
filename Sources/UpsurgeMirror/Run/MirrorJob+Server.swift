import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// Jobs whose database is one of a server: the same words, and what they cannot mean there yet.
extension MirrorJob {
  /// - Throws: `usage` for what is not done on a server yet, by its name, before anything is read.
  package func checkServer() throws(UpsurgeError) {
    do throws(UpsurgeError) { try checkConnections() } catch { throw file == nil ? error : error.ofJob }
    guard let name = StoreRegistry.provider(of: database)?.name else { return }
    for table in tables {
      let shown = "table \(table.name.escapedForTerminal)"
      for (isGiven, key) in [
        (!table.options.table.computedColumns.isEmpty, "let"), (table.options.input.filter != nil, "where"),
      ] where isGiven {
        throw UpsurgeError(
          .usage,
          "\(shown): \(key) does not apply to \(name): the SQL of fields is SQLite's, and is not evaluated for a server yet",
          hint: "leave out \(key); or mirror into a file of SQLite")
      }
      for key in (table.sweep == .none ? [] : ["sweep"]) + table.rowStateKeys where atomicity == .bounded {
        throw UpsurgeError(
          .usage,
          "\(shown): \(key) on \(name) needs one transaction for a delivery, and atomic: bounded makes many of it",
          hint: "leave out atomic, or \(key)")
      }
    }
    if atomicity == .job, tables.count > 1 {
      throw UpsurgeError(
        .usage, "atomic: job does not apply to \(name) yet: each table is a transaction there",
        hint: "atomic: table makes each table visible at once")
    }
  }

  /// - Throws: `usage` for several connections where a delivery is one transaction, and where the database is a file.
  private func checkConnections() throws(UpsurgeError) {
    for table in tables where table.options.transaction.connections > 1 {
      let (shown, count) = ("table \(table.name.escapedForTerminal)", table.options.transaction.connections)
      if !isOnServer {
        throw UpsurgeError(
          .usage,
          "\(shown): \(.connections, count) is for a server: a file of SQLite has one writer at a time",
          hint: "leave out \(.connections)")
      }
      if let key = table.rowStateKeys.first {
        throw UpsurgeError(
          .usage,
          "\(shown): \(.connections, count) stores a delivery by many transactions, and \(key) needs one for all of it",
          hint: "leave out \(.connections), or \(key)")
      }
      if atomicity != .bounded {
        throw UpsurgeError(
          .usage,
          "\(shown): \(.connections, count) stores a delivery by many transactions, and atomic: \(atomicity.rawValue) makes one of it",
          hint: "leave out \(.connections); or atomic: bounded, without a sweep")
      }
    }
  }

  /// Brings tables that refer to each other in step, each for itself: those to which others refer first. Where rows of a table
  /// stay because others refer to them, its delivery is read once more when those others are in step: then they go.
  func runOneByOne(
    _ group: TableGroup, _ afterwards: inout Afterwards, control: RunControl,
    note: @escaping @Sendable (RunNote) -> Void,
    tick: (RunControl.Progress) -> Void
  ) -> [MirrorSummary.Table] {
    var done: [MirrorSummary.Table] = []
    func attempt(_ table: MirrorTable, _ afterwards: inout Afterwards) -> MirrorSummary.Table {
      TableAttempts(job: self, table: table, control: control, note: note).run(&afterwards, tick: tick)
    }
    for table in group.tables {
      if control.cancellationSignal != nil { break }
      let begun = afterwards
      let summary = attempt(table, &afterwards)
      // Its mark and its lock would keep the second reading out.
      if summary.isHeldByReferences, table.canBeReadAgain { afterwards.giveBack(since: begun) }
      done.append(summary)
    }
    for index in done.indices.reversed()
    where done[index].isHeldByReferences && group.tables[index].canBeReadAgain {
      if control.cancellationSignal != nil { break }
      done[index] = attempt(group.tables[index], &afterwards).behind(done[index])
    }
    return done
  }
}

extension MirrorTable {
  /// The keys that are given because of which something is noted of each row.
  fileprivate var rowStateKeys: [String] {
    [(ownedBy != nil, "owned-by"), (localEdits != nil, "local-edits"), (keepsRowState, "row-state")]
      .compactMap { $0.0 ? $0.1 : nil }
  }

  fileprivate var canBeReadAgain: Bool { !sources.contains(where: \.isReadOnce) }
}

extension MirrorSummary.Table {
  /// Whether its last delivery is stored, and rows stay because those of other tables refer to them.
  fileprivate var isHeldByReferences: Bool {
    guard error == nil, let last = loads.last, last.error == nil, last.signal == nil else { return false }
    return last.acceptance.isHeldByReferences
  }

  /// What became of the table in all, as its last delivery was read once more: the ledger is that of the first reading.
  fileprivate func behind(_ first: MirrorSummary.Table) -> MirrorSummary.Table {
    var whole = self
    guard let again = loads.first, var last = first.loads.last else {
      whole.loads = first.loads
      return whole
    }
    (last.guardRefusal, last.error, last.signal) = (again.guardRefusal, again.error, again.signal)
    last.acceptance = again.acceptance
    last.ledger.swept += again.ledger.swept
    whole.loads = first.loads.dropLast() + [last] + loads.dropFirst()
    return whole
  }
}
