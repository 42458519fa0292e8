import Foundation
import PostgresSupport
import TestSupport
import Upsurge

@testable import UpsurgePostgres

/// A random load into a table that is there, for any number of connections.
struct SeveralLoad {
  /// All that stands at the end.
  struct Result: Equatable {
    var rows: [String]
    var ledger: Ledger
    var rejects: String
    var reasons: [String: UInt64]
  }

  let seed: UInt64
  let text: String
  let isJSON: Bool
  let ddl: String
  let hasTombstones: Bool
  let keepsInTable: Bool
  private let key: [String]
  private let merge: MergeRule?
  private let mode: WriteMode?

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 60...900, using: &random)
    let keyCount = max(1, count / Int.random(in: 1...4, using: &random))
    let isPair = Bool.random(using: &random)
    isJSON = Int.random(in: 0..<3, using: &random) == 0
    hasTombstones = Int.random(in: 0..<3, using: &random) == 0
    keepsInTable = Bool.random(using: &random)
    mode =
      hasTombstones
      ? nil : [nil, nil, WriteMode.ignore, .update, .insert].randomElement(using: &random) ?? nil
    merge = mode != nil ? nil : [nil, MergeRule.sum, .max, .coalesce].randomElement(using: &random) ?? nil
    key = isPair ? ["id", "code"] : ["id"]
    let type = ["bigint", "int", "text"].randomElement(using: &random) ?? "bigint"
    let before = Int.random(in: 0...keyCount, using: &random)
    // Most rows of some tables are those of the feed already.
    let isRepeated = merge == nil && mode == nil && !isJSON && Bool.random(using: &random)
    var rows: [String: String] = [:]
    let badShare = seed % 2 == 0 ? 0 : [10, 30].randomElement(using: &random) ?? 0
    var lines = isJSON ? [] : ["id,code,n,day,gone"]
    for _ in 0..<count {
      let id = Int.random(in: 1...keyCount, using: &random)
      let isBad = Int.random(in: 0..<100, using: &random) < badShare
      let kind = isBad ? Int.random(in: 0..<4, using: &random) : -1
      let n = kind == 0 ? 5_000 : Int.random(in: 0..<60, using: &random)
      let day = kind == 1 ? "2024-02-31" : "2024-02-2\(Int.random(in: 0..<9, using: &random))"
      let gone = hasTombstones && Int.random(in: 0..<9, using: &random) == 0 ? "yes" : "no"
      let code = "c\(Int.random(in: 0..<3, using: &random))"
      if isJSON {
        let lacks = Int.random(in: 0..<5, using: &random) == 0
        lines.append(
          kind == 2
            ? "{\"id\":\(id),"
            : "{\"id\":\(kind == 3 ? "null" : "\(id)"),\"code\":\"\(code)\","
              + (lacks ? "" : "\"n\":\(n),") + "\"day\":\"\(day)\",\"gone\":\"\(gone)\"}")
      } else {
        lines.append(
          "\(kind == 3 ? "" : "\(id)"),\(code),\(n),\(day),\(gone)" + (kind == 2 ? ",surplus" : ""))
        let name = isPair ? "\(id) \(code)" : "\(id)"
        if !isBad, rows[name] == nil { rows[name] = "(\(id), '\(code)', \(n), '\(day)')" }
      }
    }
    text = lines.joined(separator: "\n") + "\n"
    let filling =
      isRepeated && !rows.isEmpty
      ? "VALUES \(rows.keys.sorted().compactMap { rows[$0] }.joined(separator: ", "))"
      : "SELECT i, 'c' || i % 3, i % 50, NULL FROM generate_series(1, \(before)) i"
    ddl = """
      CREATE TABLE t (id \(type), code text \(isPair ? "" : "DEFAULT 'none'"), n bigint CHECK (n < 1000), day date,
        PRIMARY KEY (\(key.joined(separator: ", "))));
      INSERT INTO t (id, code, n, day) \(filling); ANALYZE t
      """
  }

  var sourceName: String { isJSON ? "feed.ndjson" : "feed.csv" }

  /// - Parameters:
  ///   - connections: how many; the size of transactions and batches is random, too.
  ///   - rejectsPath: a file for what is rejected, where it does not go into the table of rejects.
  func options(connections: Int, rejectsPath: String) -> LoadOptions {
    var random = SeededGenerator(seed: seed &+ UInt64(connections) &* 977)
    var options = LoadOptions()
    (options.rules.key, options.rules.mode) = (key, mode)
    if let merge { options.rules.merge.columns = ["n": merge] }
    if hasTombstones { options.rules.tombstone = Tombstone(column: "gone", value: "yes") }
    options.input.format = isJSON ? .ndjson : .csv
    options.rejects.onError = .reject
    options.rejects.target = keepsInTable ? .table : .file(rejectsPath)
    options.transaction.connections = connections
    options.transaction.commitEvery = .records(Int.random(in: 5...120, using: &random))
    options.tuning.batchSizes.recordCount = Int.random(in: 1...90, using: &random)
    if !hasTombstones { options.table.columns = ["id", "code", "n", "day"] }
    return options
  }

  func result(
    _ summary: RunSummary, _ connection: PostgresConnection, rejectsPath: String
  ) throws -> Result {
    let rows = try connection.texts("SELECT id, code, n, day FROM t ORDER BY 1, 2, 3, 4").map { "\($0)" }
    let rejects =
      keepsInTable
      ? try connection.texts(
        "SELECT record, line, byte, \"column\", code, reason, raw FROM upsurge_rejects ORDER BY id"
      ).map { "\($0)" }.joined(separator: "\n")
      : try String(contentsOfFile: rejectsPath, encoding: .utf8)
    var reasons: [String: UInt64] = [:]
    for entry in summary.rejectsByReason { reasons["\(entry.code.rawValue)"] = entry.count }
    return Result(rows: rows, ledger: summary.ledger, rejects: rejects, reasons: reasons)
  }
}
