import CPostgres
import Foundation
import PostgresSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("A connection", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ConnectionTests {
  @Test("By TCP with a password, and by the socket")
  func ways() throws {
    let server = try PostgresServer.shared()
    for url in [server.url(), server.socketURL(), server.url().replacingOccurrences(of: "postgres://", with: "postgresql://")] {
      let connection = try Server.connect(url)
      #expect(connection.isOpen && !connection.isInTransaction)
      #expect(connection.versionNumber >= 130000)
      #expect(try connection.texts("SELECT 1, NULL, 'ä'") == [["1", nil, "ä"]])
      #expect(try connection.texts("SHOW application_name") == [["upsurge"]])
      #expect(try connection.texts("SHOW client_encoding") == [["UTF8"]])
    }
    let named = try Server.connect(server.url(parameters: "application_name=mine"))
    #expect(try named.texts("SHOW application_name") == [["mine"]])
  }

  @Test("Several hosts are tried in turn, also where one does not answer")
  func hosts() throws {
    let server = try PostgresServer.shared()
    let refused = server.url().replacingOccurrences(of: "127.0.0.1:", with: "127.0.0.1:1,127.0.0.1:")
    #expect(try Server.connect(refused).texts("SELECT 1") == [["1"]])
    // Addresses for documentation lead nowhere, or are refused at once where there is no network.
    let silent = server.url(parameters: "connect_timeout=2").replacingOccurrences(of: "@127.0.0.1:", with: "@192.0.2.1:1,127.0.0.1:")
    #expect(try Server.connect(silent).texts("SELECT 1") == [["1"]])
  }

  @Test("A server that accepts and says nothing is left after connect_timeout")
  func silence() throws {
    let silent = try SilentServer()
    let failure = Server.failure { try Server.connect("postgres://u@127.0.0.1:\(silent.port)/d?connect_timeout=2") }
    #expect(failure?.kind == .unreachable)
    let server = try PostgresServer.shared()
    let both = server.url(parameters: "connect_timeout=2").replacingOccurrences(
      of: "@127.0.0.1:", with: "@127.0.0.1:\(silent.port),127.0.0.1:")
    #expect(try Server.connect(both).texts("SELECT 1") == [["1"]])
  }

  @Test("The system finds out within minutes that the other side has vanished, unless the URL says otherwise")
  func keptAlive() throws {
    let server = try PostgresServer.shared()
    func idleSeconds(_ parameters: String) throws -> Int32 {
      let connection = try Server.connect(server.url(parameters: parameters))
      var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
      #if canImport(Darwin)
        let option = TCP_KEEPALIVE
      #else
        let option = TCP_KEEPIDLE
      #endif
      getsockopt(upsurge_pq_socket(connection.handle), Int32(IPPROTO_TCP), option, &value, &length)
      return value
    }
    #expect(try idleSeconds("") == 60)
    #expect(try idleSeconds("keepalives_idle=7") == 7)
    let untouched = try idleSeconds("keepalives=0")
    #expect(untouched != 60 && untouched > 0)
  }

  @Test("A host of several that says nothing is left after a while, also where the URL has no limit")
  func silentHostOfSeveral() throws {
    let silent = try SilentServer()
    let server = try PostgresServer.shared()
    let url = server.url().replacingOccurrences(of: "@127.0.0.1:", with: "@127.0.0.1:\(silent.port),127.0.0.1:")
    #expect(try Server.connect(url).texts("SELECT 1") == [["1"]])
  }

  @Test("A wait for a connection can be ended")
  func cancelledConnecting() throws {
    let silent = try SilentServer()
    let cancellation = ReadCancellation()
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      cancellation.request()
    }
    let failure = Server.failure { try Server.connect("postgres://u@127.0.0.1:\(silent.port)/d", cancellation: cancellation) }
    #expect(failure?.kind == .interrupted)
  }

  @Test("Who is refused, and who is not there")
  func refusals() throws {
    let server = try PostgresServer.shared()
    let wrong = try #require(PostgresTarget(server.url(password: "wr0ng-pass")))
    let login = try #require(Server.failure { try PostgresConnection(to: wrong) })
    #expect(login.kind == .refused && login.sqlState == "28P01")
    let error = login.asError(on: wrong)
    #expect(error.code == .unreadableInput)
    #expect(
      error.message == """
        cannot connect to postgres://upsurge@127.0.0.1:\(server.port)/postgres: connection to server at "127.0.0.1", port \
        \(server.port) failed: FATAL:  password authentication failed for user "upsurge" [28P01]
        """)
    let missing = try #require(Server.failure { try Server.connect(server.url(database: "nowhere")) })
    #expect(missing.kind == .refused && missing.sqlState == "3D000")
    let nobody = try #require(PostgresTarget("postgres://u:s3cret-w0rd@127.0.0.1:1/d"))
    let unreachable = try #require(Server.failure { try PostgresConnection(to: nobody) })
    #expect(unreachable.kind == .unreachable && unreachable.asError(on: nobody).code == .databaseBusy)
  }

  @Test(
    "No message has the password",
    arguments: [
      "postgres://u:s3cret-w0rd@[host/d", "postgres://u:s3cret-w0rd@host:p/d", "postgres://u:s3cret-w0rd@host/d?nothing=1",
      "postgres://u:s3cret/w0rd@host/d", "postgres://u@127.0.0.1:1/d?password=s3cret-w0rd", "postgres://u:s3cret%2Dw0rd@host:p/d",
      "postgres://u:s3cret-w0rd@127.0.0.1:1/d?sslmode=nonsense",
    ])
  func secrets(url: String) throws {
    let target = try #require(PostgresTarget(url))
    let failure = try #require(Server.failure { try PostgresConnection(to: target) })
    for text in [target.shown, failure.message, failure.asError(on: target).description] {
      #expect(!text.contains("s3cret") && !text.contains("w0rd"), "\(text)")
    }
  }

  @Test("What is no URL of PostgreSQL is none", arguments: ["", "postgres:", "http://a/b", "data.db", "postgres", "xpostgres://a"])
  func others(url: String) { #expect(PostgresTarget(url) == nil) }

  // MARK: - Statements

  @Test("Parameters as text, as numbers and in binary")
  func parameters() throws {
    let connection = try Server.connect(try PostgresServer.shared().url())
    let result = try connection.run(
      "SELECT $1::text, $2, $3, $4::bytea, $5::int, $6::text",
      [.text("it's"), .integer(-5), .flag(true), .binary(type: PostgresType.bytea, [0, 255]), .null, .text("")])
    let row = try #require(result.first)
    #expect(row.text(0) == "it's" && row.integer(1) == -5 && row.flag(2) == true)
    #expect(row.text(3) == "\\x00ff" && row.text(4) == nil && row.text(5) == "")
    let binary = try connection.run("SELECT 258::int2, NULL::int4", [], wantsBinary: true)
    #expect(binary.bytes(0, 0).map(Array.init) == [1, 2] && binary.bytes(0, 1) == nil)
    #expect(binary.columnType(0) == PostgresType.int2)
  }

  @Test("Several statements, their counts, and notices beside them")
  func several() throws {
    let connection = try Server.database()
    let results = try connection.run(
      """
      CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'), (2, 'b'); UPDATE t SET v = 'c' WHERE id = 1;
      DO $$ BEGIN RAISE NOTICE 'careful'; END $$; SELECT * FROM t ORDER BY id
      """)
    #expect(results.map(\.affectedCount) == [0, 2, 1, 0, 2])
    #expect(results.map(\.command) == ["CREATE TABLE", "INSERT 0 2", "UPDATE 1", "DO", "SELECT 2"])
    #expect(results.last?.columnName(1) == "v")
    #expect(connection.notices.takeAll() == [PostgresNotice(severity: "NOTICE", sqlState: "00000", message: "careful")])
    #expect(connection.notices.takeAll().isEmpty)
  }

  @Test("An error says what it is about, and the connection goes on")
  func errors() throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE er (id int PRIMARY KEY, n int CONSTRAINT small CHECK (n < 5), v varchar(2) NOT NULL)")
    let check = try #require(Server.failure { try connection.run("INSERT INTO er VALUES (1, 9, 'a')") })
    #expect(check.kind == .record && check.sqlState == "23514" && check.constraint == "small" && check.table == "er")
    #expect(check.detail == "Failing row contains (1, 9, a)." && check.schema == "public")
    let null = try #require(Server.failure { try connection.run("INSERT INTO er VALUES (1, 1, NULL)") })
    #expect(null.sqlState == "23502" && null.column == "v")
    let syntax = try #require(Server.failure { try connection.run("SELECT ,", []) })
    #expect(syntax.sqlState == "42601" && syntax.kind == .other && syntax.statementPosition == 8)
    let gone = try #require(Server.failure { try connection.run("SELECT * FROM nowhere") })
    #expect(gone.kind == .schemaChanged)
    #expect(try connection.texts("SELECT count(*) FROM er") == [["0"]])
  }

  @Test("A transaction that had failed is not committed")
  func commits() throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); BEGIN; INSERT INTO t VALUES (1)")
    #expect(connection.isInTransaction)
    #expect(try connection.commit())
    try connection.run("BEGIN")
    #expect(Server.failure { try connection.run("SELECT 1/0") }?.sqlState == "22012")
    #expect(try !connection.commit())
    try connection.run("BEGIN; INSERT INTO t VALUES (1)")
    #expect(Server.failure { try connection.commit() }?.sqlState == "23505")
    try connection.run("BEGIN; INSERT INTO t VALUES (2)")
    connection.rollback()
    #expect(try connection.texts("SELECT * FROM t") == [["1"]])
  }

  @Test("A statement that runs is ended on the server, and the connection goes on")
  func cancelling() throws {
    let cancellation = ReadCancellation()
    let connection = try Server.database(cancellation: cancellation)
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      cancellation.request()
    }
    let failure = Server.failure { try connection.run("SELECT pg_sleep(60)") }
    #expect(failure?.kind == .interrupted)
    #expect(failure?.asError(on: connection.target).code == .interrupted)
    #expect(try connection.texts("SELECT 1") == [["1"]])
  }

  @Test("Limits of the server are told apart from our own cancel")
  func limits() throws {
    let connection = try Server.database()
    try connection.run("SET statement_timeout = '50ms'")
    let failure = Server.failure { try connection.run("SELECT pg_sleep(60)") }
    #expect(failure?.kind == .timedOut && failure?.asError(on: connection.target).code == .databaseBusy)
  }

  @Test("A connection that is ended by the server, between statements and in a COMMIT")
  func lost() throws {
    let connection = try Server.database()
    let other = try Server.connect(try PostgresServer.shared().url())
    try connection.run("BEGIN")
    try other.run("SELECT pg_terminate_backend(\(connection.backend)), pg_sleep(0.2)")
    let failure = try #require(Server.failure { try connection.commit() })
    #expect(failure.kind == .outcomeUnknown)
    #expect(!connection.isOpen)
    let next = Server.failure { try connection.run("SELECT 1") }
    #expect(next?.kind == .connectionLost)
    connection.rollback()
  }

  // MARK: - Copies

  @Test("Rows in, in pieces of any size, and out")
  func copies() throws {
    let connection = try Server.database()
    let results = try connection.beginCopy(
      "BEGIN; CREATE TABLE t (id int, v text); SELECT 7; COPY t FROM STDIN")
    #expect(results.count == 3 && results.last?.first?.integer(0) == 7)
    let rows = Array((0..<100_000).map { "\($0)\tvalue \($0)\n" }.joined().utf8)
    try connection.put(rows[..<3])
    try connection.put(rows[3...])
    #expect(try connection.endCopy().map(\.affectedCount) == [100_000])
    #expect(try connection.commit())
    var count = 0
    let isWhole = try connection.copyOut("COPY t TO STDOUT") { bytes throws(PostgresFailure) in
      count += bytes.count
      return true
    }
    #expect(isWhole && count == rows.count)
    var seen = 0
    let isAll = try connection.copyOut("COPY t TO STDOUT") { _ throws(PostgresFailure) in
      seen += 1
      return seen < 10
    }
    #expect(!isAll && seen == 10)
    #expect(try connection.texts("SELECT count(*) FROM t") == [["100000"]])
  }

  @Test("A copy that is given up when its rows are there already ends no statement after it")
  func lateEnding() throws {
    let connection = try Server.database()
    for _ in 0..<20 {
      let isWhole = try connection.copyOut("COPY (SELECT generate_series(1, 20)) TO STDOUT") { _ throws(PostgresFailure) in false }
      #expect(!isWhole)
      #expect(try connection.texts("SELECT 1 FROM pg_sleep(0.05)") == [["1"]])
    }
  }

  @Test("Rows that fail, that are given up, and a copy that never begins")
  func failingCopies() throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE t (id int)")
    _ = try connection.beginCopy("COPY t FROM STDIN")
    let bad = Array("1\nx\n".utf8) + Array(repeating: UInt8(ascii: "\n"), count: 5 << 20)
    try connection.put(bad[...])
    let failure = try #require(Server.failure { try connection.endCopy() })
    #expect(failure.kind == .record && failure.sqlState == "22P02" && failure.context?.contains("line 2") == true)
    _ = try connection.beginCopy("COPY t FROM STDIN")
    connection.failCopy("no more")
    #expect(Server.failure { try connection.beginCopy("SELECT 1; COPY nowhere FROM STDIN") }?.sqlState == "42P01")
    #expect(Server.failure { try connection.copyOut("COPY nowhere TO STDOUT") { _ throws(PostgresFailure) in true } }?.sqlState == "42P01")
    // A copy that nobody asked for ends by itself.
    #expect(Server.failure { try connection.run("COPY t FROM STDIN") }?.sqlState == "57014")
    #expect(try connection.run("COPY t TO STDOUT; SELECT 1").count == 2)
    #expect(try connection.texts("SELECT count(*) FROM t") == [["0"]])
  }

  @Test("A copy that waits for a lock is ended")
  func cancelledCopy() throws {
    let cancellation = ReadCancellation()
    let url = try Server.freshURL()
    let connection = try Server.connect(url, cancellation: cancellation)
    try connection.run("CREATE TABLE t (id int)")
    let other = try Server.connect(url)
    try other.run("BEGIN; LOCK TABLE t")
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      cancellation.request()
    }
    #expect(Server.failure { try connection.beginCopy("COPY t FROM STDIN") }?.kind == .interrupted)
    other.rollback()
    #expect(try connection.texts("SELECT count(*) FROM t") == [["0"]])
  }
}
