import UpsurgePostgres
import UpsurgeRecords

/// The schema of one benchmark: all that is made lies in it, and goes with it.
struct BenchSchema: Sendable {
  /// Letters, digits and lines below, so that it needs no quotes.
  let name: String

  private static let prefix = "upsurge_bench_"

  init() {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 36)
    name = Self.prefix + digits
  }

  /// The table that each run stores into.
  var table: String { "\(name).bench_rows" }
  /// The table that a run by hand fills first, where none may be temporary.
  var staging: String { "\(name).staging" }
  /// The table that holds a delivery as it was made.
  func table(of delivery: BenchDelivery) -> String { "\(name).\(delivery.rawValue)" }

  /// The columns of all tables, as `NarrowRows` fills them.
  static let columnNames = ["id", "name", "category", "quantity", "price", "updated_at"]
  private static let types = ["bigint", "text", "text", "bigint", "double precision", "text"]
  /// What stands between the brackets of CREATE TABLE.
  static let definition = zip(columnNames, types).map { "\($0) \($1)" }.joined(separator: ", ")

  /// What removes all of it.
  var dropStatement: String { "DROP SCHEMA \(name) CASCADE" }

  /// Makes the schema.
  /// - Throws: `database` where the user may not, with what allows it.
  func make(_ session: ServerSession) throws(UpsurgeError) {
    let names = try session.asking { (connection) throws(PostgresFailure) -> (database: String, user: String)? in
      let row = try connection.run(
        "SELECT has_database_privilege(current_database(), 'CREATE'), quote_ident(current_database()), quote_ident(current_user)",
        []
      ).first
      if let row, row.flag(0) == false { return (row.text(1) ?? "", row.text(2) ?? "") }
      try connection.run("CREATE SCHEMA \(name)")
      return nil
    }
    guard let names else { return }
    throw UpsurgeError(
      .database,
      "\(session.target.shown): a benchmark makes a schema of its own, which \(names.user.escapedForTerminal) may not",
      hint:
        "the database's owner allows it: GRANT CREATE ON DATABASE \(names.database.escapedForTerminal) TO \(names.user.escapedForTerminal)")
  }

  /// Removes the schema, by a connection that no cancellation ends.
  /// - Returns: why it is left; nil where it has gone.
  func drop(from target: PostgresTarget) -> PostgresFailure? {
    do throws(PostgresFailure) {
      let connection = try PostgresConnection(to: target)
      // A run that was interrupted may hold its locks for a moment.
      try connection.run("BEGIN; SET LOCAL lock_timeout = 10000; SET LOCAL statement_timeout = 0")
      try connection.run("DROP SCHEMA IF EXISTS \(name) CASCADE")
      return try connection.commit() ? nil : PostgresFailure(.other, "the server has rolled it back")
    } catch {
      return error
    }
  }

  /// The schemas of other benchmarks, which are at work or were killed.
  func others(_ connection: PostgresConnection) throws(PostgresFailure) -> [String] {
    try connection.run(
      "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1) AND nspname <> $2 ORDER BY 1",
      [.text(Self.prefix), .text(name)]
    ).rows.compactMap { $0.text(0) }
  }
}
