import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A load of 20,000 records that is to be disturbed.
struct FaultCase: Sendable, CustomTestStringConvertible {
  var name: String
  /// SQL that makes the database before the run; empty where the run makes it.
  var setup = ""
  var commitEvery = 5_000
  var hasKey = false
  var index: [String]?
  var durability = Durability.normal

  static let recordCount = 20_000
  /// Each so manieth record has a field too few, and is rejected.
  static let badStride = 997

  var testDescription: String { name }

  static let all: [FaultCase] = [
    FaultCase(name: "keyless, new table, one transaction", commitEvery: 100_000),
    FaultCase(
      name: "keyless, table in a database with a rollback journal, durability full",
      setup: "CREATE TABLE t(id INT, name TEXT, amount REAL); INSERT INTO t VALUES (-1, 'first', 0.5)",
      durability: .full),
    FaultCase(
      name: "upsert, existing table with an index",
      setup: """
        PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, amount REAL);
        CREATE INDEX by_name ON t(name);
        INSERT INTO t SELECT value, 'old ' || value, value FROM generate_series_stand_in;
        DROP TABLE generate_series_stand_in
        """, hasKey: true),
    FaultCase(name: "upsert, new table, index built behind it", hasKey: true, index: ["name"]),
  ]

  /// The input: ids spread over the table, some of them more than once.
  static let text: String = {
    var text = "id,name,amount\n"
    for number in 1...recordCount {
      let id = number * 7919 % 18_000
      text += number % badStride == 0 ? "\(id)\n" : "\(id),name \(number % 1_000) of \(id),\(number).25\n"
    }
    return text
  }()

  /// Makes the database as it is before the run.
  func prepare(_ path: String) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    if setup.isEmpty { return }
    try Database(path).rows(
      "CREATE TABLE generate_series_stand_in AS WITH s(value) AS (SELECT 1 UNION ALL SELECT value + 2 FROM s "
        + "LIMIT 9000) SELECT value FROM s; \(setup)")
  }

  func job(_ path: String, input: String, rejects: String?) -> LoadJob {
    var options = LoadOptions()
    if hasKey { options.key = ["id"] }
    if let index { options.indexes = [index] }
    options.commitEvery = .records(commitEvery)
    options.onError = .reject
    options.rejectsPath = rejects
    options.durability = durability
    options.busyTimeout = 100
    // Of little memory, so that pages are written before the commit as well.
    options.memory = .mebibytes(16)
    return LoadJob(database: path, table: "t", sources: [input], options: options)
  }

  /// The records in a file of rejects, whose first line is none; 0 where there is no file.
  static func recordCount(inRejects path: String) throws -> Int {
    if access(path, F_OK) != 0 { return 0 }
    return try readFile(path).split(separator: 10).count {
      String(decoding: $0, as: UTF8.self).contains("\"raw\":")
    }
  }

  /// The table, typed and in order; nil where there is none. Checks the whole file.
  static func state(_ path: String) throws -> String? {
    let database = Database(path)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    guard try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 't'") == ["1"] else { return nil }
    return try database.rows(
      """
      SELECT count(*) || group_concat(typeof(id) || id || typeof(name) || name || typeof(amount) || amount, '\n')
      FROM (SELECT * FROM t ORDER BY rowid)
      """
    ).first
  }
}

/// What undisturbed runs of a case leave after each of its commits.
final class FaultOracle {
  let fault: FaultCase
  let scratch: Scratch
  let input: String
  private var states: [Int: String?] = [:]
  private var whole: (ledger: Ledger, schema: [String])?

  init(_ fault: FaultCase) {
    self.fault = fault
    scratch = Scratch()
    input = scratch.write(FaultCase.text, to: "in.csv")
  }

  /// The table after the first `count` records.
  func state(after count: Int) throws -> String? {
    if let known = states[count] { return known }
    let path = scratch.file("oracle.db")
    try fault.prepare(path)
    if count > 0 {
      var job = fault.job(path, input: input, rejects: nil)
      job.options.recordLimit = UInt64(count)
      let summary = job.run()
      #expect(summary.error == nil)
      #expect(summary.ledger.read == UInt64(count))
    }
    let state = try FaultCase.state(path)
    states[count] = .some(state)
    return state
  }

  /// Starts the same job again on a sound disk, after whatever has ended the last run: the table, the rejects and the
  /// ledger become those of an undisturbed run.
  ///
  /// A run that has ended well is not started again, unless it could not remove its mark: then its ledger is told again.
  func goOn(_ path: String, rejects: String, after last: RunSummary, _ place: String) throws {
    let mark = "SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_runs'"
    if try last.error == nil && Database(path).rows(mark).isEmpty { return }
    let whole = try undisturbedRun()
    let summary = fault.job(path, input: input, rejects: rejects).run()
    #expect(summary.error == nil, "\(place), run again: \(summary.error.map(String.init(describing:)) ?? "")")
    #expect(summary.exitCode == 2, "\(place), run again")
    let isWhole = try FaultCase.state(path) == state(after: FaultCase.recordCount)
    #expect(isWhole, "\(place), run again: the table is not that of an undisturbed run")
    #expect(summary.ledger == whole.ledger, "\(place), run again")
    let kept = try FaultCase.recordCount(inRejects: rejects)
    #expect(kept == rejectCount(after: FaultCase.recordCount), "\(place), run again: rejects")
    #expect(try Self.schema(path) == whole.schema, "\(place), run again")
  }

  /// An undisturbed run's ledger, and the schema that it leaves.
  private func undisturbedRun() throws -> (ledger: Ledger, schema: [String]) {
    if let whole { return whole }
    let path = scratch.file("oracle.db")
    try fault.prepare(path)
    let summary = fault.job(path, input: input, rejects: nil).run()
    let made = (summary.ledger, try Self.schema(path))
    whole = made
    return made
  }

  private static func schema(_ path: String) throws -> [String] {
    try Database(path).rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
  }

  /// How many of the first records are rejected.
  func rejectCount(after count: Int) -> Int { count / FaultCase.badStride }
}

/// Whether tests try every place instead of some: `UPSURGE_FAULTS=all`.
let triesEveryFault = getenv("UPSURGE_FAULTS").map { String(cString: $0) } == "all"
