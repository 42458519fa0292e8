import Upsurge
import UpsurgeBench
import UpsurgePostgres
import UpsurgeRecords

/// The server that is measured: it gets the tables that runs begin with, and their tables are compared there.
struct BenchServer {
  let schema: BenchSchema
  /// With a name by which the sessions of runs are found.
  let url: String
  let facts: ServerFacts
  let hand: HandLoad
  private let session: ServerSession
  private(set) var meter: ServerMeter
  /// What tables must be, by what they are compared with.
  private var expectedStates: [String: TableState] = [:]

  /// Looks at the server, whose schema is made already.
  /// - Parameter url: of the session.
  /// - Throws: `usage` for what is no URL of PostgreSQL.
  init(
    _ session: ServerSession, _ url: String, _ schema: BenchSchema, _ capabilities: Capabilities
  ) throws(UpsurgeError) {
    // Of a setting that comes twice, libpq takes the last.
    self.url = url + (url.contains("?") ? "&" : "?") + "application_name=" + schema.name
    guard let target = PostgresTarget(self.url) else {
      throw UpsurgeError(.usage, "the database is not a URL of PostgreSQL")
    }
    (self.session, self.schema) = (session, schema)
    facts = try session.asking { (connection) throws(PostgresFailure) in
      try ServerFacts(connection, capabilities)
    }
    meter = ServerMeter(schema, facts, capabilities.versionNumber)
    hand = HandLoad(
      schema: schema, target: target, cancellation: session.cancellation ?? ReadCancellation(),
      hasTemporaryTables: capabilities.hasTemporaryTables)
  }

  /// A failure of a run by hand as an error that shows the URL as it was given.
  func error(_ failure: PostgresFailure) -> UpsurgeError { failure.asError(on: session.target) }

  /// Schemas of other benchmarks.
  func otherSchemas() throws(UpsurgeError) -> [String] {
    try session.asking { (connection) throws(PostgresFailure) in try schema.others(connection) }
  }

  // MARK: - Runs

  /// Stores a delivery as it is, for comparisons and as what upserts begin with.
  func keep(_ delivery: BenchDelivery, _ text: [UInt8]) throws(UpsurgeError) {
    let table = schema.table(of: delivery)
    try session.asking { (connection) throws(PostgresFailure) in
      // The call may be made again, where a connection breaks.
      let making = "BEGIN; DROP TABLE IF EXISTS \(table); CREATE TABLE \(table) (\(BenchSchema.definition))"
      try hand.copy(text, into: table, after: making, connection)
      if try !connection.commit() { throw PostgresFailure(.other, "the server has rolled the rows back") }
    }
  }

  /// Removes the table of the last run, and makes the one that the next begins with.
  func prepare(for suite: ServerBenchSuite) throws(UpsurgeError) {
    let (table, first) = (schema.table, schema.table(of: .first))
    try session.asking { (connection) throws(PostgresFailure) in
      try connection.run("DROP TABLE IF EXISTS \(table) CASCADE")
      if suite == .new { return }
      try connection.run(
        """
        CREATE TABLE \(table) (\(BenchSchema.definition)); INSERT INTO \(table) SELECT * FROM \(first) ORDER BY id;
        ALTER TABLE \(table) ADD PRIMARY KEY (id)
        """)
      try connection.run("VACUUM (FREEZE, ANALYZE) \(table)")
    }
  }

  /// Where the server's log ends, in bytes.
  mutating func logPosition() throws(UpsurgeError) -> Int64? {
    var meter = meter
    defer { self.meter = meter }
    return try session.asking { (connection) throws(PostgresFailure) in try meter.logPosition(connection) }
  }

  /// Dead rows of the run's table.
  mutating func deadRows() throws(UpsurgeError) -> Int64? {
    var meter = meter
    defer { self.meter = meter }
    return try session.asking { (connection) throws(PostgresFailure) in try meter.deadRows(connection) }
  }

  // MARK: - Comparison

  /// In what the run's table differs from what it should be; nil where it does not.
  /// - Parameter rowLimit: how many rows of the delivery were stored; nil is all.
  mutating func difference(
    of contender: ServerContender, rowLimit: Int?
  ) throws(UpsurgeError) -> String? {
    let expected = relation(of: contender.suite, rowLimit: rowLimit)
    let wanted = try state(of: expected)
    return try session.asking { (connection) throws(PostgresFailure) in
      let found = try TableState(of: schema.table, connection)
      if let words = found.difference(from: wanted) {
        let row = try example(of: expected, connection)
        return words + row
      }
      let hasKey = try connection.run(
        "SELECT EXISTS (SELECT FROM pg_index WHERE indrelid = to_regclass($1) AND indisprimary AND indisvalid)",
        [.text(schema.table)]
      ).first?.flag(0)
      return hasKey == contender.hasKey ? nil : contender.hasKey ? "its table has no primary key" : "its table has a key"
    }
  }

  /// What a table must be, read once.
  private mutating func state(of relation: String) throws(UpsurgeError) -> TableState {
    if let known = expectedStates[relation] { return known }
    let state = try session.asking { (connection) throws(PostgresFailure) in
      try TableState(of: relation, connection)
    }
    expectedStates[relation] = state
    return state
  }

  /// What the table of a run must hold: the delivery, or a part of it over what was there.
  private func relation(of suite: ServerBenchSuite, rowLimit: Int?) -> String {
    let delivery = schema.table(of: suite.delivery)
    guard let rowLimit else { return delivery }
    let part = "SELECT * FROM \(delivery) WHERE id <= \(rowLimit)"
    if suite == .new { return "(\(part))" }
    return "(\(part) UNION ALL SELECT * FROM \(schema.table(of: .first)) WHERE id > \(rowLimit))"
  }

  /// A row that the run's table lacks, in words.
  private func example(
    of expected: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> String {
    let row = try connection.run(
      "SELECT t::text FROM (SELECT * FROM \(expected) AS e EXCEPT SELECT * FROM \(schema.table) LIMIT 1) AS t", []
    ).first?.text(0)
    return row.map { "; this row is missing: \($0.prefix(200))" } ?? ""
  }
}
