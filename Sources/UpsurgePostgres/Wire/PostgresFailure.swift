import CPostgres
import UpsurgeRecords

/// What a server, or the way to it, has said against a statement.
package struct PostgresFailure: Error, Sendable, Equatable {
  /// Five letters; empty where nobody said any (a socket that was closed).
  package var sqlState = ""
  /// What can be done about it.
  package var kind: FailureClass
  /// One sentence; never a password.
  package var message: String
  package var detail: String?
  package var advice: String?
  package var schema: String?
  package var table: String?
  package var column: String?
  package var dataType: String?
  package var constraint: String?
  /// Where in the function or COPY it happened: `COPY s, line 3, column n`.
  package var context: String?
  /// The letter of the statement that it is about, from 1.
  package var statementPosition: Int?

  package init(_ kind: FailureClass, _ message: String, sqlState: String = "") {
    self.kind = kind
    self.message = message
    self.sqlState = sqlState
  }

  /// - Parameter result: one with the status PGRES_FATAL_ERROR.
  init(_ result: OpaquePointer) {
    func field(_ letter: UnicodeScalar) -> String? {
      upsurge_pq_result_field(result, Int32(letter.value)).map { String(cString: $0) }
    }
    sqlState = field("C") ?? ""
    kind = sqlState.isEmpty ? .other : FailureClass(sqlState: sqlState)
    message = field("M") ?? Self.line(of: String(cString: upsurge_pq_result_message(result)))
    detail = field("D")
    advice = field("H")
    schema = field("s")
    table = field("t")
    column = field("c")
    dataType = field("d")
    constraint = field("n")
    context = field("W")
    statementPosition = field("P").flatMap { Int($0) }
    if isOfValue(internalPosition: field("p"), function: field("R")) { kind = .record }
    if sqlState == "08P01", message.contains("statement pooling mode") { kind = .noTransactions }
  }

  /// Whether a value was at fault although the SQLSTATE does not say so.
  ///
  ///     42601 without a place     the input of tsquery, ltree, hstore and jsonpath: SQL that is wrong has a place
  ///     exec_stmt_raise           RAISE with a SQLSTATE of somebody's choice
  ///     ExecWithCheckOptions      a policy refuses the row: 42501, as for a right that is missing for all rows
  /// - Parameter function: of the server's sources, where the error was raised.
  private func isOfValue(internalPosition: String?, function: String?) -> Bool {
    switch kind {
    case .other where sqlState == "42601" && statementPosition == nil && internalPosition == nil: true
    case .privilege where function == "ExecWithCheckOptions": true
    case .other, .privilege, .schemaChanged, .refused: function == "exec_stmt_raise"
    default: false
    }
  }

  /// This failure in a COMMIT: a connection that was lost in it leaves open whether it stands.
  package var duringCommit: PostgresFailure {
    var failure = self
    if kind == .connectionLost { failure.kind = .outcomeUnknown }
    return failure
  }

  /// Lines of libpq as one sentence without a full stop.
  static func line(of text: String) -> String {
    var lines = text.split(separator: "\n").map { line in String(line.drop { $0 == "\t" || $0 == " " }) }
    if let last = lines.last, last.hasSuffix(".") { lines[lines.count - 1].removeLast() }
    return lines.joined(separator: " ")
  }
}

extension PostgresFailure {
  /// This failure as the engine's error.
  /// - Parameter target: what the connection was to.
  package func asError(on target: PostgresTarget) -> UpsurgeError {
    var said = Wording(words(on: target))
    if let detail { said += Wording(": " + target.masked(detail)) }
    if !sqlState.isEmpty { said += Wording(" [\(sqlState)]") }
    return UpsurgeError(code, said, column: column, hint: remedy)
  }

  private func words(on target: PostgresTarget) -> String {
    let message = target.masked(message)
    switch kind {
    case .unreachable, .refused, .notInstalled, .badTarget: return "cannot connect to \(target.shown): \(message)"
    case .connectionLost, .outcomeUnknown: return "the connection to \(target.shown) has broken: \(message)"
    case .breaksAgain: return "the connection to \(target.shown) breaks each time at the same records: \(message)"
    case .readOnly: return "\(target.shown) takes no rows now: \(message)"
    case .noTransactions: return "\(target.shown) is a pooler without transactions, which a load needs: \(message)"
    case .commitsLost: return "\(target.shown) \(message)"
    case .interrupted, .takenOver, .foreignTable: return message
    default: return "\(target.shown): \(message)"
    }
  }

  private var code: UpsurgeError.Code {
    switch kind {
    case .retryTransaction, .timedOut, .unreachable, .readOnly, .breaksAgain: .databaseBusy
    case .connectionLost, .outcomeUnknown: .connectionLost
    case .commitsLost: .commitsLost
    case .refused, .notInstalled: .unreadableInput
    case .interrupted: .interrupted
    case .takenOver, .foreignTable: .guardRefused
    case .badTarget, .noTransactions: .usage
    case .record, .privilege, .schemaChanged, .resources, .other: .database
    }
  }

  private var remedy: Wording? {
    switch kind {
    case .notInstalled: "install it: apt-get install libpq5 (Debian, Ubuntu), dnf install libpq (Fedora)"
    case .refused where sqlState.hasPrefix("28"):
      "check user and password: the URL, PGPASSWORD, ~/.pgpass or a service file gives them, as with psql"
    case .refused where sqlState == "3D000":
      "createdb makes a database, psql -l lists those of the server; a URL without a database means that of the user's name"
    case .unreachable where message.contains("SSL"):
      "sslmode in the URL says what both sides must have: ?sslmode=prefer takes a server with TLS or without"
    case .unreachable where sqlState.isEmpty:
      "pg_isready -h HOST -p PORT says whether a server answers there; check host and port of the URL"
    case .foreignTable: "give that table another name, use the version of upsurge that wrote it, or name another schema by \(.stateSchema)"
    case .badTarget: "postgres://USER@HOST:PORT/DATABASE?sslmode=require is its form; other signs are written as %XX: @ is %40"
    case .other where sqlState == "3F000": "CREATE SCHEMA makes it, or name another one: SCHEMA.TABLE"
    case .privilege: "its owner can GRANT that right; or name a user in the URL who has it"
    case .timedOut:
      "statement_timeout of the server, or pg_cancel_backend, has ended it; ALTER ROLE … SET statement_timeout changes the first"
    case .readOnly:
      "name all hosts in the URL, with ?target_session_attrs=read-write; default_transaction_read_only must be off"
    case .breaksAgain:
      "\(.commitEvery, "10000") makes statements shorter, where a limit of the server or of its pooler ends long ones"
    case .noTransactions: "set pool_mode = transaction or session in the pooler, or name the server itself"
    default: nil
    }
  }
}
