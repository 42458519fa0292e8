#if GRDB
  import GRDB
  import TestSupport
  import Testing
  import UpsurgeGRDB

  /// Who observes a database is told of bulk calls.
  @Suite("GRDB: observation") struct ObservationTests {
    let scratch = Scratch()

    @Test(
      "A ValueObservation fires once for each commit that has changed something", arguments: Kind.allCases)
    func values(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      let observation = ValueObservation.tracking { try Player.fetchCount($0) }
      var next = observation.values(in: writer).makeAsyncIterator()
      #expect(try await next.next() == 0)
      try await writer.upsert(someOf(10_000))
      // A pool fetches the first value twice where it does not know whether anything has changed meanwhile.
      var count = try await next.next()
      if count == 0 { count = try await next.next() }
      #expect(count == 10_000)
      // Neither rows that say the same nor a transaction that is taken back are a change.
      try await writer.upsert(someOf(10_000))
      struct Stop: Error {}
      try? await writer.write { db in
        try db.upsert(someOf(10_005))
        throw Stop()
      }
      // Several calls of a transaction are one.
      try await writer.write { db in
        try db.delete(someOf(10_000).suffix(10))
        try db.delete(someOf(9_000).suffix(10))
      }
      #expect(try await next.next() == 9_980)
    }

    @Test(
      "Only those who observe the table are told, unless a trigger may change others",
      arguments: Kind.allCases)
    func regions(_ kind: Kind) throws {
      let writer = try kind.open(scratch)
      let (teams, players) = (Counter(), Counter())
      let tokens = [("teams", teams), ("players", players)].map { name, counter in
        DatabaseRegionObservation(tracking: Table(name)).start(in: writer) { error in
          Issue.record(error)
        } onChange: { _ in
          counter.add()
        }
      }
      defer { tokens.forEach { $0.cancel() } }
      try writer.write { _ = try $0.upsert(someOf(10)) }
      #expect(teams.take() == 0 && players.take() == 1)
      // teams has children whose key is set to NULL.
      try writer.write { _ = try $0.upsert([Team(id: 1, name: "t")]) }
      #expect(teams.take() == 1 && players.take() == 1)
      try writer.write { db in
        try db.execute(
          sql: "CREATE TRIGGER t AFTER UPDATE ON players BEGIN INSERT INTO teams(name) VALUES(new.name); END")
      }
      #expect(teams.take() == 0 && players.take() == 0)
      try writer.write { _ = try $0.upsert(someOf(2, score: 9)) }
      #expect(teams.take() == 1 && players.take() == 1)
      try writer.write { _ = try $0.upsert(someOf(2, score: 9)) }
      #expect(teams.take() == 0 && players.take() == 0)
    }

    @Test("A row whose mark is taken back is a change, also where nothing else is", arguments: Kind.allCases)
    func marks(_ kind: Kind) throws {
      let writer = try kind.open(scratch)
      try writer.write { db in
        try db.execute(sql: "ALTER TABLE players ADD COLUMN gone INTEGER NOT NULL DEFAULT 0")
        try db.insert(someOf(20, score: 5))
      }
      let players = Counter()
      let token = DatabaseRegionObservation(tracking: Table("players")).start(in: writer) { error in
        Issue.record(error)
      } onChange: { _ in
        players.add()
      }
      defer { token.cancel() }
      func mirror(_ rows: [Player], newer: ColumnPath<Player>? = nil) throws {
        try writer.write { db in _ = try db.mirror(rows, newer: newer, sweeping: .soft(column: "gone")) }
      }
      try mirror(someOf(19, score: 5))
      #expect(players.take() == 1)
      try mirror(someOf(20, score: 5))
      #expect(players.take() == 1)
      try mirror(someOf(20, score: 5))
      #expect(players.take() == 0)
      try mirror(someOf(19, score: 5))
      #expect(players.take() == 1)
      // All are stale; one is back.
      try mirror(someOf(20, score: 4), newer: \.score)
      #expect(players.take() == 1)
      #expect(try writer.read { try Int.fetchOne($0, sql: "SELECT sum(gone) FROM players") } == 0)
    }
  }
#endif
