#if GRDB
  import GRDB
  import Synchronization
  import TestSupport
  import Testing
  import UpsurgeGRDB

  extension Team: FetchableRecord, PersistableRecord {
    static let players = hasMany(Player.self)
  }

  extension Player: FetchableRecord, PersistableRecord {
    static let team = belongsTo(Team.self)
  }

  extension Event: FetchableRecord, PersistableRecord {}
  extension Level: FetchableRecord, PersistableRecord {}
  extension Visit: FetchableRecord, PersistableRecord {}

  /// Both kinds of databases that GRDB has.
  enum Kind: String, CaseIterable, Sendable {
    case queue, pool

    /// A new database in a file, with the tables of the models.
    func open(_ scratch: Scratch, _ configuration: Configuration = Configuration()) throws
      -> any DatabaseWriter
    {
      let path = scratch.file("a.db")
      let writer: any DatabaseWriter =
        switch self {
        case .queue: try DatabaseQueue(path: path, configuration: configuration)
        case .pool: try DatabasePool(path: path, configuration: configuration)
        }
      try migrator.migrate(writer)
      return writer
    }
  }

  let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("teams and players") { db in
      try db.create(table: Team.self)
      try db.execute(
        sql: """
          CREATE TABLE players(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, high_score INTEGER NOT NULL DEFAULT 0,
            team_id INTEGER REFERENCES teams ON DELETE SET NULL) STRICT
          """)
    }
    return migrator
  }()

  /// Players 1 to `count`.
  func someOf(_ count: Int, score: Int = 0, team: Int? = nil) -> [Player] {
    (1...max(count, 1)).prefix(count).map { Player(id: $0, name: "p\($0)", score: score, teamID: team) }
  }

  /// Counts from any thread.
  final class Counter: Sendable {
    private let count = Mutex(0)

    func add() { count.withLock { $0 += 1 } }
    func take() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  /// Gathers numbers from any thread.
  final class Recorder: Sendable {
    private let gathered = Mutex([Int]())

    var values: [Int] { gathered.withLock { $0 } }
    func add(_ value: Int) { gathered.withLock { $0.append(value) } }
  }
#endif
