/// Tries the records of the quarantine again: what `upsurge replay` does.
///
///     let summary = ReplayJob(database: "app.db").run()
///     print(summary.ledger.inserted, summary.waiting, summary.exitCode)
///
/// Every kept record whose table and columns exist by now is stored by the rules of the load that kept it, in the
/// order of arrival. It leaves the quarantine in the transaction that stores it, so that it is stored exactly once
/// whatever happens. What still has no place stays, and so does what the table rejects.
///
/// After the quarantine come the records of the table `upsurge_rejects` (``RejectsTarget/table``): their bytes are read
/// again as the load has read them. With a `file` it is the records of that file of rejects instead, each stored exactly
/// once too; what is rejected again is what the file holds afterwards.
public struct ReplayJob: Sendable {
  /// Path of the SQLite database, or the name of one that a registered store takes: `postgres://host/database`.
  public var database: String
  /// A file of rejects; nil for what the database keeps.
  public var file: String?
  public var options: ReplayOptions

  public init(database: String, file: String? = nil, options: ReplayOptions = ReplayOptions()) {
    self.database = database
    self.file = file
    self.options = options
  }

  /// Runs to the end on the calling thread.
  ///
  /// - Parameters:
  ///   - control: shows the progress to, and takes a cancellation from, any thread.
  ///   - note: is told what people want to know.
  ///   - report: is given the summary at the end. Until it has returned true for a replay that came to its end, the ledger
  ///     is kept: the next replay begins with it. False says that nobody has seen it.
  /// - Returns: what happened. A failure is the summary's `error`; `exitCode` says it as the command would.
  public func run(
    control: RunControl = RunControl(), note: @escaping @Sendable (RunNote) -> Void = { _ in },
    report: (ReplaySummary) -> Bool = { _ in true }
  ) -> ReplaySummary {
    let watch = Stopwatch()
    var run = ReplayRun(job: self, control: control, note: note)
    do throws(UpsurgeError) {
      try run.replayAll()
    } catch {
      run.summary.error = error
    }
    run.summary.seconds = watch.seconds
    run.summary.signal = control.cancellationSignal
    if run.summary.signal != nil, run.summary.error?.code == .interrupted { run.summary.error = nil }
    let isWhole = run.summary.error == nil && run.summary.signal == nil
    if report(run.summary), isWhole { acknowledge(run) }
    return run.summary
  }

  /// Forgets the ledger, which was seen.
  private func acknowledge(_ run: ReplayRun) {
    guard let ending = run.ending else { return }
    do throws(UpsurgeError) {
      try ending()
    } catch {
      run.note(
        RunNote(
          .warning,
          "the replay is complete, but its mark could not be removed (\(error.message)); the next replay prints its ledger "
            + "again, and stores nothing twice"))
    }
  }
}

/// Bounds of a replay; the words are those of `LoadOptions`.
public struct ReplayOptions: Sendable {
  public var durability: Durability = .normal
  /// Records in a transaction, at most.
  public var commitEvery = 10_000
  public var walLimit = ByteSize.mebibytes(256)
  /// How long to wait for a lock, in milliseconds.
  public var busyTimeout: Int32 = 5_000
  public var memory = ByteSize.mebibytes(64)
  /// The folder in which records of `--blob file` name files; without it they are not tried. What the database or the
  /// file of rejects says of a folder opens nothing.
  public var blobFolder: String?
  /// Whether the SQL of the rules that are kept with records is run whatever it holds. Without it, SQL with subqueries or
  /// with functions that do more than compute is not, and its records are not tried.
  public var trustsRules = false
  /// The SQLite VFS that the database is opened with; for tests, nil is the system's own.
  package var vfsName: String?

  public init() {}

  package var returnedSQL: ReturnedSQL { ReturnedSQL(isTrusted: trustsRules) }

  /// So many records make a page, which is a transaction.
  var pageRecordLimit: Int { min(1_000, commitEvery) }

  /// The most bytes of a kept record that is tried: it is in memory several times over, as text, fields and row.
  var recordByteLimit: Int { memory.byteCount / 8 }

  /// Why a record is not tried that has more.
  func tooLarge(_ byteCount: Int) -> Wording {
    "the record has \(byteCount) bytes, more than the \(recordByteLimit) of an eighth of \(.memory); \(.memory) "
      + "\((8 * byteCount + (1 << 20) - 1) >> 20)MiB has room for it"
  }

  /// - Throws: `usage`.
  func validate() throws(UpsurgeError) {
    if durability == .off {
      throw UpsurgeError(
        .usage, "\(.durability, "off") is for new files only", hint: "\(.durability, "normal") keeps what is there safe"
      )
    }
    if commitEvery < 1 { throw UpsurgeError(.usage, "\(.commitEvery) needs at least one row") }
    if memory.byteCount < 16 << 20 {
      throw UpsurgeError(.usage, "\(.memory, memory) is too small", hint: "give at least \(.memory, "16MiB")")
    }
    if walLimit.byteCount < 4 << 20 {
      throw UpsurgeError(
        .usage, "\(.walLimit, walLimit) is too small", hint: "give at least \(.walLimit, "4MiB")")
    }
  }
}
