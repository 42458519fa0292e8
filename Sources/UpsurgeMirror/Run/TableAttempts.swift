import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Brings one table in step with its feed, within its deadline, and tries again where that may help.
struct TableAttempts {
  let job: MirrorJob
  let table: MirrorTable
  /// The table alone, where it shares a transaction with records that wait; else nil.
  let group: TableGroup?
  let control: RunControl
  /// Says things of this table.
  let note: @Sendable (RunNote) -> Void
  private let tell: @Sendable (RunNote) -> Void

  init(
    job: MirrorJob, table: MirrorTable, group: TableGroup? = nil, control: RunControl,
    note: @escaping @Sendable (RunNote) -> Void
  ) {
    (self.job, self.table, self.group, self.control) = (job, table, group, control)
    self.note = RunNote.of(table: table.name, to: note)
    tell = note
  }

  private var shown: String { table.name.escapedForTerminal }
  private var rules: UnattendedRules { table.unattended }

  /// - Parameter afterwards: gets what is to be done when the ledgers were seen.
  func run(_ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) -> MirrorSummary.Table {
    control.note(table: table.name)
    defer { control.note(table: nil) }
    var deadline: Deadline?
    do throws(UpsurgeError) {
      deadline = try rules.deadline.map { (seconds) throws(UpsurgeError) in
        try Deadline(seconds: seconds, control: control)
      }
    } catch {
      var summary = MirrorSummary.Table(name: table.name)
      summary.error = error
      return summary
    }
    defer {
      deadline?.stop()
      // The job's own ends the job.
      if deadline != nil, !isOutOfJobTime { _ = control.takeExpiry() }
    }
    return runAll(&afterwards, tick)
  }

  /// Whether it is the whole job whose time is over.
  private var isOutOfJobTime: Bool { job.end.map { MonotonicClock.seconds >= $0 } ?? false }

  private func runAll(
    _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void
  ) -> MirrorSummary.Table {
    var whole: [RunSummary] = []
    var replayed = Ledger()
    var number = 0
    while true {
      let begun = afterwards
      let isLast = number >= rules.retryCount || table.sources.contains(where: SourceName.isStandardInput)
      var summary = attempt(&afterwards, tick) { summary in
        settle(&summary)
        return !isLast && control.cancellationSignal == nil && rules.isWorthTrying(summary.failure)
      }
      // What an earlier try has stored of it is not told again.
      if job.dryRun == nil {
        replayed += summary.replayed
        summary.replayed = replayed
      }
      if isLast || control.cancellationSignal != nil || !rules.isWorthTrying(summary.failure) {
        summary.loads = whole + summary.loads
        return summary
      }
      number += 1
      whole += summary.loads.filter { $0.isWhole && $0.guardRefusal == nil }
      let failures = afterwards.failures
      afterwards.giveBack(since: begun)
      if !wait(summary.failure, number, tick) {
        settle(&summary, isWaiting: true)
        // There is no other try whose end would be noted.
        afterwards.failures = failures
        summary.loads = whole + summary.loads.filter { !$0.isWhole }
        return summary
      }
    }
  }

  private func attempt(
    _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void,
    judge: @escaping (inout MirrorSummary.Table) -> Bool
  ) -> MirrorSummary.Table {
    guard let group else {
      var mirror = TableMirror(job: job, table: table, control: control, note: note)
      mirror.judge = judge
      return mirror.run(&afterwards, tick: tick)
    }
    let mirror = GroupMirror(job: job, group: group, control: control, note: tell)
    if let summary = mirror.run(&afterwards, judge: judge, tick: tick).first { return summary }
    // It was told to end before it began.
    var summary = MirrorSummary.Table(name: table.name)
    summary.error = UpsurgeError(.interrupted, "interrupted")
    settle(&summary)
    return summary
  }

  /// Says of a run whose time was over that it was.
  private func settle(_ summary: inout MirrorSummary.Table, isWaiting: Bool = false) {
    guard control.isExpired else { return }
    let (place, seconds) =
      isOutOfJobTime ? ("the job", job.deadline ?? 0) : ("table \(shown)", rules.deadline ?? 0)
    if isWaiting {
      // What it waited for is the better reason.
      note(
        RunNote(
          .warning, "\(place) has reached its deadline of \(Words.seconds(seconds)) and is not tried again"))
    }
    summary.expire(place, seconds: seconds)
  }

  /// - Returns: false where the run was told to end meanwhile.
  private func wait(
    _ error: UpsurgeError?, _ number: Int, _ tick: (RunControl.Progress) -> Void
  ) -> Bool {
    let pause = rules.pause(before: number)
    note(
      RunNote(
        .warning,
        "table \(shown): \(error?.message ?? "it failed"); it is tried again in \(Words.seconds(pause)) "
          + "(\(number) of \(rules.retryCount))"))
    let end = MonotonicClock.seconds + pause
    while control.cancellationSignal == nil {
      let rest = end - MonotonicClock.seconds
      if rest <= 0 { return true }
      usleep(UInt32(min(rest, 0.1) * 1_000_000) + 1)
      tick(control.progress)
    }
    return false
  }
}

extension Afterwards {
  /// Takes the locks and marks of a try that has failed away, so that the next one is not kept out by this process itself.
  fileprivate mutating func giveBack(since begun: Afterwards) {
    locks.removeSubrange(begun.locks.count...)
    // The next try finds them again.
    (files, failures) = (begun.files, begun.failures)
    // What came into the table before it failed is noted, and in the history.
    for load in loads where !begun.loads.contains(where: { $0 === load }) { load.acknowledge() }
    loads.removeAll { load in !begun.loads.contains { $0 === load } }
  }
}
