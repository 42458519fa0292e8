import PostgresSupport
import TestSupport
import Upsurge

@testable import UpsurgePostgres

/// A table of a server and one of SQLite that take the same loads and replays.
struct TwoStores {
  /// What a call has done, and what it has left.
  struct Result: Equatable {
    var ledger: Ledger
    var exitCode: Int32
    var rows: [String]
    var rejects: [String]
  }

  enum Store: CaseIterable { case sqlite, postgres }

  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  /// - Parameters:
  ///   - ddl: the table t for SQLite.
  ///   - serverDDL: for the server.
  init(_ ddl: String, server serverDDL: String) throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
    try server.psql(serverDDL, in: url)
    try Database(scratch.file("t.db")).rows(ddl)
  }

  func database(_ store: Store) -> String { store == .sqlite ? scratch.file("t.db") : url }

  @discardableResult
  func rows(_ sql: String, _ store: Store) throws -> [String] {
    if store == .sqlite { return try Database(database(.sqlite)).rows(sql) }
    return try server.rows(sql, in: url)
  }

  /// Changes something, by SQL that both take.
  func change(_ sql: String) throws {
    try Database(database(.sqlite)).rows(sql)
    try server.psql(sql, in: url)
  }

  /// Rejects that are kept, as far as both stores say the same of them.
  static let rejects =
    "SELECT \"table\", file, record, line, byte, code, raw FROM upsurge_rejects ORDER BY id"

  func load(
    _ path: String, _ store: Store, _ change: (inout LoadOptions) -> Void = { _ in }
  ) throws -> Result {
    var options = LoadOptions()
    (options.rejects.onError, options.rejects.target) = (.reject, .table)
    change(&options)
    let summary = LoadJob(database: database(store), table: "t", sources: [path], options: options).run()
    return try result(summary.ledger, summary.exitCode, store, hasTable: options.rejects.target == .table)
  }

  func replay(
    _ store: Store, file: String? = nil, trustsRules: Bool = false,
    report: (ReplaySummary) -> Bool = { _ in true }
  ) throws -> (result: Result, summary: ReplaySummary) {
    var options = ReplayOptions()
    options.trustsRules = trustsRules
    let summary = ReplayJob(database: database(store), file: file, options: options).run(report: report)
    return (try result(summary.ledger, summary.exitCode, store, hasTable: file == nil), summary)
  }

  private func result(
    _ ledger: Ledger, _ exitCode: Int32, _ store: Store, hasTable: Bool
  ) throws -> Result {
    Result(
      ledger: ledger, exitCode: exitCode, rows: try rows("SELECT * FROM t ORDER BY id, n", store),
      rejects: hasTable ? try rows(Self.rejects, store) : [])
  }
}
