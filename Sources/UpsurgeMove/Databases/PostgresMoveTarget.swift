import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// A schema of a server's database that tables move into.
final class PostgresMoveTarget: MoveTarget {
  private let link: PostgresLink
  private let schema: String

  init(_ url: String, schema: String, _ cancellation: ReadCancellation) throws(UpsurgeError) {
    link = try PostgresLink(url, cancellation)
    self.schema = schema
  }

  var shown: String { link.target.shown }

  var database: String { link.url }

  func loadName(of table: String) -> String { quotedName(of: table) }

  func quotedName(of table: String) -> String { "\(schema.quotedAsName).\(table.quotedAsName)" }

  func takenNames(besides tables: [String]) throws(UpsurgeError) -> [String] {
    try rows(
      """
      SELECT c.relname, coalesce(o.relname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class o ON o.oid = i.indrelid
      WHERE n.nspname = \(schema.quotedAsText)
      UNION SELECT t.typname, t.typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE n.nspname = \(schema.quotedAsText)
      """
    ).namesThatBelong(toNoneOf: tables)
  }

  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]] { try link.rows(sql) }

  func lines(_ sql: String, to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    guard let source = ServerSource(link.named(sql)) else { preconditionFailure("a query is named") }
    let snapshot = try RowServers.find(source).connect(to: source, cancellation: link.cancellation)
    _ = try snapshot.open(source.rows)
    try snapshot.write(to: send)
  }

  func settledCount(of table: String) throws(UpsurgeError) -> UInt64 {
    try link.rows(
      "SELECT count(*) FROM \(quotedName(of: table))",
      after: "LOCK TABLE \(quotedName(of: table)) IN SHARE MODE")[0][0]
      .flatMap { UInt64($0) } ?? 0
  }

  func change(_ statements: [String]) throws(UpsurgeError) { try link.change(statements) }

  func refusal(of statements: [String]) throws(UpsurgeError) -> String? { try link.refusal(of: statements) }
}
