import TestSupport
import Testing

@testable import UpsurgeModels

/// What a program is told names what its calls have, and no option of the command.
@Suite("Messages of calls") struct MessageTests {
  let scratch = Scratch()

  private static let one = [Player(id: 1, name: "a", team: "t")]
  private static let twins = [Player(id: 1, name: "a"), Player(id: 2, name: "a")]

  private static let failures:
    [(says: String, call: @Sendable (UpsurgeModels.Database) async throws -> Void)] = [
      ("make the table first", { try await $0.upsert([Errand(id: 1, title: "a", list: "b")]) }),
      ("make it: CREATE UNIQUE INDEX", { try await $0.upsert(one, on: \.highScore) }),
      ("onReject keeps it", { try await $0.upsert(twins) }),
      ("insertOrIgnore leaves it as it is", { try await $0.insert(one + one) }),
      ("leave out merge: id", { try await $0.upsert(one, merge: { row, excluded in row.id = excluded.id }) }),
      (
        "merge: or when:",
        { try await $0.upsert(one, merge: { row, _ in row.name = SQLExpression("nonsense(1)") }) }
      ),
      ("where:", { try await $0.upsert(one, on: \.team) }),
      ("leads to no column", { _ = try await $0.mirror(one, sweeping: .soft(\.name.lowercased)) }),
      ("sweeping: .soft", { _ = try await $0.mirror(one, sweeping: .soft(column: "gone")) }),
      (
        "a count of 17 as SweepGuards.maximumDeletes",
        { database in
          try await database.execute("DELETE FROM players")
          try await database.insert((1...20).map { Player(id: $0, name: "\($0)") })
          if let refusal = try await database.mirror(
            (1...3).map { Player(id: $0, name: "\($0)") }, sweeping: .hard
          ).refusal {
            throw refusal
          }
        }
      ),
      (
        "SweepGuards.allowsEmpty",
        { if let refusal = try await $0.mirror([Player](), sweeping: .hard).refusal { throw refusal } }
      ),
      (
        "a longer busy timeout in the database's Configuration",
        { database in
          for try await _ in try database.delete(one, returning: \.id) {
            try await UpsurgeModels.Database(database.path, configuration: impatient).delete(one)
          }
        }
      ),
    ]

  private static let impatient: UpsurgeModels.Database.Configuration = {
    var configuration = UpsurgeModels.Database.Configuration()
    configuration.busyTimeout = 50
    return configuration
  }()

  @Test("What failed is said in the words of the call", arguments: failures.indices)
  func wording(_ index: Int) async throws {
    let (says, call) = Self.failures[index]
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(Player.self)
    try await database.execute("CREATE UNIQUE INDEX i ON players(name)")
    try await database.execute("CREATE UNIQUE INDEX j ON players(team) WHERE high_score > 0")
    try await database.execute("CREATE UNIQUE INDEX k ON players(team) WHERE high_score > 5")
    let error = await #expect(throws: UpsurgeError.self) { try await call(database) }
    let text = error?.description ?? ""
    #expect(text.contains(says) && !text.contains("--"), "\(text)")
  }

  @Test("A row is named by its number, in errors and rejects") func positions() async throws {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(Player.self)
    try await database.execute("CREATE UNIQUE INDEX i ON players(name)")
    let error = await #expect(throws: UpsurgeError.self) { try await database.upsert(Self.twins) }
    #expect(error?.position == Position(file: "rows", record: 2) && error?.column == "name")
    let rejects = Guarded<[Reject]>([])
    var options = BulkOptions()
    options.onError = .reject
    options.onReject = { reject in rejects.withLock { $0.append(reject) } }
    try await database.upsert(Self.twins, options: options)
    let returned = try await database.upsert(Self.twins, options: options, returning: \.id).all()
    let found = rejects.withLock { $0 } + returned.compactMap(\.reject)
    #expect(found.map(\.position) == Array(repeating: Position(file: "rows", record: 2), count: 3))
    #expect(found.allSatisfy { $0.code == .unique })
  }
}
