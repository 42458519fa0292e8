import Upsurge
import UpsurgeRecords
import UpsurgeStorage

/// Brings the tables of a group in step with their feeds, in one transaction.
struct GroupMirror {
  let job: MirrorJob
  let group: TableGroup
  let control: RunControl
  let note: @Sendable (RunNote) -> Void

  /// - Parameters:
  ///   - afterwards: gets what is to be done when the ledgers were seen.
  ///   - judge: is given what became of a table in front of that being noted; whether the table is tried again. Without
  ///     it none is, and only the job has a deadline.
  func run(
    _ afterwards: inout Afterwards, judge: ((inout MirrorSummary.Table) -> Bool)? = nil,
    tick: (RunControl.Progress) -> Void
  ) -> [MirrorSummary.Table] {
    let loads = LoadGroup(
      database: job.database, options: group.tables.map { job.options(of: $0) }, control: control, note: note)
    warnOfOwnRules()
    defer { control.note(table: nil) }
    var turns: [(mirror: TableMirror, turn: TableMirror.Turn)] = []
    var failure: UpsurgeError?
    for table in group.tables {
      if control.cancellationSignal != nil { break }
      control.note(table: table.name)
      var mirror = TableMirror(
        job: job, table: table, control: control, note: RunNote.of(table: table.name, to: note), group: loads)
      mirror.judge =
        judge ?? { summary in
          if control.isExpired { summary.expire("the job", seconds: job.deadline ?? 0) }
          return false
        }
      var turn = TableMirror.Turn(table)
      if let failure {
        mirror.leaveOut(&turn, because: failure)
      } else {
        mirror.read(&turn, &afterwards, tick: tick)
      }
      if job.atomicity == .job, failure == nil { failure = takenBack(because: turn) }
      turns.append((mirror, turn))
    }
    let outcome = loads.finish(
      group.circles.map { $0.map(\.waiting) }, failure: failure)
    return turns.map { (mirror, turn) in
      var turn = turn
      turn.summary.replayed =
        outcome.replayed.first { SQLName.isSame($0.key, turn.summary.name) }?.value ?? Ledger()
      if let error = outcome.error, error.code != .interrupted, turn.summary.error == nil,
        turn.deliveries.isEmpty, turn.summary.unchangedSince == nil
      {
        turn.summary.error = error
      }
      mirror.end(&turn, &afterwards)
      return turn.summary
    }
  }

  /// What a table is to do by itself it cannot do in a transaction with others.
  private func warnOfOwnRules() {
    if group.tables.count == 1 { return }
    for table in group.tables where table.unattended.deadline != nil || table.unattended.retryCount > 0 {
      note(
        RunNote(
          .warning,
          "table \(table.name.escapedForTerminal) is stored in one transaction with other tables of the job; its own "
            + "deadline and retries do not count, the job's deadline does"))
    }
  }

  /// Why nothing of the job stays, where a table has failed; a guard that keeps rows from being swept is none.
  private func takenBack(because turn: TableMirror.Turn) -> UpsurgeError? {
    guard var error = turn.failure else { return nil }
    error.message =
      "nothing of the job is stored, as table \(turn.summary.name.escapedForTerminal) has failed (atomic: job)"
    error.hint = "see what is said of that table"
    (error.position, error.snippet) = (nil, nil)
    return error
  }
}

extension MirrorTable {
  /// What is known of the table beside its loads.
  fileprivate var waiting: LoadGroup.Table {
    var column: String?
    if case .soft(let name) = sweep { column = name }
    return LoadGroup.Table(name: name, softColumn: column, isSynchronizing: options.triggers == .guarded)
  }
}

extension MirrorJob {
  /// A table's options, as far as the job decides them.
  func options(of table: MirrorTable) -> LoadOptions {
    var options = table.options
    options.dryRun = dryRun ?? options.dryRun
    return options
  }
}
