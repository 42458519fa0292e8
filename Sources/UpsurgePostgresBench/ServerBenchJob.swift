import Upsurge
import UpsurgeBench
import UpsurgePostgres
import UpsurgeRecords

/// A measurement of a user's own server: COPY, statements written by hand, and the engine, with the same rows.
///
/// Everything is made in one schema with a name of its own, which is removed at the end, also after a cancellation or a failure.
/// Each run's table must be the one that the rows make, before its time counts.
package struct ServerBenchJob: Sendable {
  /// `postgres://USER@HOST/DATABASE`
  package var url: String
  /// How many rows are made; nil is the default.
  package var rowCount: UInt64?
  /// How often everything is measured; nil is the default, less often for what takes long.
  package var roundCount: Int?
  /// Bound of the engine's memory.
  package var options = LoadOptions()
  /// Where the folder for the files is made; nil is `$TMPDIR`.
  package var scratch: String?
  /// The command line that asks for it, for the report.
  package var command: [String] = []

  package init(url: String) { self.url = url }

  package static let defaultRowCount: UInt64 = 200_000
  /// The hand-written ways have one delivery in memory at a time.
  private static let rowLimit: UInt64 = 7_000_000

  /// Measures, and removes all that was made for it.
  /// - Parameters:
  ///   - control: a cancellation ends the benchmark at once.
  ///   - progress: is told before each run.
  /// - Throws: `usage`, `cannotCreate`, `interrupted`; `databaseBusy`, `unreadableInput` and `connectionLost` as a load does;
  ///   `database` where the user may not make a schema.
  package func run(
    control: RunControl, progress: (BenchJob.Progress) -> Void = { _ in }
  ) throws(UpsurgeError) -> ServerBenchReport {
    try validate()
    PostgresModule.register()
    let folder = try ScratchFolder(in: scratch)
    defer { folder.remove() }
    let watch = try CancellationWatch(control)
    defer { watch.end() }
    let schema = BenchSchema()
    let session = try ServerSession(url, watch.cancellation)
    let capabilities = try session.capabilities()
    try Self.check(capabilities, session)
    do throws(UpsurgeError) {
      // A cancellation while it is made leaves open whether it is there, so it is dropped then, too.
      try schema.make(session)
      let server = try BenchServer(session, url, schema, capabilities)
      var run = try ServerBenchRun(job: self, folder: folder, server: server, control: control)
      try run.measure(progress: progress)
      var report = run.report
      if let failure = schema.drop(from: session.target) { report.note(left: schema, failure) }
      return report
    } catch {
      let isInterrupted = control.cancellationSignal != nil
      throw Self.ended(
        isInterrupted ? UpsurgeError(.interrupted, "interrupted") : error, left: schema.drop(from: session.target), schema,
        session.target)
    }
  }

  /// What is said of a benchmark that ended early: why, and what is left of it on the server.
  private static func ended(
    _ error: UpsurgeError, left failure: PostgresFailure?, _ schema: BenchSchema, _ target: PostgresTarget
  ) -> UpsurgeError {
    var error = error
    guard let failure else {
      if error.code == .interrupted { error.said = "interrupted; its schema and its scratch folder are removed" }
      return error
    }
    error.said +=
      "; the schema \(schema.name) may be left on \(target.shown), as it cannot be dropped: \(target.masked(failure.message))"
    error.remedy = "once the server answers, remove it: \(schema.dropStatement)"
    return error
  }

  private func validate() throws(UpsurgeError) {
    try options.validate()
    if let rowCount, rowCount == 0 { throw UpsurgeError(.usage, "\(.rows) takes at least 1") }
    if let roundCount, roundCount < 1 { throw UpsurgeError(.usage, "\(.rounds) takes at least 1") }
    if let rowCount, rowCount > Self.rowLimit {
      throw UpsurgeError(
        .usage, "\(.rows, rowCount) is too many: at most \(Words.count(Self.rowLimit)) are made, as they are held in memory")
    }
  }

  private static func check(_ capabilities: Capabilities, _ session: ServerSession) throws(UpsurgeError) {
    if capabilities.family == .cockroachDB {
      throw UpsurgeError(
        .usage, "\(session.target.shown) is CockroachDB, which has no unlogged tables and counts no dead rows: it is not measured")
    }
  }
}
