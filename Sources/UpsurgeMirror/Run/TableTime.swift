import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The time that a table has for itself, and the waits before its further tries.
struct TableTime {
  let job: MirrorJob
  let table: MirrorTable
  let control: RunControl
  /// Says things of this table.
  let note: @Sendable (RunNote) -> Void
  private let deadline: Deadline?

  private var shown: String { table.name.escapedForTerminal }
  private var rules: UnattendedRules { table.unattended }

  /// Begins to count.
  /// - Parameter spentSeconds: what the table has used up of its time before.
  /// - Throws: `database` when the system has no thread left.
  init(
    job: MirrorJob, table: MirrorTable, control: RunControl, spentSeconds: Double = 0,
    note: @escaping @Sendable (RunNote) -> Void
  ) throws(UpsurgeError) {
    (self.job, self.table, self.control, self.note) = (job, table, control, note)
    deadline = try table.unattended.deadline.map { (seconds) throws(UpsurgeError) in
      try Deadline(seconds: max(seconds - spentSeconds, 0.001), control: control)
    }
  }

  /// From now on it ends nothing, and what it has ended does not keep others from their turn.
  func stop() {
    deadline?.stop()
    // The job's own ends the job.
    if deadline != nil, !isOutOfJobTime { _ = control.takeExpiry() }
  }

  /// Whether it is the whole job whose time is over.
  private var isOutOfJobTime: Bool { job.end.map { MonotonicClock.seconds >= $0 } ?? false }

  /// The table's own deadline, where that is over; seconds.
  var ownLimit: Double? { control.isExpired && !isOutOfJobTime ? rules.deadline : nil }

  /// Whether there may be another try after so many.
  func hasTry(behind count: Int) -> Bool {
    count < rules.retryCount && !table.sources.contains(where: \.isStandardInput)
  }

  /// Whether another try is due, and may go better.
  func isWorthTrying(_ failure: UpsurgeError?) -> Bool {
    control.cancellationSignal == nil && rules.isWorthTrying(failure)
  }

  /// Waits before another try.
  /// - Parameters:
  ///   - number: of the try, from 1.
  ///   - isLocked: whether other programs cannot write meanwhile.
  /// - Returns: false where the run was told to end meanwhile.
  func wait(
    behind failure: UpsurgeError?, _ number: Int, isLocked: Bool = false,
    _ tick: (RunControl.Progress) -> Void
  ) -> Bool {
    let pause = rules.pause(before: number)
    note(
      RunNote(
        .warning,
        "table \(shown): \(failure?.message ?? "it failed"); it is tried again in \(Words.seconds(pause)) "
          + "(\(number) of \(rules.retryCount))"
          + (isLocked
            ? "; what is stored of other tables waits with it, and other programs cannot write meanwhile"
            : "")
      ))
    let end = MonotonicClock.seconds + pause
    while control.cancellationSignal == nil {
      let rest = end - MonotonicClock.seconds
      if rest <= 0 { return true }
      usleep(UInt32(min(rest, 0.1) * 1_000_000) + 1)
      tick(control.progress)
    }
    noteGivingUp()
    return false
  }

  /// Says of a table that waited that its time was over; what it waited for is the better reason for its failure.
  private func noteGivingUp() {
    guard control.isExpired else { return }
    let (place, seconds) = over
    note(
      RunNote(
        .warning, "\(place) has reached its deadline of \(Words.seconds(seconds)) and is not tried again"))
  }

  /// Says of a run whose time was over that it was.
  func settle(_ summary: inout MirrorSummary.Table) {
    guard control.isExpired else { return }
    let (place, seconds) = over
    summary.expire(place, seconds: seconds)
  }

  /// What has had no time left, and how many seconds it had.
  private var over: (place: String, seconds: Double) {
    isOutOfJobTime ? ("the job", job.deadline ?? 0) : ("table \(shown)", rules.deadline ?? 0)
  }
}
