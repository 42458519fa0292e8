#if GRDB
  import GRDB
  import TestSupport
  import Testing
  import UpsurgeGRDB

  /// Bulk calls on databases of GRDB's.
  @Suite("GRDB: bulk calls") struct BulkTests {
    let scratch = Scratch()

    @Test(
      "Each call does what it says, by the writer and inside of its transaction", arguments: Kind.allCases)
    func calls(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      #expect(try await writer.insert(someOf(3)).inserted == 3)
      let ledger = try await writer.upsert(
        someOf(4, score: 5), on: \.name,
        merge: { row, excluded in
          row.score = max(row.score, excluded.score)
        })
      #expect(ledger.updated == 3 && ledger.inserted == 1 && ledger.isBalanced)
      #expect(try await writer.upsert(someOf(4, score: 5)).unchanged == 4)
      #expect(try await writer.insertOrIgnore(someOf(5)).ignored == 4)
      #expect(try await writer.update(someOf(6, score: 7)).updated == 5)
      #expect(try await writer.delete(someOf(1)).deleted == 1)
      let result = try await writer.mirror(
        someOf(3, score: 7), sweeping: .hard, guards: guards(maximumDeletes: .percent(100)))
      #expect(result.ledger.swept == 2 && result.refusal == nil)
      #expect(
        try await writer.read { try Player.order(Player.column(\.id)).fetchAll($0) } == someOf(3, score: 7))

      let (second, third) = try await writer.write { db in
        let second = try db.upsert(someOf(5, score: 9), on: \.name)
        try db.insert([Team(id: 1, name: "t")])
        try db.update(someOf(5, score: 9, team: 1), merge: { row, excluded in row.teamID = excluded.teamID })
        try db.insertOrIgnore(someOf(2))
        try db.delete(someOf(1))
        return (second, try db.mirror(someOf(4), sweeping: .none))
      }
      #expect(second.inserted == 2 && second.updated == 3)
      #expect(third.ledger.inserted == 1 && third.ledger.updated == 3)
    }

    @Test("What became of each row, by the writer and inside of its transaction", arguments: Kind.allCases)
    func returning(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      var ids: [Int?] = []
      for try await row in try writer.insert(someOf(3), returning: \.id) { ids.append(row.value) }
      #expect(ids == [1, 2, 3])
      let coming = AsyncStream<Player> { stream in
        for player in someOf(3, score: 1) { stream.yield(player) }
        stream.finish()
      }
      let updated = try await writer.upsert(coming, returning: Player.self).all()
      #expect(updated.map(\.value) == someOf(3, score: 1) && updated.allSatisfy { $0.outcome == .updated })
      try await writer.update(someOf(3))
      let drafts = ["p2", "p9"].map { Player.Draft(name: $0, score: 4) }
      try await writer.write { db in
        let rows = try db.upsert(drafts, on: \.name, returning: Player.self)
        #expect(rows.map(\.outcome) == [.updated, .inserted] && rows.map { $0.value?.id } == [2, 4])
        #expect(try db.insertOrIgnore(drafts, on: \.name, returning: \.id).map(\.value) == [2, 4])
        #expect(try db.delete(someOf(1), returning: \.name).map(\.value) == ["p1"])
        #expect(try db.update(someOf(3), returning: \.id).map(\.outcome) == [.ignored, .updated, .unchanged])
        #expect(throws: UpsurgeError.self) { try db.insert(someOf(3), returning: \.id) }
      }
      #expect(try await writer.read { try Player.fetchCount($0) } == 3)
    }

    @Test("What uses the writer that waits for it is told so", arguments: Kind.allCases)
    func circles(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      for try await _ in try writer.insert(someOf(2), returning: \.id) {
        await #expect(throws: UpsurgeError.self) { try await writer.delete(someOf(2)) }
      }
      let rows = AsyncStream<Int> { source in
        source.yield(5)
        source.finish()
      }.map { id in
        try await writer.delete(someOf(2))
        return Player(id: id, name: "p5")
      }
      await #expect(throws: UpsurgeError.self) { try await writer.upsert(rows) }
      #expect(try await writer.delete(someOf(2)).deleted == 2)
      #expect(try await writer.read { try Player.fetchCount($0) } == 0)
    }

    @Test("Rows that come one after the other", arguments: Kind.allCases) func asynchronousCalls(_ kind: Kind)
      async throws
    {
      let writer = try kind.open(scratch)
      func rows(_ count: Int) -> AsyncStream<Player> {
        AsyncStream { stream in
          for player in someOf(count) { stream.yield(player) }
          stream.finish()
        }
      }
      #expect(try await writer.insert(rows(3)).inserted == 3)
      #expect(try await writer.upsert(rows(4), on: \.name).inserted == 1)
      #expect(try await writer.delete(rows(1)).deleted == 1)
      let all = guards(maximumDeletes: .percent(100))
      #expect(try await writer.mirror(rows(2), sweeping: .hard, guards: all).ledger.swept == 2)
    }

    @Test("The same rows give the same table as Upsurge's own database", arguments: Kind.allCases)
    func sameAsOwn(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      try await writer.upsert((0..<20_000).lazy.map { Self.number(of: $0) }, on: \.name)
      try await writer.upsert((0..<20_000).lazy.map { Self.number(of: $0 * 7) }, on: \.name)
      let single = try DatabaseQueue()
      try migrator.migrate(single)
      try await single.write { db in
        for round in [1, 7] {
          for index in 0..<20_000 {
            let player = Self.number(of: index * round)
            try db.execute(
              sql: """
                INSERT INTO players VALUES(?, ?, ?, NULL)
                ON CONFLICT(name) DO UPDATE SET id = excluded.id, high_score = excluded.high_score
                """, arguments: [player.id, player.name, player.score])
          }
        }
      }
      let all = { @Sendable (db: GRDB.Database) in try Player.order(Player.column(\.id)).fetchAll(db) }
      let (ours, theirs) = (try await writer.read(all), try await single.read(all))
      #expect(ours == theirs)
    }

    @Test("Rows may come one after the other", arguments: Kind.allCases) func asynchronous(_ kind: Kind)
      async throws
    {
      let writer = try kind.open(scratch)
      let rows = AsyncStream(Player.self) { stream in
        for player in someOf(5_000) { stream.yield(player) }
        stream.finish()
      }
      #expect(try await writer.upsert(rows).inserted == 5_000)
      #expect(try await writer.read { try Player.fetchCount($0) } == 5_000)
    }

    @Test("A task that is cancelled stores nothing", arguments: Kind.allCases) func cancelled(_ kind: Kind)
      async throws
    {
      let writer = try kind.open(scratch)
      let (rows, stream) = AsyncStream.makeStream(of: Player.self)
      let task = Task { try await writer.upsert(rows) }
      for player in someOf(20_000) { stream.yield(player) }
      try await Task.sleep(for: .milliseconds(50))
      task.cancel()
      stream.finish()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await writer.read { try Player.fetchCount($0) } == 0)
    }

    @Test(
      "A call that fails takes itself back, and with the transaction what was before it",
      arguments: Kind.allCases)
    func rollback(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      let bad = someOf(2_000) + [Player(id: 5_000, name: "p7")]
      // Behind a call that fails, the transaction goes on where its owner wants that.
      try await writer.write { db in
        try Team(id: 1, name: "before").insert(db)
        #expect(throws: UpsurgeError.self) { try db.insert(bad) }
        #expect(db.isInsideTransaction)
        #expect(try Player.fetchCount(db) == 0)
        try Team(id: 2, name: "behind").insert(db)
      }
      #expect(try await writer.read { try Team.fetchCount($0) } == 2)
      // So it does where a call is refused for its table.
      try await writer.write { db in
        try Team(id: 3, name: "before").insert(db)
        try db.execute(
          sql: "CREATE TABLE levels(id INTEGER PRIMARY KEY, note INTEGER, \"values\" TEXT)")
        let error = #expect(throws: UpsurgeError.self) { try db.insert([Level(id: 1, values: [])]) }
        #expect(error?.code == .usage && error?.message.contains("the column note") == true)
        #expect(db.isInsideTransaction)
        try Team(id: 3, name: "before").delete(db)
      }
      #expect(try await writer.read { try Team.fetchCount($0) } == 2)
      // Where the error leaves `write`, all of it goes.
      await #expect(throws: UpsurgeError.self) {
        try await writer.write { db in
          try db.upsert([Team(id: 3, name: "third")])
          try db.insert(bad)
        }
      }
      #expect(try await writer.read { try Team.fetchCount($0) } == 2)
      // An error behind a call that has succeeded takes that back, too.
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await writer.write { db in
          try db.upsert(someOf(3_000))
          throw Stop()
        }
      }
      #expect(try await writer.read { try Player.fetchCount($0) } == 0)
      // So does a savepoint.
      try await writer.write { db in
        try db.inSavepoint {
          try db.upsert(someOf(100))
          return .rollback
        }
        try db.upsert(someOf(10))
      }
      #expect(try await writer.read { try Player.fetchCount($0) } == 10)
    }

    @Test("A call outside of a transaction is one of its own") func withoutTransaction() async throws {
      let writer = try Kind.queue.open(scratch)
      try await writer.writeWithoutTransaction { db in
        let ledger = try db.upsert(someOf(10))
        #expect(ledger.inserted == 10 && !db.isInsideTransaction)
      }
    }

    @Test("Rejected rows are told, and the others stored", arguments: Kind.allCases) func rejects(
      _ kind: Kind
    ) throws {
      let writer = try kind.open(scratch)
      var options = BulkOptions()
      options.onError = .reject
      let seen = Recorder()
      options.onReject = { seen.add(Int($0.position.record ?? 0)) }
      let rows = [Player(id: 1, name: "a", teamID: 9), Player(id: 2, name: "b"), Player(id: 3, name: "b")]
      let ledger = try writer.write { try $0.insert(rows, options: options) }
      #expect(ledger.inserted == 1 && ledger.rejected == 2)
      #expect(seen.values == [1, 3])
    }

    @Test("References that are looked at in the end are the transaction's", arguments: Kind.allCases)
    func deferred(_ kind: Kind) async throws {
      let writer = try kind.open(scratch)
      try await writer.write { db in
        try db.execute(
          sql: """
            DROP TABLE players; CREATE TABLE players(id INTEGER PRIMARY KEY, name TEXT, high_score INT,
              team_id INTEGER REFERENCES teams DEFERRABLE INITIALLY DEFERRED)
            """)
        try db.upsert(someOf(3, team: 4))
        try db.upsert([Team(id: 4, name: "late")])
      }
      #expect(try await writer.read { try Player.fetchCount($0) } == 3)
      await #expect(throws: DatabaseError.self) {
        try await writer.write { db in try db.upsert(someOf(3, team: 5)) }
      }
      #expect(try await writer.read { try Player.filter(Player.column(\.teamID) == 4).fetchCount($0) } == 3)
    }

    @Test("The connection stays as it was: functions, checkpoints, settings", arguments: Kind.allCases)
    func connection(_ kind: Kind) async throws {
      var configuration = Configuration()
      configuration.prepareDatabase { db in
        db.add(function: DatabaseFunction("uuid", argumentCount: 0) { _ in "mine" })
      }
      let writer = try kind.open(scratch, configuration)
      let pragmas = [
        "wal_autocheckpoint", "cache_size", "temp_store", "synchronous", "foreign_keys", "journal_mode",
        "defer_foreign_keys", "secure_delete",
      ]
      let settings = { @Sendable (db: GRDB.Database) in
        try pragmas.map { try String.fetchOne(db, sql: "PRAGMA \($0)") ?? "" }
      }
      let before = try await writer.writeWithoutTransaction(settings)
      try await writer.upsert(someOf(30_000))
      #expect(try await writer.writeWithoutTransaction(settings) == before)
      #expect(try await writer.write { try String.fetchOne($0, sql: "SELECT uuid()") } == "mine")
      // Statements that are at work when a call begins and ends go on.
      try await writer.write { db in
        let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM players ORDER BY id")
        #expect(try cursor.next() == 1)
        try db.upsert([Team(id: 1, name: "a")])
        try db.upsert([Team(id: 2, name: "b")])
        #expect(try cursor.next() == 2)
      }
    }

    @Test("Triggers know a sync, on connections that were given the functions") func synchronizing() throws {
      var configuration = Configuration()
      configuration.prepareDatabase { db in try db.addUpsurgeFunctions() }
      let writer = try Kind.queue.open(scratch, configuration)
      try writer.write { db in
        try db.execute(
          sql: """
            CREATE TABLE changes(name TEXT);
            CREATE TRIGGER log AFTER INSERT ON players WHEN NOT upsurge_is_synchronizing() BEGIN
              INSERT INTO changes VALUES (new.name);
            END
            """)
        try Player(id: 1, name: "a").insert(db)
        var options = BulkOptions()
        options.isSynchronizing = true
        try db.insert([Player(id: 2, name: "b")], options: options)
        try db.insert([Player(id: 3, name: "c")])
        let names = try String.fetchAll(db, sql: "SELECT name FROM changes")
        #expect(names == ["a", "c"])
        // A call inside of a call is refused, and leaves the connection as it was.
        var refusals: [UpsurgeError] = []
        let nested = [4, 5].lazy.map { id in
          do { try db.upsert(someOf(1)) } catch let error as UpsurgeError { refusals.append(error) } catch {}
          return Player(id: id, name: "a")
        }
        #expect(throws: UpsurgeError.self) { try db.insert(nested) }
        #expect(refusals.map(\.code) == [.usage, .usage])
        let count = try Player.fetchCount(db)
        #expect(count == 3)
      }
    }

    @Test("Databases come and go") func manyDatabases() throws {
      for _ in 0..<50 {
        let queue = try DatabaseQueue()
        try migrator.migrate(queue)
        #expect(try queue.write { try $0.upsert(someOf(10)) }.inserted == 10)
      }
    }

    private static func number(of index: Int) -> Player {
      Player(id: index % 30_011 + 1, name: "n\(index % 30_011)", score: index)
    }

    private func guards(maximumDeletes: RowLimit) -> SweepGuards {
      var guards = SweepGuards()
      guards.maximumDeletes = maximumDeletes
      return guards
    }

    @Test("Rows are not stored where the database is only read, and that is said", arguments: Kind.allCases)
    func reading(_ kind: Kind) throws {
      let writer = try kind.open(scratch)
      let error = #expect(throws: UpsurgeError.self) {
        try writer.read { db in _ = try db.upsert(someOf(3)) }
      }
      #expect(error?.code == .usage && error?.hint?.contains("write") == true)
      var configuration = Configuration()
      configuration.readonly = true
      let queue = try DatabaseQueue(path: scratch.file("a.db"), configuration: configuration)
      let other = #expect(throws: (any Error).self) { try queue.write { db in _ = try db.upsert(someOf(3)) } }
      #expect((other as? UpsurgeError)?.code == .usage, "\(String(describing: other))")
      #expect(try writer.write { db in try db.upsert(someOf(3)) }.inserted == 3)
    }

    @Test("Full-text indexes are made, follow bulk calls, and are named where a table is asked for")
    func searchTables() throws {
      let writer = try Kind.queue.open(scratch)
      try writer.write { db in
        let error = #expect(throws: UpsurgeError.self) { try db.create(table: PlayerSearch.self) }
        #expect(error?.hint?.contains("create(searchTable: PlayerSearch.self") == true)
        _ = try db.upsert(someOf(3))
        try db.create(searchTable: PlayerSearch.self, of: Player.self)
        #expect(throws: DatabaseError.self) { try db.create(searchTable: PlayerSearch.self, of: Player.self) }
        _ = try db.upsert(someOf(5))
        func matches(_ word: String) throws -> [Int] {
          try Int.fetchAll(
            db, sql: "SELECT rowid FROM players_search WHERE players_search MATCH ?", arguments: [word])
        }
        #expect(try matches("p2") == [2] && matches("p5") == [5] && matches("p6") == [])
      }
    }
  }
#endif
