#if GRDB
  import Foundation
  import GRDB
  import TestSupport
  import Testing
  import UpsurgeGRDB

  /// Models as records of GRDB's.
  @Suite("GRDB: records") struct RecordTests {
    let scratch = Scratch()

    @Test("A model is stored, fetched, changed and deleted as a record", arguments: Kind.allCases)
    func records(_ kind: Kind) throws {
      let writer = try kind.open(scratch)
      try writer.write { db in
        try Team(id: 1, name: "red").insert(db)
        var player = Player(id: 1, name: "Ada", score: 3, teamID: 1)
        try player.insert(db)
        #expect(try Player.fetchOne(db, key: 1) == player)
        player.score = 8
        try player.update(db)
        #expect(try Player.filter(Player.column(\.score) > 5).fetchAll(db) == [player])
        #expect(try Player.all().where { $0.score > 5 && $0.teamID == 1 }.fetchAll(db) == [player])
        #expect(try Player.all().where { $0.teamID == nil }.fetchCount(db) == 0)
        #expect(try player.delete(db))
        #expect(try Player.fetchCount(db) == 0)
      }
    }

    @Test("A record is stored by the model's codings, also where it is Codable") func codings() throws {
      let writer = try Kind.queue.open(scratch)
      try writer.write { db in
        try db.create(table: Event.self)
        let event = Event(id: 1, tags: ["a", "b"])
        try event.insert(db)
        #expect(try String.fetchOne(db, sql: "SELECT tags FROM events") == #"["a","b"]"#)
        #expect(try Event.fetchOne(db) == event)
        #expect(try db.upsert([event]).unchanged == 1)
        #expect(throws: UpsurgeError.self) { try Event.fetchOne(db, sql: "SELECT id FROM events") }
      }
    }

    @Test(
      "A value that its column cannot express is an error, and a larger row an option",
      arguments: Kind.allCases)
    func limits(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      var options = BulkOptions()
      options.maximumRowSize = .mebibytes(32)
      let large = Event(id: 1, tags: [String(repeating: "x", count: 17 << 20)])
      try await writer.write { db in try db.create(table: Event.self) }
      await #expect(throws: UpsurgeError.self) { try await writer.upsert([large]) }
      #expect(try await writer.upsert([large], options: options).inserted == 1)
      try await writer.write { [options] db in
        #expect(throws: UpsurgeError.self) { try db.upsert([large]) }
        #expect(try db.upsert([large], options: options).unchanged == 1)
        try db.create(table: Level.self)
        let long = String(repeating: "x", count: 100_000)
        #expect(throws: UpsurgeError.self) { try Level(id: 1, note: long, values: [.nan]).insert(db) }
        #expect(throws: UpsurgeError.self) {
          try Level.all().where { $0.values == [.nan] }.deleteAll(db)
        }
        #expect(try Level.fetchCount(db) == 0)
        try db.insert([
          Level(id: 1, values: []), Level(id: 2, note: "it's", values: []),
          Level(id: 3, note: "it", values: []),
        ])
        #expect(try Level.all().where { $0.note == "it's" || $0.id == 1 }.fetchCount(db) == 2)
      }
    }

    @Test("Keys that GRDB is given are stored as the model's", arguments: Kind.allCases)
    func keys(_ kind: Kind) throws {
      let writer = try kind.open(scratch)
      let id = UUID()
      let visit = Visit(
        id: id, session: UUID(), startedAt: Date(timeIntervalSince1970: 1_795_000_000), endedAt: nil, total: 2
      )
      try writer.write { db in
        try db.create(table: Visit.self)
        #expect(try db.upsert([visit]).inserted == 1)
        #expect(try Visit.fetchOne(db, id: id) == visit)
        #expect(try Visit.fetchOne(db, key: id) == visit)
        #expect(try Visit.exists(db, id: id))
        #expect(try Visit.filter(id: id).updateAll(db, [Visit.column(\.total).set(to: 3)]) == 1)
        #expect(try db.upsert([visit]).updated == 1)
        #expect(
          try Visit.all().where { $0.session == visit.session && $0.endedAt == nil }.fetchCount(db) == 1)
        #expect(try Visit.deleteOne(db, id: id))
        #expect(try Visit.fetchCount(db) == 0)
      }
    }

    @Test("Associations and common table expressions work on models", arguments: Kind.allCases)
    func associations(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      try await writer.upsert([Team(id: 1, name: "red"), Team(id: 2, name: "blue")])
      try await writer.upsert(someOf(4, team: 1))
      struct TeamPlayers: FetchableRecord {
        var team: Team
        var players: [Player]
        init(row: Row) throws {
          team = try Team(row: row)
          players = try row.prefetchedRows["players"].map { try $0.map { try Player(row: $0) } } ?? []
        }
      }
      try await writer.read { db in
        let teams = try Team.including(all: Team.players).order(Team.column(\.id))
          .asRequest(of: TeamPlayers.self).fetchAll(db)
        #expect(teams.map(\.players.count) == [4, 0])
        #expect(
          try Player.joining(required: Player.team.filter(Team.column(\.name) == "red")).fetchCount(db) == 4)
        let best = CommonTableExpression<Player>(named: "best", request: Player.limit(2))
        #expect(try best.all().with(best).fetchAll(db).count == 2)
      }
    }

    @Test("Calls see what a migration has changed", arguments: Kind.allCases) func migrations(_ kind: Kind)
      throws
    {
      let writer = try kind.open(scratch)
      try writer.write { db in
        try db.upsert(someOf(3))
        try db.execute(
          sql: "ALTER TABLE players RENAME COLUMN high_score TO old; ALTER TABLE players ADD high_score INT")
        #expect(try db.upsert(someOf(3, score: 4)).updated == 3)
        #expect(try db.columns(in: "players").map(\.name) == ["id", "name", "old", "team_id", "high_score"])
        #expect(try Player.fetchAll(db).map(\.score) == [4, 4, 4])
      }
      var later = migrator
      later.registerMigration("events") { db in
        try db.create(table: Event.self)
        try db.insert([Event(id: 1, tags: []), Event(id: 2, tags: ["x"])])
      }
      later.registerMigration("fails") { db in
        try db.insert([Event(id: 3, tags: [])])
        try db.insert([Event(id: 1, tags: [])])
      }
      #expect(throws: UpsurgeError.self) { try later.migrate(writer) }
      #expect(try writer.read { try Event.fetchCount($0) } == 2)
    }
  }
#endif
