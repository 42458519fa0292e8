import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge

@testable import UpsurgePostgres

/// A whole load through a proxy, as the command makes it: by one path, with records that are rejected. It is begun again until it
/// has ended well.
final class ProxiedJob {
  /// How the table is that the load finds, and how it is loaded. What is stored twice shows in a sum, or where no key is.
  enum Path: String, CaseIterable, CustomStringConvertible, Sendable {
    case newTable, append, keyless, walk, delta, ordered, unnest, atomic, atomicNewTable, several, severalSums
    case told, toldSums, toldNewTable, toldAtomic
    var description: String { rawValue }
  }

  /// All that stands at the end.
  struct Result: Equatable {
    var rows: [[String?]]
    /// Tables of the engine's own that are left, and runs.
    var left: [[String?]]
    var rejects: [UInt8]
    /// The file of changes.
    var told: [UInt8]
    var ledger: Ledger
  }

  let path: Path
  let database: ProxiedDatabase
  /// How long each attempt to connect again is waited for; without any the run goes back to what stands.
  var connectSeconds = [Double](repeating: 0.001, count: 50)
  private let scratch = Scratch()
  private let source: String

  init(_ path: Path) throws {
    PostgresStores.register()
    self.path = path
    database = try ProxiedDatabase()
    let count = path.recordCount
    let lines = (0..<count).map { number in
      let value = number % 23 == 7 && path.hasCheck ? 5_000 : number % 7
      let key = path == .delta ? number * 5 : number % path.keyCount
      return "\(key),\(value)\(number == count / 2 ? ",surplus" : "")"
    }
    source = scratch.write((["id,n"] + lines).joined(separator: "\n") + "\n", to: "feed.csv")
  }

  private var rejectsPath: String { scratch.file("bad") }
  private var toldPath: String { scratch.file("told") }

  private func reset() throws {
    database.proxy.set([])
    try database.settle()
    try database.direct.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(path.ddl)")
    unlink(rejectsPath)
    unlink(toldPath)
  }

  private func job(to target: String) -> LoadJob {
    var options = LoadOptions()
    if path != .keyless { options.rules.key = ["id"] }
    if path.sums { options.rules.merge.columns = ["n": .sum] }
    (options.rejects.onError, options.rejects.path) = (.reject, rejectsPath)
    if path.isTold { options.output.changesPath = toldPath }
    options.transaction.isAtomic = [.atomic, .atomicNewTable, .toldAtomic].contains(path)
    options.transaction.commitEvery = .records(path.recordCount / 3 / path.connectionCount)
    options.transaction.connections = path.connectionCount
    options.tuning.batchSizes.recordCount = path.recordCount / 3
    options.tuning.connectSeconds = connectSeconds
    // In milliseconds. On a busy machine an attempt may take long, so the clock must not decide.
    options.transaction.busyTimeout = 600_000
    return LoadJob(database: target, table: "t", sources: [source], options: options)
  }

  private func result(_ summary: RunSummary) throws -> Result {
    try database.settle()
    let direct = database.direct
    return Result(
      rows: try direct.texts("SELECT id, n FROM t ORDER BY id, n"),
      left: try direct.texts("SELECT relname FROM pg_class WHERE relname LIKE 'upsurge_new%'")
        + direct.texts("SELECT state FROM upsurge_runs")
        + (path.connectionCount > 1 ? direct.texts("SELECT position FROM upsurge_connections") : []),
      rejects: try readFile(rejectsPath), told: path.isTold ? try readFile(toldPath) : [],
      ledger: summary.ledger)
  }

  /// What a load gives that nothing disturbs.
  func undisturbed() throws -> Result {
    try reset()
    let summary = job(to: database.proxy.url(database: database.direct.database)).run()
    try #require(
      summary.error == nil && summary.ledger.rejected > 0, "\(path): \(summary.error.map { "\($0)" } ?? "")")
    let result = try result(summary)
    try #require(result.told.isEmpty == !path.isTold)
    return result
  }

  /// - Returns: what stands when a load has ended well that met a fault, and how often it was begun again.
  func run(with fault: ProxyFault) throws -> (result: Result, startCount: Int) {
    try reset()
    database.proxy.set([fault])
    let job = job(to: database.proxy.url(database: database.direct.database))
    for count in 1...10 {
      let summary = job.run()
      guard let error = summary.error else { return (try result(summary), count) }
      try #require([.databaseBusy, .connectionLost].contains(error.code), "\(path): \(error)")
      // A session whose client has left may still commit.
      try database.settle()
    }
    throw PostgresFailure(.other, "\(path) does not end")
  }
}

extension ProxiedJob.Path {
  /// The ordered path takes no small batches, as they make no temporary table.
  fileprivate var recordCount: Int { self == .ordered ? 3 * (PathChoice.smallBatchCount + 200) : 120 }
  fileprivate var sums: Bool {
    [.ordered, .unnest, .atomic, .severalSums, .toldSums, .toldAtomic].contains(self)
  }
  fileprivate var isTold: Bool { [.told, .toldSums, .toldNewTable, .toldAtomic].contains(self) }
  fileprivate var connectionCount: Int { [.several, .severalSums].contains(self) ? 3 : 1 }
  fileprivate var hasCheck: Bool { !ddl.isEmpty && self != .ordered }
  fileprivate var keyCount: Int { sums ? recordCount / 2 : recordCount }

  /// SQL that makes the table, with the rows that the load finds.
  fileprivate var ddl: String {
    let table =
      "CREATE TABLE t (id bigint \(self == .keyless ? "" : "PRIMARY KEY"), n bigint CHECK (n < 4000)"
    let rows = "INSERT INTO t SELECT i, i % 7 FROM generate_series(0, \(recordCount - 1)) i"
    return switch self {
    case .newTable, .atomicNewTable, .toldNewTable: ""
    case .told:
      "\(table)); INSERT INTO t SELECT i, i % 5 FROM generate_series(0, 119) i WHERE i % 3 <> 0; ANALYZE t"
    case .append, .keyless, .several: "\(table))"
    case .walk: "\(table)); \(rows) WHERE i % 10 <> 0; ANALYZE t"
    // Small batches go this way where the records lack what a new row needs, and are spread over the table.
    case .delta:
      "\(table), note text NOT NULL); INSERT INTO t SELECT i, -1, '' FROM generate_series(0, \(recordCount * 5)) i; ANALYZE t"
    case .ordered, .unnest, .atomic, .severalSums, .toldSums, .toldAtomic:
      "\(table)); \(rows) WHERE i % 2 = 0 AND i < \(keyCount); ANALYZE t"
    }
  }
}
