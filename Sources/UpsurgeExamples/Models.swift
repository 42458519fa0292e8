import Foundation
import UpsurgeModels

extension Example {
  static let models = [
    Example(name: "quick-start", run: quickStart),
    Example(name: "players", run: storePlayers),
    Example(name: "reading", run: readBack),
    Example(name: "keys", run: useKeys),
    Example(name: "search", run: search),
    Example(name: "sync", run: synchronize),
    Example(name: "mirror", run: mirrorStations),
    Example(name: "features", run: showFeatures),
  ]
}

// README, "The library": the program of a package that depends on this one.
private func quickStart() async throws {
  let database = try Database("app.db")
  try await database.createTable(Player.self, ifNotExists: true)

  let players = (1...50_000).map { Player(id: $0, name: "player \($0)", highScore: $0 % 1_000) }
  let ledger = try await database.upsert(
    players, on: \.id,
    merge: { row, excluded in
      row.highScore = max(row.highScore, excluded.highScore)
      row.seenAt = excluded.seenAt ?? row.seenAt
    })
  print(ledger.inserted, "inserted,", ledger.updated, "updated,", ledger.unchanged, "unchanged")

  let best = try await database.fetchAll(
    Player.where { $0.highScore > 900 }.order { [$0.highScore.descending(), $0.id.ascending()] }.limit(3))
  print(best.map(\.name))
}

@Table struct Player {
  let id: Int
  var name: String
  @Column("high_score") var highScore = 0
  @Column(as: Date.UnixTime.self) var seenAt: Date?
}

private func storePlayers() async throws {
  let players = [Player(id: 1, name: "Ann", highScore: 7), Player(id: 2, name: "Bob")]
  let database = try Database("app.db")
  try await database.createTable(Player.self, ifNotExists: true)
  try await database.execute("CREATE UNIQUE INDEX players_name ON players(name)")
  let ledger = try await database.upsert(
    players, on: \.name,
    merge: { row, excluded in
      row.highScore = max(row.highScore, excluded.highScore)
    })
  print(ledger.inserted, ledger.updated, ledger.unchanged)

  let drafts = [Player.Draft(name: "Bob"), Player.Draft(name: "Cleo")]
  for try await row in try database.upsert(drafts, on: \.name, returning: \.id) {
    print(row.number, row.outcome, row.value ?? 0)
  }
}

private func readBack() async throws {
  func show(_ player: Player) {}
  let pattern = "A%"
  let database = try Database("app.db")
  try await database.createTable(Player.self, ifNotExists: true)
  try await database.insert([
    Player(id: 7, name: "Ann", highScore: 700, seenAt: Date(timeIntervalSince1970: 0))
  ])

  let best = try await database.fetchAll(
    Player.where { $0.highScore > 100 && $0.seenAt != nil }.order { [$0.highScore.descending()] }.limit(10))
  let one = try await database.find(Player.self, key: 7)
  let names = try await database.fetchAll(Player.all.select { $0.name })
  for try await player in database.rows(Player.order(by: \.name)) { show(player) }
  let found = try await database.fetchAll(
    Player.self, sql: "SELECT * FROM players WHERE name LIKE \(pattern)")

  print(best.count, one?.name ?? "", names, found.count)
}

// MARK: - Keys

@Table struct Account {
  let id: Int
  var email: String
  var isActive = true
  var visits = 1
}

private func useKeys() async throws {
  let database = try Database("app.db")
  try await database.createTable(Account.self, ifNotExists: true)
  try await database.execute("CREATE UNIQUE INDEX active ON accounts(email) WHERE isActive IS 1")
  try await database.execute("CREATE UNIQUE INDEX folded ON accounts(lower(email))")
  let accounts = [Account.Draft(email: "ann@x.org"), Account.Draft(email: "Ann@x.org")]

  // A UNIQUE index on an expression.
  try await database.upsert(
    accounts, on: \.email.lowercased,
    merge: { row, excluded in
      row.visits += excluded.visits
    })
  // A partial one.
  try await database.upsert(accounts.prefix(1), on: \.email, where: { $0.isActive == true })
  // Any key that the table has.
  var options = BulkOptions()
  options.key = .any
  try await database.insertOrIgnore(accounts, options: options)

  print(try await database.fetchAll(Account.all).map { "\($0.email) \($0.visits)" })
}

// MARK: - Full text

@Table struct Post {
  let id: Int
  var title: String
  var body: String
}

@Table("posts_search") struct PostSearch: SearchTable {
  var title: String
  var body: String
}

private func search() async throws {
  let database = try Database("app.db")
  try await database.createTable(Post.self, ifNotExists: true)
  try await database.createSearchTable(PostSearch.self, of: Post.self)
  try await database.insert([
    Post(id: 1, title: "Upserts", body: "How rows change"), Post(id: 2, title: "Sweeps", body: "How rows go"),
  ])
  print(try await database.fetchAll(PostSearch.matching("change").select { $0.title }))
}

// MARK: - A table in step with a feed

@Table struct Station: Codable {
  @Column(primaryKey: true) var code: String
  var name: String
  var elevation: Double?
}

private func mirrorStations() async throws {
  let nights = [
    #"[{"code":"BER","name":"Berlin"},{"code":"BSL","name":"Basel"},{"code":"CGN","name":"Cologne"}]"#,
    #"[{"code":"BER","name":"Berlin","elevation":37},{"code":"BSL","name":"Basel"},{"code":"CGN","name":"Cologne"},{"code":"HAM","name":"Hamburg"}]"#,
    #"[{"code":"BER","name":"Berlin","elevation":37}]"#,
  ]
  for night in nights {
    try night.write(toFile: "stations.json", atomically: true, encoding: .utf8)
    try await runNight()
  }
}

private func runNight() async throws {
  let file = URL(fileURLWithPath: "stations.json")
  let stations = try JSONDecoder().decode([Station].self, from: Data(contentsOf: file))

  let database = try Database("stations.db")
  try await database.createTable(Station.self, ifNotExists: true)
  let result = try await database.mirror(stations, sweeping: .hard)

  let ledger = result.ledger
  print(
    ledger.inserted, "new,", ledger.updated, "changed,", ledger.unchanged, "as before,", ledger.swept, "gone")
  if let refusal = result.refusal { print(refusal.message) }
}

// MARK: - For GRDB

@Table struct Team {
  let id: Int
  var name: String
}

@Table("items") struct Item: Identifiable {
  let id: UUID
  var title = ""
  @Column("is_in_stock") var isInStock = true
  @Column(as: JSON<[String]>.self) var tags: [String]
  var price: Double?
}

// MARK: - Functions and triggers

private func synchronize() async throws {
  let database = try Database("app.db")
  try await database.createTable(Player.self, ifNotExists: true)
  try await database.execute("CREATE TABLE edits(name TEXT)")
  try await database.createTemporaryTrigger(
    "note_edits", .after, .update(), on: Player.self, when: { _, _ in !isSynchronizing }
  ) { old, new in "INSERT INTO edits VALUES (\(new.name))" }

  var options = BulkOptions()
  options.isSynchronizing = true
  try await database.insert([Player(id: 1, name: "Ann"), Player(id: 2, name: "Bob")])
  try await database.update([Player(id: 1, name: "Anna")], options: options)
  try await database.update([Player(id: 2, name: "Rob")])
  print(try await database.fetchAll(String.self, sql: "SELECT name FROM edits"))
}

// MARK: - A model, feature by feature

enum Status: String, ColumnValue { case open, done }
struct CustomerID: RawRepresentable, ColumnValue, Hashable { var rawValue: UUID }
@Selection struct Address: Equatable {
  var street: String
  var city: String
}
@Selection enum Contact: Equatable {
  case email(String)
  case post(Address)
}

@Table struct Customer {
  let id: CustomerID
  var name: String
  var status: Status = .open
  @Column(as: JSON<[String]>.self) var tags: [String] = []
  @Column(as: Date.Seconds.self) var since: Date
  var contact: Contact?
  @Ephemeral var isSelected = false
}

@Table struct Stock {
  @Column(primaryKey: true) let warehouse: String
  @Column(primaryKey: true) let item: Int
  var count = 0
}

@Selection struct Total {
  var city: String?
  var count: Int
}

private func showFeatures() async throws {
  let id = CustomerID(rawValue: UUID())
  let customers = [
    Customer(id: id, name: "Ann", since: Date(timeIntervalSince1970: 0), contact: .email("ann@x.org"))
  ]
  let database = try Database("app.db")
  try await database.createTable(Customer.self, ifNotExists: true)
  try await database.createTable(Stock.self, ifNotExists: true)
  try await database.insert(customers)
  try await database.insert([Stock(warehouse: "A", item: 1, count: 3)])
  try await readConditions(database)

  let stock = try await database.find(Stock.self, key: ("A", 1))
  print(stock?.count ?? 0)
  try await useFunctions(database)
  try await searchPosts(database)
}

private func readConditions(_ database: Database) async throws {
  let open = Customer.where { $0.status == .open && $0.contact.email.isLike("%@x.org") }
  let away = Customer.where { $0.contact == nil || $0.contact == .post(Address(street: "1", city: "Rome")) }
  let some = Customer.where { $0.name.isIn(["Ann", "Bob"]) && $0.since.isBetween(.distantPast, and: Date()) }
  print(try await database.count(open), try await database.count(away), try await database.count(some))

  let column = "city"
  let totals = try await database.fetchAll(
    Total.self, sql: "SELECT \(identifier: column), count(*) FROM customers GROUP BY 1")
  print(totals.map(\.count))
}

private func useFunctions(_ database: Database) async throws {
  try await database.addFunction("slug", isDeterministic: true) { (name: String) -> String in
    name.lowercased().split(separator: " ").joined(separator: "-")
  }
  try await database.addAggregate("longest", from: "") { (longest: inout String, name: String) in
    if name.count > longest.count { longest = name }
  } result: {
    $0
  }
  let slugs = try await database.fetchAll(Customer.all.select { SQLExpression<String>("slug(\($0.name))") })
  let longest = try await database.fetchOne(
    Customer.all.select { SQLExpression<String>(aggregate: "longest(\($0.name))") })
  print(slugs, longest ?? "")
}

private func searchPosts(_ database: Database) async throws {
  try await database.createTable(Post.self, ifNotExists: true)
  try await database.createSearchTable(PostSearch.self, of: Post.self)
  try await database.insert([Post(id: 1, title: "Upserts", body: "How rows change")])

  let hits = PostSearch.matching(.prefix("how ro")).order { _ in [PostSearch.rank.ascending()] }
  let marked = try await database.fetchAll(hits.select { _ in PostSearch.highlight(\.body, "<b>", "</b>") })
  let pieces = try await database.fetchAll(hits.select { _ in PostSearch.snippet(\.body, "[", "]") })
  print(marked, pieces)
}
