import UpsurgeInput
import UpsurgeRecords

/// One state of a database, from which rows are copied.
///
///     BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
///     SELECT * FROM public.t LIMIT 0                                        names and types
///     COPY (SELECT id, tags::text FROM public.t) TO STDOUT (FORMAT binary)
///
/// Types that have no cell of their own come as the server's text. The transaction ends with the connection.
final class PostgresSnapshot: RowSnapshot {
  private let connection: PostgresConnection
  private var plan: CopyPlan?

  init(_ connection: PostgresConnection) throws(PostgresFailure) {
    self.connection = connection
    try connection.run(Self.beginning)
  }

  /// A scan that begins in the midst of a table, to share it with others, would give another order each time.
  private static let beginning = """
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 10000;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC';
    SET LOCAL intervalstyle = 'postgres'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex';
    SET LOCAL standard_conforming_strings = on; SET LOCAL synchronize_seqscans = off
    """

  /// An error in it does not end the transaction.
  private static let savepoint = "upsurge_rows"

  var isUsable: Bool { connection.isOpen && connection.isInTransaction }

  func follow(_ cancellation: ReadCancellation) { connection.cancellation = cancellation }

  // MARK: - What the rows are

  func open(_ rows: DatabaseSource.Rows) throws(UpsurgeError) -> RowHead {
    switch rows {
    case .query(let query):
      return try open(CopyPlan.relation(ofQuery: query), query: query, remarks: [])
    case .table(let name):
      let found = try asked { () throws(PostgresFailure) in try TableName.find(name, on: connection) }
      guard let table = found else {
        throw try asked { () throws(PostgresFailure) in try TableName.missing(name, on: connection) }
      }
      let remarks: [Wording] =
        table.hasRowSecurity
        ? ["row-level security decides which rows of \(name.escapedForTerminal) this user reads"] : []
      return try open(table.quotedName, query: nil, remarks: remarks)
    }
  }

  private func open(_ relation: String, query: String?, remarks: [Wording]) throws(UpsurgeError) -> RowHead {
    let plan = try asked(query: query) { () throws(PostgresFailure) in
      try CopyPlan(relation, query: query, on: connection)
    }
    try plan.check()
    self.plan = plan
    return RowHead(columns: plan.columns.map(\.head), remarks: remarks)
  }

  // MARK: - The rows

  func write(to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    guard let plan else { return }
    self.plan = nil
    try asked(query: plan.query, isReading: true) { () throws(PostgresFailure) in
      let writer = RowLineWriter(plan.columns)
      let isWhole = try connection.copyOut(plan.copy) { message throws(PostgresFailure) in
        try writer.take(message, send)
      }
      if isWhole {
        _ = writer.flush(send)
      } else {
        try connection.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)")
      }
    }
  }

  /// Asks the server something, whose failure leaves the state of the database that is read.
  private func asked<Answer>(
    query: String? = nil, isReading: Bool = false, _ body: () throws(PostgresFailure) -> Answer
  ) throws(UpsurgeError) -> Answer {
    do throws(PostgresFailure) {
      try connection.run("SAVEPOINT \(Self.savepoint)")
      let answer = try body()
      try connection.run("RELEASE SAVEPOINT \(Self.savepoint)")
      return answer
    } catch {
      if isUsable { _ = try? connection.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)") }
      throw error.asSourceError(on: connection.target, isReading: isReading, query: query)
    }
  }
}
