#if GRDB
  import GRDB
  import Testing
  import UpsurgeGRDB

  /// What a program writes that imports GRDB and this module, and no other.
  @Suite("GRDB: one import") struct ImportTests {
    @Table struct Shelf: Equatable, FetchableRecord, PersistableRecord {
      let id: Int
      var room: String?
    }

    @Test("Models are declared beside GRDB's types, whose names are GRDB's") func models() throws {
      let shelf = Shelf(id: 1, room: "a")
      let rooms = try DatabaseQueue().write { (db: Database) in
        try db.create(table: Shelf.self)
        try db.upsert([shelf, Shelf(id: 2)])
        let table: Table<Row> = Table(Shelf.tableName)
        #expect(try table.fetchCount(db) == 2)
        let column: SQLExpression = Column("room").sqlExpression
        return try String.fetchAll(db, Shelf.select(column).where { $0.room != nil })
      }
      #expect(rooms == ["a"])
    }

    @Test("Merge rules and conditions are written where only GRDB and this module are imported")
    func operators() throws {
      let writer = try DatabaseQueue()
      try migrator.migrate(writer)
      try writer.write { (db: Database) in
        try db.upsert(someOf(3, score: 1))
        try db.upsert(
          someOf(3, score: 4), when: { row, excluded in excluded.score > row.score && row.teamID == nil },
          merge: { row, excluded in row.score += excluded.score })
        #expect(try Player.all().where { $0.score == 5 && $0.id > 1 }.fetchCount(db) == 2)
        let result = try db.mirror(
          someOf(2, score: 5), sweeping: .hard, scope: { $0.score >= 5 || $0.teamID != nil },
          guards: {
            var guards = SweepGuards()
            guards.maximumDeletes = .percent(50)
            return guards
          }())
        #expect(result.ledger.swept == 1 && result.ledger.unchanged == 2)
      }
    }
  }
#endif
