import Upsurge
import UpsurgeRecords

/// Ends a run that takes too long, as a signal would: at a commit, or with nothing left of it.
final class Deadline {
  let seconds: Double
  private let over = Completion()
  private let thread: WorkerThread

  /// Waits on a thread of its own.
  /// - Throws: `database` when the system has no thread left.
  init(seconds: Double, control: RunControl) throws(UpsurgeError) {
    self.seconds = seconds
    let end = MonotonicClock.seconds + seconds
    thread = try WorkerThread { [over] in
      WorkerThread.blockSignals()
      while true {
        let rest = end - MonotonicClock.seconds
        if rest <= 0 { return control.expire() }
        // Whole seconds of an hour at most, so that no clock is asked for too much.
        if over.wait(milliseconds: Int(min(rest, 3_600) * 1_000) + 1) { return }
      }
    }
  }

  /// From now on nothing is ended.
  func stop() {
    over.finish()
    thread.join()
  }

  /// What a run is told that it has ended.
  /// - Parameter place: `table members`, or `the job`.
  static func error(_ place: String, seconds: Double, hasCommitted: Bool) -> UpsurgeError {
    UpsurgeError(
      .deadline, "\(place) was not done by its deadline of \(Words.seconds(seconds)) and was ended",
      hint: (hasCommitted
        ? "the same command goes on, or reads all again; " : "nothing of it is in the table; ")
        + "a longer deadline gives it more time, \(command: "\(.explainTime)") of upsurge load says where it goes")
  }
}

extension MirrorSummary.Table {
  /// Whether a deadline, and nobody's signal, has ended it.
  var isExpired: Bool {
    loads.contains { $0.signal == RunControl.deadlineSignal } || error?.code == .interrupted
  }

  /// Says instead of a signal that the time was over.
  mutating func expire(_ place: String, seconds: Double) {
    guard isExpired else { return }
    let reason = Deadline.error(place, seconds: seconds, hasCommitted: hasCommitted)
    if error?.code == .interrupted { error = reason }
    for index in loads.indices where loads[index].signal == RunControl.deadlineSignal {
      loads[index].signal = nil
      if loads[index].error == nil { loads[index].error = reason }
    }
  }
}
