import Upsurge
import UpsurgeRecords

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

  /// - Parameter afterwards: gets what is to be done when the ledgers were seen.
  func run(_ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) -> MirrorSummary.Table {
    control.note(table: table.name)
    defer { control.note(table: nil) }
    do throws(UpsurgeError) {
      let time = try TableTime(job: job, table: table, control: control, note: note)
      defer { time.stop() }
      return runAll(within: time, &afterwards, tick)
    } catch {
      var summary = MirrorSummary.Table(name: table.name)
      summary.error = error
      return summary
    }
  }

  private func runAll(
    within time: TableTime, _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void
  ) -> MirrorSummary.Table {
    var whole: [RunSummary] = []
    var replayed = Ledger()
    var number = 0
    while true {
      let begun = afterwards
      let isLast = !time.hasTry(behind: number)
      var summary = attempt(within: time, &afterwards, tick) { summary in
        time.settle(&summary)
        return !isLast && time.isWorthTrying(summary.failure)
      }
      // What an earlier try has stored of it is not told again.
      if job.dryRun == nil {
        replayed += summary.replayed
        summary.replayed = replayed
      }
      if isLast || !time.isWorthTrying(summary.failure) {
        summary.loads = whole + summary.loads
        return summary
      }
      number += 1
      whole += summary.loads.filter { $0.isWhole && $0.guardRefusal == nil }
      let failures = afterwards.failures
      afterwards.giveBack(since: begun)
      if !time.wait(behind: summary.failure, number, tick) {
        time.settle(&summary)
        // There is no other try whose end would be noted.
        afterwards.failures = failures
        TableMirror(job: job, table: table, control: control, note: note).countFailure()
        summary.loads = whole + summary.loads.filter { !$0.isWhole }
        return summary
      }
    }
  }

  private func attempt(
    within time: TableTime, _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void,
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
    time.settle(&summary)
    return summary
  }
}

extension Afterwards {
  /// Takes the locks and marks of a try that has failed away, so that the next one is not kept out by this process itself.
  mutating func giveBack(since begun: Afterwards) {
    locks.removeSubrange(begun.locks.count...)
    // The next try finds them again.
    (files, failures) = (begun.files, begun.failures)
    // What came into the table before it failed is noted, and in the history.
    for load in loads where !begun.loads.contains(where: { $0 === load }) { load.acknowledge() }
    loads.removeAll { load in !begun.loads.contains { $0 === load } }
  }
}
