/// The reading thread of a run.
struct Reader {
  private let run: LoadRun
  private let thread: WorkerThread
  private let failure: Guarded<UpsurgeError?>

  /// Starts it.
  /// - Parameters:
  ///   - resumption: where the first source, which is open, goes on; nil for its start.
  ///   - chunks: what is known of the delivery in parts; nil where nothing is.
  /// - Throws: `database` when the system has no thread left.
  init(
    _ input: LoadInput, of run: LoadRun, into table: any StoreTable, resumption: Resumption? = nil,
    chunks: DeliveryChunks? = nil
  ) throws(UpsurgeError) {
    let failure = Guarded<UpsurgeError?>(nil)
    let work = Work(
      stage: ReaderStage(run: run, input, table: table, resumption: resumption, chunks: chunks),
      first: input.beginning.source)
    thread = try WorkerThread {
      do throws(UpsurgeError) { try work.stage.readAll(first: work.first) } catch { failure.withLock { $0 = error } }
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
    var stage: ReaderStage
    let first: PreparedSource

    init(stage: ReaderStage, first: PreparedSource) {
      self.stage = stage
      self.first = first
    }
  }
}
