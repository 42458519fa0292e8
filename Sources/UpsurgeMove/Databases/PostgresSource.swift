import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// A schema of a server's database that is moved: its rows are read in one transaction from the first to the last digest.
final class PostgresSource: MoveSource {
  private let link: PostgresLink
  private let schema: String
  private let snapshots: DatabaseSnapshots

  /// Expressions of the catalogue then name all that is not PostgreSQL's own with its schema.
  private static let beginning = """
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = pg_catalog; SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = 10000; SET LOCAL idle_in_transaction_session_timeout = 0
    """

  /// The name under which the snapshot is held.
  private static let reader = "move"

  init(_ url: String, schema: String, _ cancellation: ReadCancellation) throws(UpsurgeError) {
    link = try PostgresLink(
      url, beginning: Self.beginning, cancellation)
    self.schema = schema
    let source = Source(url + "#move")
    // Named twice, so that the state is kept from one load to the next.
    snapshots = DatabaseSnapshots(tables: [(name: Self.reader, sources: [source, source])], target: "")
  }

  deinit { snapshots.end(Self.reader) }

  var shown: String { link.target.shown }

  var place: String { "\(link.target.shown) \(schema)" }

  func share(with options: inout LoadOptions) { options.environment.databaseSnapshots = snapshots }

  func source(_ sql: String) -> Source { Source(link.named(sql)) }

  func shape() throws(UpsurgeError) -> DatabaseShape {
    try PostgresShapeReader(schema: schema) { [link] (sql) throws(UpsurgeError) in try link.rows(sql) }
      .shape()
  }

  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]] { try link.rows(sql) }

  func lines(_ sql: String, to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    guard let source = ServerSource(link.named(sql)) else { preconditionFailure("a query is named") }
    let server = try RowServers.find(source)
    guard let snapshot = try snapshots.take(source, from: server, link.cancellation) else {
      preconditionFailure("the database is shared")
    }
    defer { snapshots.giveBack(snapshot, source) }
    _ = try snapshot.open(source.rows)
    try snapshot.write(to: send)
  }
}
