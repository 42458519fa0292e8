/// The reading thread of a run.
struct Reader {
  private let run: LoadRun
  private let thread: WorkerThread
  private let failure: Guarded<UpsurgeError?>

  /// Starts it.
  /// - Parameters:
  ///   - stage: what it does.
  ///   - first: the first source, which is open.
  /// - Throws: `database` when the system has no thread left.
  init(_ stage: ReaderStage, first: PreparedSource, of run: LoadRun) throws(UpsurgeError) {
    let failure = Guarded<UpsurgeError?>(nil)
    let work = Work(stage: stage, first: first)
    thread = try WorkerThread {
      do throws(UpsurgeError) { try work.run() } catch { failure.withLock { $0 = error } }
      // Whoever has the last batch finds the error.
      run.full.close()
    }
    self.run = run
    self.failure = failure
  }

  /// Why it has ended early; nil where it has not, or not yet.
  var error: UpsurgeError? { failure.withLock { $0 } }

  /// Ends it, and waits for its end.
  func stop() {
    run.stopReading()
    thread.join()
  }

  /// Carries the stage and its first source to the thread.
  private final class Work: @unchecked Sendable {
    // Sendable because it is made on the writing thread and used on the reading thread only, which starts later.
    private var stage: ReaderStage
    private let first: PreparedSource

    init(stage: ReaderStage, first: PreparedSource) {
      self.stage = stage
      self.first = first
    }

    func run() throws(UpsurgeError) { try stage.readAll(first: first) }
  }
}
