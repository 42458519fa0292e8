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
  var isAtomic = false
  /// Rejects go to the table `upsurge_rejects` instead of a file.
  var keepsRejects = false

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
    FaultCase(
      name: "keyless, rejects in a table",
      setup: "PRAGMA journal_mode=WAL; CREATE TABLE t(id INT, name TEXT, amount REAL)", keepsRejects: true),
    FaultCase(
      name: "upsert, atomic, rejects in a table",
      setup: """
        PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, amount REAL);
        INSERT INTO t VALUES (7919, 'old', 0.5)
        """, hasKey: true, isAtomic: true, keepsRejects: true),
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
    if hasKey { options.rules.key = ["id"] }
    if let index { options.indexes.wanted = [index] }
    options.transaction.commitEvery = .records(commitEvery)
    options.transaction.isAtomic = isAtomic
    options.rejects.onError = .reject
    options.rejects.target = keepsRejects ? .table : rejects.map { .file($0) }
    options.transaction.durability = durability
    options.transaction.busyTimeout = 100
    // Of little memory, so that pages are written before the commit as well.
    options.transaction.memory = .mebibytes(16)
    return LoadJob(database: path, table: "t", sources: [input], options: options)
  }

  /// The records in a file of rejects, whose first line is none; 0 where there is no file.
  static func recordCount(inRejects path: String) throws -> Int {
    if access(path, F_OK) != 0 { return 0 }
    return try readFile(path).split(separator: 10).count {
      String(decoding: $0, as: UTF8.self).contains("\"raw\":")
    }
  }

  /// The table, typed and in order, and the rejects with all that is said of them. Checks the whole file.
  func state(_ path: String, rejects: String) throws -> FaultState {
    let database = Database(path)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    let tables = try database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
    var state = FaultState(rejects: "")
    if tables.contains("'t'") {
      state.table =
        try database.rows(
          """
          SELECT count(*) || group_concat(typeof(id) || id || typeof(name) || name || typeof(amount) || amount, '\n')
          FROM (SELECT * FROM t ORDER BY rowid)
          """
        ).first
    }
    if keepsRejects {
      guard tables.contains("'upsurge_rejects'") else { return state }
      state.rejects = try database.rows(
        """
        SELECT id, file, record, line, byte, "column", code, reason, raw, raw_cut FROM upsurge_rejects ORDER BY id
        """
      ).joined(separator: "\n")
    } else if access(rejects, F_OK) == 0 {
      // Without the first line, which is there before the first reject is.
      state.rejects = try readFile(rejects).split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        .filter { $0.contains("\"raw\":") }.joined(separator: "\n")
    }
    return state
  }
}

/// What a run leaves: the table's rows, nil where there is no table, and the rejects.
struct FaultState: Equatable {
  var table: String?
  var rejects: String

  /// Which part is another; for messages, which must not hold 20,000 rows.
  func difference(from other: FaultState) -> String? {
    if table != other.table { return "the table" }
    return rejects == other.rejects ? nil : "the rejects"
  }
}

/// What undisturbed runs of a case leave after each of its commits.
final class FaultOracle {
  let fault: FaultCase
  let scratch: Scratch
  let input: String
  var path: String { scratch.file("a.db") }
  var rejects: String { scratch.file("rejects.ndjson") }
  private var states: [Int: FaultState] = [:]
  private var whole: (ledger: Ledger, schema: [String])?

  init(_ fault: FaultCase) {
    self.fault = fault
    scratch = Scratch()
    input = scratch.write(FaultCase.text, to: "in.csv")
  }

  /// What is left after the first `count` records.
  func state(after count: Int) throws -> FaultState {
    if let known = states[count] { return known }
    let path = scratch.file("oracle.db")
    let rejects = scratch.file("oracle.ndjson")
    try fault.prepare(path)
    unlink(rejects)
    if count > 0 {
      var job = fault.job(path, input: input, rejects: rejects)
      job.options.input.recordLimit = UInt64(count)
      let summary = job.run()
      #expect(summary.error == nil)
      #expect(summary.ledger.read == UInt64(count))
    }
    let state = try fault.state(path, rejects: rejects)
    states[count] = state
    return state
  }

  /// What the disturbed run has left.
  func found() throws -> FaultState { try fault.state(path, rejects: rejects) }

  /// Starts the job on a new database, or again on the one that is there.
  func run(on disk: FaultDisk, anew: Bool, report: (RunSummary) -> Bool = { _ in true }) throws -> RunSummary
  {
    if anew {
      try fault.prepare(path)
      unlink(rejects)
    }
    var job = fault.job(path, input: input, rejects: rejects)
    job.options.environment.vfsName = disk.name
    let summary = job.run(report: report)
    #expect(disk.openFileCount == 0)
    return summary
  }

  /// Starts the same job again on a sound disk, after whatever has ended the last run: the table, the rejects and the
  /// ledger become those of an undisturbed run.
  ///
  /// A run that has ended well is not started again, unless it could not remove its mark: then its ledger is told again.
  func goOn(after last: RunSummary, _ place: String) throws {
    let mark = "SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_runs'"
    if try last.error == nil && Database(path).rows(mark).isEmpty { return }
    let whole = try undisturbedRun()
    let summary = fault.job(path, input: input, rejects: rejects).run()
    #expect(summary.error == nil, "\(place), run again: \(summary.error.map(String.init(describing:)) ?? "")")
    #expect(summary.exitCode == 2, "\(place), run again")
    let difference = try found().difference(from: state(after: FaultCase.recordCount))
    #expect(difference == nil, "\(place), run again: not as in an undisturbed run: \(difference ?? "")")
    #expect(summary.ledger == whole.ledger, "\(place), run again")
    #expect(try Self.schema(path) == whole.schema, "\(place), run again")
  }

  /// An undisturbed run's ledger, and the schema that it leaves.
  private func undisturbedRun() throws -> (ledger: Ledger, schema: [String]) {
    if let whole { return whole }
    let path = scratch.file("oracle.db")
    try fault.prepare(path)
    let rejects = scratch.file("oracle.ndjson")
    unlink(rejects)
    let summary = fault.job(path, input: input, rejects: rejects).run()
    let made = (summary.ledger, try Self.schema(path))
    whole = made
    return made
  }

  private static func schema(_ path: String) throws -> [String] {
    try Database(path).rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
  }
}

/// Which places the tests of faults try.
enum FaultChoice {
  /// Whether every place is tried instead of some: `UPSURGE_FAULTS=all`.
  static let isEvery = getenv("UPSURGE_FAULTS").map { String(cString: $0) } == "all"

  /// Chooses the places that are tried otherwise, another set in each run of the tests: `UPSURGE_SEED=N` repeats one.
  static let seed: UInt64 = {
    let given = getenv("UPSURGE_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0..<1_000_000)
    print("UPSURGE_SEED=\(seed) chooses the places of faults")
    return seed
  }()

  /// Every place of `1...count`, or each so manieth from a random one on; always one where there is any.
  static func places(of count: Int, stride step: Int, _ random: inout SeededGenerator) -> [Int] {
    if count == 0 { return [] }
    if isEvery { return Array(1...count) }
    return Array(stride(from: Int.random(in: 1...min(step, count), using: &random), through: count, by: step))
  }
}
