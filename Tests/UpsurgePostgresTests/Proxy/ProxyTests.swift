import PostgresSupport
import TestSupport
import Testing

@testable import UpsurgePostgres

@Suite("The wire proxy", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ProxyTests {
  private static func exchange(_ target: PostgresTarget) throws {
    let connection = try PostgresConnection(to: target)
    try connection.run("BEGIN")
    try connection.run("INSERT INTO t VALUES ($1)", [.integer(1)])
    _ = try connection.beginCopy("COPY t FROM STDIN")
    try connection.put(Array("2\n3\n".utf8)[...])
    _ = try connection.endCopy()
    #expect(try connection.commit())
  }

  private static func count(_ connection: PostgresConnection) throws -> Int {
    Int(try connection.texts("SELECT count(*) FROM t").first?.first.flatMap { $0 } ?? "") ?? -1
  }

  @Test("Without faults it changes nothing, and counts", arguments: [WireProxy.Route.socket, .loopback])
  func nothing(route: WireProxy.Route) throws {
    let database = try ProxiedDatabase(by: route)
    try database.direct.run("CREATE TABLE t (id int)")
    try Self.exchange(database.target)
    #expect(try Self.count(database.direct) == 3)
    // Start, BEGIN, 5 of the INSERT, COPY with data and end, COMMIT; and a password in two parts.
    try database.settle()
    #expect(database.proxy.messageCount(.fromClient) == 11 + 1 + (route == .loopback ? 2 : 0))
    #expect(database.proxy.messageCount(.fromServer) > 20)
    let asked = database.proxy.events.compactMap { if case .asked(1, let text) = $0 { text } else { nil } }
    #expect(asked == ["BEGIN", "INSERT INTO t VALUES ($1)", "COPY t FROM STDIN", "COMMIT"])
    #expect(
      Server.failure {
        try Server.connect(
          database.proxy.url(database: database.direct.database, parameters: "sslmode=require"))
      } != nil)
    // Rows that fill each buffer, in both directions.
    let connection = try database.connect()
    let byteCount = 3 << 20
    #expect(
      try connection.texts(
        "SELECT length('\(String(repeating: "x", count: byteCount))'), repeat('y', \(byteCount))") == [
          ["\(byteCount)", String(repeating: "y", count: byteCount)]
        ])
    #expect(
      database.proxy.messageCount(.fromClient) > 0
        && !database.proxy.events.contains { $0.isCut || $0.isAnswer })
  }

  @Test("Cut at any message, a transaction is there as a whole or not at all", arguments: MessageCut.all)
  func everyMessage(cut: MessageCut) throws {
    let database = try ProxiedDatabase()
    try database.direct.run("CREATE TABLE t (id int)")
    var (number, kinds) = (0, Set<FailureClass>())
    while true {
      number += 1
      try database.direct.run("TRUNCATE t")
      database.proxy.set([cut.fault(at: number)])
      let failure = Server.failure { try Self.exchange(database.target) }
      let isCut = database.proxy.events.contains(where: \.isCut)
      try database.settle()
      let count = try Self.count(database.direct)
      switch failure?.kind {
      case nil: #expect(count == 3, "\(cut) \(number)")
      case .outcomeUnknown: #expect(count == 0 || count == 3, "\(cut) \(number)")
      case let kind?:
        #expect(
          count == 0 && (kind == .connectionLost || kind == .unreachable),
          "\(cut) \(number): \(failure?.message ?? "")")
      }
      if let failure { kinds.insert(failure.kind) }
      if !isCut { break }
    }
    #expect(number > (cut.direction == .fromClient ? 11 : 20))
    #expect(kinds == [.unreachable, .connectionLost, .outcomeUnknown])
  }

  @Test(
    "Who commits and hears nothing does not know what stands",
    arguments: [(ProxyFault.Moment.before, 0), (.after, 1), (.beforeAnswer, 1)])
  func lostCommit(moment: ProxyFault.Moment, rowCount: Int) throws {
    let database = try ProxiedDatabase()
    for (isExtended, isHard) in [(false, false), (false, true), (true, false), (true, true)] {
      try database.direct.run("DROP TABLE IF EXISTS t; CREATE TABLE t (id int)")
      database.proxy.set([.cut(moment, .commit, isHard: isHard)])
      let connection = try database.connect()
      try connection.run("BEGIN; INSERT INTO t VALUES (1)")
      let failure = Server.failure {
        if isExtended { _ = try connection.run("COMMIT", []) } else { _ = try connection.commit() }
      }
      #expect(failure?.kind == (isExtended ? .connectionLost : .outcomeUnknown) && !connection.isOpen)
      #expect(
        database.proxy.events.contains { if case .cut(_, moment, at: "COMMIT") = $0 { true } else { false } })
      try database.settle()
      #expect(
        try Self.count(database.direct) == rowCount, "\(moment), extended \(isExtended), hard \(isHard)")
    }
  }

  @Test(
    "An error at COMMIT ends the transaction on both sides, however it ended",
    arguments: ["40001", "40003", "08007", "40P01"])
  func answeredCommit(state: String) throws {
    let database = try ProxiedDatabase()
    let connection = try database.connect()
    for (commits, isExtended) in [(false, false), (true, false), (false, true), (true, true)] {
      try database.direct.run("DROP TABLE IF EXISTS t; CREATE TABLE t (id int)")
      database.proxy.set([.answer(.commit, ProxyError(state), commits: commits)])
      try connection.run("BEGIN; INSERT INTO t VALUES (1)")
      let failure = Server.failure {
        if isExtended { _ = try connection.run("COMMIT", []) } else { _ = try connection.commit() }
      }
      #expect(failure?.sqlState == state && failure?.kind == FailureClass(sqlState: state))
      #expect(connection.isOpen && !connection.isInTransaction)
      #expect(try connection.texts("SELECT count(*) FROM t") == [[commits ? "1" : "0"]])
    }
  }

  @Test("An error at a statement leaves the transaction failed, and savepoints as they were")
  func answeredStatement() throws {
    let database = try ProxiedDatabase()
    let connection = try database.connect()
    try connection.run("CREATE TABLE t (id int)")
    for isExtended in [false, true] {
      database.proxy.set([.answer(.statement(.containing("insert into")), "40001", times: 2)])
      func insert() throws {
        if isExtended {
          try connection.run("INSERT INTO t VALUES ($1)", [.text("7")])
        } else {
          try connection.run("INSERT INTO t VALUES (7)")
        }
      }
      #expect(Server.failure { try insert() }?.sqlState == "40001")
      #expect(!connection.isInTransaction)
      try connection.run("BEGIN")
      #expect(Server.failure { try insert() }?.kind == .retryTransaction)
      #expect(connection.isInTransaction)
      #expect(Server.failure { try connection.run("SELECT 1") }?.sqlState == "25P02")
      connection.rollback()
      try insert()
      #expect(try Self.count(connection) == 1)
      try connection.run("TRUNCATE t")
    }
    database.proxy.set([.answer(.statement(.containing("values (2)")), "23505")])
    try connection.run("BEGIN; INSERT INTO t VALUES (1)")
    let failure = Server.failure {
      try connection.run("SAVEPOINT a; SELECT ';'; INSERT INTO t VALUES (2); RELEASE a")
    }
    #expect(failure?.sqlState == "23505")
    try connection.run("ROLLBACK TO a; INSERT INTO t VALUES (3)")
    #expect(try connection.commit())
    #expect(try connection.texts("SELECT id FROM t ORDER BY id") == [["1"], ["3"]])
    // A server that ends the session says so, and closes.
    database.proxy.set([.answer(.statement(.containing("SELECT")), "57P01")])
    #expect(Server.failure { try connection.run("SELECT 1") }?.kind == .connectionLost)
    #expect(!connection.isOpen)
  }

  @Test("Errors at random are the same for the same seed")
  func seeds() throws {
    let database = try ProxiedDatabase()
    let connection = try database.connect()
    func failures(_ seed: UInt64) throws -> [Bool] {
      database.proxy.set([.answer(.commit, "40001", times: nil, chance: 0.5, seed: seed)])
      return try (0..<40).map { _ in
        try connection.run("BEGIN")
        return Server.failure { _ = try connection.commit() } != nil
      }
    }
    let first = try failures(1)
    #expect(try first == failures(1) && first != failures(2))
    #expect(Set(first) == [true, false])
  }

  @Test("An error can have another SQLSTATE, and keeps its words")
  func restated() throws {
    let database = try ProxiedDatabase([.restate("23514", as: "XX000", of: .containing("INSERT"))])
    let connection = try database.connect()
    try connection.run("CREATE TABLE t (id int CONSTRAINT small CHECK (id < 5))")
    for isExtended in [false, true] {
      let failure = Server.failure {
        if isExtended {
          try connection.run("INSERT INTO t VALUES ($1)", [.integer(7)])
        } else {
          try connection.run("INSERT INTO t VALUES (7)")
        }
      }
      #expect(failure?.sqlState == "XX000" && failure?.constraint == "small" && failure?.table == "t")
    }
    #expect(Server.failure { try connection.run("INSERT INTO t SELECT 1 / 0") }?.sqlState == "22012")
  }

  @Test("A delay holds messages back, and loses none")
  func delay() throws {
    let database = try ProxiedDatabase([
      .delay(0.01, .statement(.containing("SELECT 1"))), .delay(0.01, .message(.fromServer), times: 3),
    ])
    let connection = try database.connect()
    #expect(try connection.texts("SELECT 1") == [["1"]])
    let delayed = database.proxy.events.compactMap { if case .delayed(1, let at) = $0 { at } else { nil } }
    #expect(delayed.count == 4 && delayed.last == "SELECT 1")
  }

  @Test("A cancellation goes through")
  func cancellation() throws {
    let database = try ProxiedDatabase()
    let connection = try database.connect()
    var rowCount = 0
    let isWhole = try connection.copyOut("COPY (SELECT generate_series(1, 100000000)) TO STDOUT") { _ in
      rowCount += 1
      return rowCount < 10
    }
    #expect(!isWhole && rowCount == 10)
    #expect(try connection.texts("SELECT 1") == [["1"]])
  }

  @Test(
    "A text is cut into statements as the server does it",
    arguments: [
      ("a; b ;", ["a", "b"]), ("';' ; \";\"; E'\\';' ; x", ["';'", "\";\"", "E'\\';'", "x"]),
      ("$$;$$; $a$;$$;$a$; $1; $2", ["$$;$$", "$a$;$$;$a$", "$1", "$2"]),
      ("-- ;\na; /* ; /* ; */ ; */ b", ["-- ;\na", "/* ; /* ; */ ; */ b"]), (" ; ;", []),
    ])
  func statements(text: String, statements: [String]) {
    #expect(StatementKind.statements(of: text) == statements)
  }
}
