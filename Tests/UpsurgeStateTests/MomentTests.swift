import SQLiteSupport
import Synchronization
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite
@testable import UpsurgeState

/// What is read without the write lock, while another connection changes it.
@Suite struct MomentTests {
  private let database = TemporaryDatabase()

  @Test("Tables that others make and remove meanwhile are there whole or not at all")
  func tables() throws {
    let maker = try database.open("CREATE TABLE t(a)")
    let replays = "CREATE TABLE upsurge_replays(path, done_bytes, done_hash, kept_bytes, kept_hash, whole)"
    try whileReading { reader throws(UpsurgeError) in
      _ = try RunTable.open(reader, table: "t")
      _ = try ReplayMark.all(reader)
      let columns = try TableSchema.read(reader, table: "u")?.columns.map(\.name)
      if let columns, columns != ["a", "b"] { throw UpsurgeError(.database, "u has \(columns)") }
    } do: { reading in
      for _ in 0..<200 where !reading.hasFailed {
        try maker.execute("BEGIN IMMEDIATE; \(RunTable.layout.creation); \(replays); CREATE TABLE u(a, b); COMMIT")
        try maker.execute("DROP TABLE upsurge_runs; DROP TABLE upsurge_replays; DROP TABLE u")
      }
    }
  }

  @Test("A run that ends between two looks has not ended early")
  func endingRuns() throws {
    let writer = try database.open("CREATE TABLE t(a)")
    let job = RunJob(table: "t", sources: ["/a.csv"], options: [])
    try whileReading { reader throws(UpsurgeError) in
      for run in try RunTable.open(reader, table: "t") where run.state == .running && run.livePID == nil {
        throw UpsurgeError(.database, "run \(run.id) seems to have ended early")
      }
    } do: { reading in
      for _ in 0..<200 where !reading.hasFailed {
        let keeper = try RunKeeper(
          connection: writer, job: job, resumed: nil, replaced: [], keepsHistory: false)
        keeper.madeTable = true
        try writer.beginWriting()
        try keeper.willCommit(RunProgress(), RunPosition(), isLast: false)
        try writer.commitWriting()
        try keeper.acknowledge(RunProgress(), RunPosition(), exitCode: 0)
      }
    }
  }

  /// Does something while another thread reads over and over.
  private func whileReading(
    _ read: @escaping @Sendable (Connection) throws(UpsurgeError) -> Void,
    do body: (Reading) throws -> Void
  ) throws {
    let reading = Reading()
    let path = database.path
    let thread = try WorkerThread {
      do throws(UpsurgeError) {
        let reader = try Connection(path: path, createIfMissing: false, busyTimeoutMilliseconds: 20_000)
        while !reading.hasEnded { try read(reader) }
      } catch {
        reading.fail(error.description)
      }
    }
    defer {
      reading.end()
      thread.join()
    }
    try body(reading)
    #expect(reading.failure == nil)
  }
}

/// What the reading thread and the test know of each other.
private final class Reading: Sendable {
  private let state = Mutex<(failure: String?, hasEnded: Bool)>((nil, false))

  var failure: String? { state.withLock { $0.failure } }
  var hasFailed: Bool { failure != nil }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  func fail(_ text: String) { state.withLock { $0.failure = text } }
  func end() { state.withLock { $0.hasEnded = true } }
}
