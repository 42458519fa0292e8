/// How a load has ended that was not refused and did not fail.
enum LoadEnd: Sendable {
  /// As it should, or as a signal has asked; with what is left to do when its ledger was seen.
  case done(RunEnding?)
  /// The load came to nothing, the database has nothing of it, and it begins again from the first record.
  case startOver(StartOver)
}

/// Why a load begins again.
enum StartOver: Sendable {
  /// Rows were packed for nothing, which has taken so long.
  case packedInVain(seconds: Double)
  /// What is known of the last delivery's chunks does not fit this one.
  case chunksUnfit
  /// The earlier run of the job cannot go on, as its input is not what it was.
  case inputChanged(RunStart)
  /// A key has come twice in a table that was to get it after its rows.
  case keyComesTwice
  /// The connection to the store has broken: the run goes back to what stands there.
  /// - tries: how often it has done so without another commit.
  case wentBack(RunStart, tries: Int)

  /// The job of the run that begins again: it goes through SQLite, and reads all of a delivery, where the first try has
  /// shown that it must.
  func job(insteadOf job: LoadJob) -> LoadJob {
    switch self {
    case .inputChanged: return job
    case .wentBack:
      var job = job
      job.options.tuning.awaitsServer = true
      return job
    case .keyComesTwice:
      var job = job
      job.options.tuning.makesKeyFirst = true
      return job
    case .packedInVain, .chunksUnfit: break
    }
    var job = job
    job.options.transaction.direct = .never
    if job.options.delivery.chunks == .use { job.options.delivery.chunks = .remember }
    return job
  }

  /// How it begins, where that is known.
  var start: RunStart? {
    switch self {
    case .inputChanged(let start), .wentBack(let start, _): start
    case .packedInVain, .chunksUnfit, .keyComesTwice: nil
    }
  }

  /// What the first try has lost.
  var lostSeconds: Double {
    if case .packedInVain(let seconds) = self { return seconds }
    return 0
  }
}

/// What this process has of the job, until the run has ended and somebody has seen its ledger; belongs to the writing
/// thread as long as that runs.
final class JobClaim: @unchecked Sendable {
  // Sendable because it is made before the writing thread is started, and looked at after that has ended.

  /// Keeps others from the same job.
  var lock: JobLock?
  /// The earlier part of the run, or the run that this one would start over: it is told where this one fails before it
  /// has written anything.
  var standing: RunRecord?
}
