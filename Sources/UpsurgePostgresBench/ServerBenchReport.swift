import UpsurgeBench
import UpsurgePostgres
import UpsurgeRecords

/// What a benchmark of a server has measured, and all that is needed to judge and repeat it.
package struct ServerBenchReport: Sendable, BenchOutput {
  package var rowCount: UInt64
  package var inputByteCount: UInt64
  package var server: ServerFacts
  /// The machine that has sent the rows.
  package var machine: MachineFacts
  package var entries: [Entry] = []
  /// The command line that repeats it, without a password.
  package var command = ""
  /// What a reader must know to judge the figures.
  package var notes: [Wording] = []
  /// Whether the schema could not be dropped.
  package private(set) var isSchemaLeft = false

  init(rowCount: UInt64, inputByteCount: UInt64, server: ServerFacts, machine: MachineFacts) {
    (self.rowCount, self.inputByteCount, self.server, self.machine) = (rowCount, inputByteCount, server, machine)
  }

  /// One contender of one suite.
  package struct Entry: Sendable {
    package let suite: ServerBenchSuite
    package var figures: BenchReport.Entry
    /// Rows of each run: some ways are measured on a part.
    package let rowCount: UInt64
    /// What the server's write-ahead log has grown by in each run, in bytes; empty where that is not known.
    package var logByteCounts: [Int64] = []
    /// Dead rows of the table after each run; empty where that is not known.
    package var deadRowCounts: [Int64] = []

    package var rowsPerSecond: Double? { figures.median.flatMap { $0 > 0 ? Double(rowCount) / $0 : nil } }
    package var logByteCount: Int64? { Self.middle(logByteCounts) }
    package var deadRowCount: Int64? { Self.middle(deadRowCounts) }

    private static func middle(_ values: [Int64]) -> Int64? {
      values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
  }

  /// Adds a contender without any run.
  /// - Parameter partCount: how many rows are stored row by row.
  mutating func add(_ contender: ServerContender, partCount: Int) {
    let isPart = contender.way == .prepared && UInt64(partCount) < rowCount
    let name = isPart ? "\(contender.name) (\(Words.count(UInt64(partCount))))" : contender.name
    entries.append(
      Entry(
        suite: contender.suite,
        figures: BenchReport.Entry(name: name, detail: contender.detail, kind: contender.kind),
        rowCount: isPart ? UInt64(partCount) : rowCount))
  }

  /// Whether a contender failed or stored other rows, or something is left on the server.
  package var hasFailure: Bool { isSchemaLeft || entries.contains { $0.figures.absence?.isFailure == true } }

  /// The suites with their contenders.
  package var suites: [(suite: ServerBenchSuite, entries: [Entry])] {
    ServerBenchSuite.allCases.map { suite in (suite, entries.filter { $0.suite == suite }) }
  }

  /// How many times as long as the fastest of its suite a contender takes for a row. Only tables that can be kept count as fastest,
  /// so that a floor may be below 1.
  package func ratio(_ entry: Entry) -> Double? {
    let rates = entries.filter { $0.suite == entry.suite && $0.figures.kind != .floor }.compactMap(\.rowsPerSecond)
    guard let best = rates.max(), let rate = entry.rowsPerSecond else { return nil }
    return best / rate
  }
}

// MARK: - What is to be known

extension ServerBenchReport {
  /// Says what the figures are of, before anything has run.
  mutating func noteFacts(otherSchemas: [String]) {
    notes += [
      "the figures are of this server, of the network between, and of this machine; elsewhere they are others",
      "each run begins with a connection, whose start counts; each table was compared by columns, rows and a digest "
        + "before its time counted",
      "the ways by hand have the text of the file in memory; upsurge load reads and parses the file",
    ]
    if server.setting("fsync") == "off" {
      notes.append("fsync is off: the server waits for no disk, and loses data when its machine fails")
    }
    if server.setting("synchronous_commit") == "off" {
      notes.append("synchronous_commit is off: a commit does not wait for the disk")
    }
    #if DEBUG
      notes.append(
        "this is a debug build: its figures mean nothing; swift build -c release makes one to measure with")
    #endif
    if machine.isBusy {
      notes.append(
        "other programs were at work here: the load was \(BenchReport.decimal(machine.load, digits: 1)) on "
          + "\(machine.coreCount) cores when it began")
    }
    for schema in otherSchemas {
      notes.append(
        "there is the schema of another benchmark; unless that is at work now, DROP SCHEMA \(schema) CASCADE removes it")
    }
  }

  /// Says how far the figures are to be trusted, and which are missing.
  mutating func noteRuns(roundCount: Int, _ meter: ServerMeter) {
    if let objection = meter.logObjection {
      notes.append("bytes of the log are not known: \(objection)")
    } else {
      notes.append("log: what the server's write-ahead log grew by, also by other sessions")
    }
    if let objection = meter.deadRowObjection {
      notes.append("dead rows are not known: \(objection)")
    } else {
      notes.append("dead rows: what VACUUM has to remove after the run")
    }
    if entries.contains(where: { $0.figures.absence == nil && $0.figures.runs.count < roundCount }) {
      notes.append(
        "not all was run \(roundCount) times, so that it does not take too long; \(.rounds, "N") runs everything N times")
    }
    if entries.contains(where: \.figures.isNoisy) {
      notes.append(
        "noisy: the runs spread over more than 10 %; let server and network rest, and run again with more \(.rounds)")
    }
  }

  /// Says that the schema is still there.
  mutating func note(left schema: BenchSchema, _ failure: PostgresFailure) {
    isSchemaLeft = true
    notes.append(
      "the schema \(schema.name) is left on the server, as it cannot be dropped: \(failure.message); "
        + "\(schema.dropStatement) removes it")
  }
}
