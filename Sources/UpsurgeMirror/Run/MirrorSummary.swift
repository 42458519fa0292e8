import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// What a run of a job did.
public struct MirrorSummary: Sendable {
  /// Without a password.
  public var database: String
  /// What the database is opened by; may hold a password.
  package var place: String?
  public var tables: [Table] = []
  /// Why the job as a whole came to nothing.
  public var error: UpsurgeError?
  public var seconds = 0.0
  /// The signal that ended the run, if one did.
  public var signal: Int32?

  public init(database: String) { self.database = database }

  /// What became of one table.
  public struct Table: Sendable {
    public var name: String
    /// One for each delivery that was loaded, the oldest first.
    public var loads: [RunSummary] = []
    /// What became of records of earlier runs that have waited for rows they refer to; no part of `ledger`.
    public var replayed = Ledger()
    /// Since when the last delivery has been the same, where nothing was read for that; UTC, ISO 8601.
    public var unchangedSince: String?
    /// Whether that delivery has left rejects.
    var hadRejects = false
    /// What spoke against the table before anything was read of its feed.
    public var error: UpsurgeError?

    /// Whether each delivery is about rows of its own.
    var isDelta = false

    public init(name: String) { self.name = name }

    /// Of so many loads all is known; of those that follow, not how their time was spent and what was chosen for them.
    private static let detailedLoadLimit = 256

    /// Adds a load; a folder may hold so many files that what is known of all of them must stay small.
    mutating func add(_ load: RunSummary) {
      var load = load
      if loads.count >= Self.detailedLoadLimit { load.removeDetails() }
      loads.append(load)
    }

    /// Of all its deliveries.
    public var ledger: Ledger {
      var sum = Ledger()
      for load in loads { sum += load.ledger }
      return sum
    }

    /// What was done with rows that were edited here, in all its deliveries; of a delta, a row counts with each that was about
    /// it.
    public var localEdits: LocalEditCounts {
      var sum = LocalEditCounts()
      for load in loads {
        sum.repaired += load.localEdits.repaired
        // Those that one snapshot meets, the next one meets again.
        sum.kept = isDelta ? sum.kept + load.localEdits.kept : max(sum.kept, load.localEdits.kept)
        sum.unswept = max(sum.unswept, load.localEdits.unswept)
      }
      return sum
    }

    /// Whether something of this run is in the database.
    var hasCommitted: Bool { replayed.read > 0 || hasCommittedDelivery }

    /// Whether something that the feed has delivered in this run is in the database, or what it no longer has is gone.
    var hasCommittedDelivery: Bool {
      loads.contains(where: \.hasCommitted)
    }

    /// Why the table is not in step with its feed; nil where it is.
    public var failure: UpsurgeError? {
      error ?? loads.lazy.compactMap { $0.error ?? $0.guardRefusal }.first
    }

    /// What is to be known of rejects that are kept nowhere; nil where none are.
    var lossWords: Wording? {
      let lost = loads.filter { $0.lostRejects != nil }
      guard let first = lost.first else { return nil }
      let count = lost.reduce(0) { $0 + $1.ledger.rejected }
      let place =
        first.lostRejects?.first.map { ", the first at \($0.position.description.escapedForTerminal)," } ?? ""
      return
        "\(Words.count(count, "record")) rejected\(place) and kept nowhere, for want of \(.rejects, "table")"
    }

    public var exitCode: Int32 {
      if let error { return error.exitCode(hasCommittedWork: hasCommitted) }
      return loads.isEmpty && hadRejects ? 2 : MirrorSummary.mostSevere(loads.map(\.exitCode))
    }
  }

  /// Of all tables.
  public var ledger: Ledger {
    var sum = Ledger()
    for table in tables { sum += table.ledger }
    return sum
  }

  /// The first that applies of the documented exit codes.
  public var exitCode: Int32 {
    if let signal { return 128 + signal }
    let hasCommitted = tables.contains(where: \.hasCommitted)
    if let error { return error.exitCode(hasCommittedWork: hasCommitted) }
    let code = MirrorSummary.mostSevere(tables.map(\.exitCode))
    // Where one table has come to nothing and another one has not, the job has stopped part way.
    return hasCommitted && MirrorSummary.meansNothing.contains(code) ? 3 : code
  }

  private static let meansNothing: [Int32] = [65, 66, 73, 75, 1]

  /// The first that applies.
  private static func mostSevere(_ codes: [Int32]) -> Int32 {
    if let signal = codes.first(where: { $0 > 128 }) { return signal }
    return ([64, 4, 3] + meansNothing + [2]).first { codes.contains($0) } ?? codes.max() ?? 0
  }
}

extension RunSummary {
  /// Whether something of the load is in the database.
  var hasCommitted: Bool { !isDryRun && (progress.committedCount > 0 || ledger.swept > 0) }
}

extension MirrorSummary {
  /// The summary as one JSON object with a line end.
  public var json: [UInt8] {
    JSONText.line { out in
      out.member("database", database)
      out.member(ledger)
      out.member("tables") { out in
        for table in tables { write(table, to: &out) }
      }
      out.member("seconds", seconds)
      out.ending(error, exitCode: exitCode)
    }
  }

  private func write(_ table: Table, to out: inout JSONText) {
    out.member(table.name) { out in
      out.member(table.ledger)
      out.member(table.localEdits)
      if let since = table.unchangedSince { out.member("unchanged_since", since) }
      if table.replayed.read > 0 {
        out.member("replayed") { out in
          for (word, count) in table.replayed.entries where count > 0 { out.member(word, count) }
        }
      }
      out.member("loads", table.loads) { $1.writeMembers(to: &$0) }
      out.ending(table.error, exitCode: table.exitCode)
    }
  }
}

extension MirrorSummary.Table {
  /// Takes secrets out of it.
  mutating func hide(_ mask: SecretMask) {
    if mask.isEmpty { return }
    error = error.map(mask.masked)
    for index in loads.indices {
      loads[index].error = loads[index].error.map(mask.masked)
      loads[index].guardRefusal = loads[index].guardRefusal.map(mask.masked)
      loads[index].sources = loads[index].sources.map(mask.masked)
      loads[index].dialects = loads[index].dialects.map(mask.masked)
      loads[index].warnings.renameFiles(mask.masked)
      loads[index].lostRejects = loads[index].lostRejects?.map { reject in
        var reject = reject
        reject.position.file = mask.masked(reject.position.file)
        reject.said = reject.said.map(mask.masked)
        return reject
      }
      if let file = loads[index].progress.committedThrough?.file {
        loads[index].progress.committedThrough?.file = mask.masked(file)
      }
    }
  }
}
