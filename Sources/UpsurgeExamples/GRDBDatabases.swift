// The same models, those of Models.swift, and the same calls on databases of GRDB's.
#if GRDB
  import Foundation
  import GRDB
  import UpsurgeGRDB

  extension Example {
    static let grdb = [Example(name: "grdb", run: useGRDB)]
  }

  extension Player: FetchableRecord, PersistableRecord {}  // models are records of GRDB's, too
  extension Team: FetchableRecord, PersistableRecord {}
  extension Item: FetchableRecord, PersistableRecord {}

  private func useGRDB() async throws {
    let players = [Player(id: 1, name: "Ann", highScore: 7), Player(id: 2, name: "Bob")]
    let items = [Item(id: UUID(), title: "old", tags: []), Item(id: UUID(), title: "new", tags: ["x"])]
    let dbQueue = try DatabaseQueue()
    let dbPool = try DatabasePool(path: "app.db")
    for writer in [dbQueue, dbPool] as [any DatabaseWriter] {
      try await writer.write { db in
        try db.create(table: Player.self)
        try db.create(table: Team.self)
        try db.create(table: Item.self)
      }
    }

    try await dbQueue.write { db in
      try db.upsert(players, on: \.id)
      try Team(id: 1, name: "red").insert(db)
    }
    try await dbPool.upsert(players)  // a transaction of its own

    try await dbPool.upsert(items)
    try await dbQueue.write { db in
      try db.upsert(items, on: \.id)
      try Item.filter(Item.column(\.title) == "old").deleteAll(db)
    }

    print(
      try await dbQueue.read { db in try Player.fetchCount(db) + Team.fetchCount(db) + Item.fetchCount(db) })
  }
#else
  extension Example {
    static let grdb: [Example] = []
  }
#endif
