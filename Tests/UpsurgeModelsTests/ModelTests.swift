import Foundation
import TestSupport
import Testing

@testable import UpsurgeModels

@Suite("Models") struct ModelTests {
  let scratch = Scratch()

  /// A database with a model's table, and a plain connection to it.
  private func open<Model: UpsurgeModels.Table>(_ model: Model.Type) async throws -> (
    UpsurgeModels.Database, TestSupport.Database
  ) {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(model)
    return (database, TestSupport.Database(scratch.file("a.db")))
  }

  @Test("Names of tables") func names() {
    #expect(Player.tableName == "players" && Kinds.tableName == "all_kinds")
    #expect(Player.columnNames == ["id", "name", "high_score", "team"])
    #expect(Book.primaryKeyColumnNames == ["library_id", "remote_id"])
  }

  @Test("A row with the values of two cases is neither") func twoCases() async throws {
    let (database, plain) = try await open(Draw.self)
    try await database.insert([Draw(id: 1, outcome: .right(2)), Draw(id: 2)])
    #expect(try await database.fetchAll(Draw.order(by: \.id)).map(\.outcome) == [.right(2), nil])
    _ = try plain.rows("UPDATE draws SET \"left\" = 1 WHERE id = 1")
    await #expect(throws: UpsurgeError.self) { try await database.fetchAll(Draw.all) }
  }

  @Test("Columns are as visible as their properties; a draft has the model's defaults") func visibility()
    async throws
  {
    let (database, _) = try await open(Car.self)
    try await database.insert([Car.Draft(model: .van, salt: 9)])
    #expect(Truck.Draft().name == "?" && Truck.Draft(load: 2).kind == .small)
    let row = try #require(try await database.fetchOne(Car.where { $0.salt == 9 && $0.model == .van }))
    #expect(row.name == "?" && row.level == nil && row.primaryKey == 1)
  }

  @Test("CREATE TABLE") func createTable() {
    #expect(
      Player.createTableSQL == """
        CREATE TABLE "players" (
          "id" INTEGER PRIMARY KEY,
          "name" TEXT NOT NULL,
          "high_score" INTEGER NOT NULL DEFAULT 0,
          "team" TEXT
        ) STRICT
        """)
    #expect(
      Note.createTableSQL == """
        CREATE TABLE "notes" (
          "id" INTEGER PRIMARY KEY,
          "createdAt" INTEGER NOT NULL,
          "updatedAt" INTEGER,
          "reviewer" TEXT,
          "stars" INTEGER,
          "link" TEXT,
          "url" TEXT,
          "image_width" INTEGER,
          "text" TEXT
        ) STRICT
        """)
    #expect(Book.createTableSQL.hasSuffix("PRIMARY KEY (\"library_id\", \"remote_id\")\n) STRICT"))
  }

  @Test("Every kind of value is stored as it says, and read back the same") func kinds() async throws {
    let (database, plain) = try await open(Kinds.self)
    let id = try #require(UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"))
    let row = Kinds(
      key: id, bytes: id, upper: id, flag: false, small: -7, ratio: 0.1, blob: [0, 255], data: Data(),
      createdAt: Date(timeIntervalSince1970: 1_795_378_320.125), seenAt: Date(timeIntervalSince1970: -0.5),
      dueAt: Date(timeIntervalSince1970: 100), tags: ["a/b", "\u{1}"], status: .done, default: 5,
      any: .text("x"))
    let empty = Kinds(
      key: UUID(), bytes: id, upper: nil, small: .max, ratio: -0.0, blob: [], data: nil,
      createdAt: Date(timeIntervalSince1970: -62_135_596_800), seenAt: nil,
      dueAt: Date(timeIntervalSince1970: -1), tags: [],
      status: .open, default: nil, any: .null)
    let ledger = try await database.insert([row, empty])
    #expect(ledger.inserted == 2 && ledger.isBalanced)
    #expect(
      try plain.rows("SELECT * FROM all_kinds WHERE small = -7") == [
        "'0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'|x'f1e2d3c4b5a69788796a5b4c3d2e1f0'|'0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0'|0|-7|0.1"
          + "|x'0ff'|x''|'2026-11-22 20:12:00.125'|-0.5|100|'[\"a/b\",\"\\u0001\"]'|'done'|5|'x'"
      ])
    #expect(
      try plain.rows("SELECT createdAt FROM all_kinds WHERE \"default\" IS NULL") == [
        "'0001-01-01 00:00:00.000'"
      ])
    for stored in [row, empty] {
      let values = [SQLValue](columnCount: Kinds.columnNames.count) { stored.encode(into: &$0) }
      var decoder = RowDecoder(.values(values), names: Kinds.columnNames)
      #expect(try Kinds(from: &decoder) == stored)
    }
  }

  @Test("Groups and enums are columns, which are NULL where there is none") func groups() async throws {
    let (database, plain) = try await open(Note.self)
    let notes = [
      Note(id: 1, timestamps: Timestamps(createdAt: 1, updatedAt: 2), review: nil, attachment: .link("a")),
      Note(
        id: 2, timestamps: Timestamps(createdAt: 3, updatedAt: nil),
        review: Review(reviewer: "b", stars: nil),
        attachment: .picture(Picture(url: "u", width: 4))),
      Note(
        id: 3, timestamps: Timestamps(createdAt: 5, updatedAt: 6), review: nil, attachment: .text(body: "t")),
      Note(id: 4, timestamps: Timestamps(createdAt: 7, updatedAt: nil), review: nil, attachment: nil),
    ]
    try await database.insert(notes)
    #expect(
      try plain.rows("SELECT * FROM notes") == [
        "1|1|2|NULL|NULL|'a'|NULL|NULL|NULL", "2|3|NULL|'b'|NULL|NULL|'u'|4|NULL",
        "3|5|6|NULL|NULL|NULL|NULL|NULL|'t'",
        "4|7|NULL|NULL|NULL|NULL|NULL|NULL|NULL",
      ])
    for note in notes {
      let values = [SQLValue](columnCount: Note.columnNames.count) { note.encode(into: &$0) }
      var decoder = RowDecoder(.values(values), names: Note.columnNames)
      #expect(try Note(from: &decoder) == note)
    }
    let condition = try (Note.columns(of: .row).timestamps == Timestamps(createdAt: 3, updatedAt: nil)).sql
      .bound
    #expect(
      condition.sql == "(\"createdAt\" IS ? AND \"updatedAt\" IS ?)"
        && condition.values == [.integer(3), .null])
  }

  @Test("Types may be nested, and properties be called as they like") func nested() async throws {
    let (database, plain) = try await open(Outer.Part.self)
    let part = Outer.Part(id: 1, source: "a", row: 2, group: Outer.Pair(payload: "p", source: 3))
    try await database.insert([part])
    #expect(try plain.rows("SELECT * FROM parts") == ["1|'a'|2|1|NULL|'k'|0|NULL|NULL|NULL|'p'|3"])
    #expect(try await database.fetchAll(Outer.Part.where { $0.source == "a" }) == [part])
    #expect(Outer.Part.Draft(source: "a", row: 2).key == "k")
  }

  @Test("A draft gets its key from the table") func drafts() async throws {
    let (database, plain) = try await open(Player.self)
    try await database.insert([
      Player.Draft(name: "a"), Player.Draft(id: 7, name: "b", highScore: 3, team: "t"),
    ])
    try await database.insert([Player.Draft(Player(id: 9, name: "c"))])
    #expect(try plain.rows("SELECT * FROM players") == ["1|'a'|0|NULL", "7|'b'|3|'t'", "9|'c'|0|NULL"])
  }

  private static let mismatched: [([SQLValue], String)] = [
    ([.integer(1), .null, .integer(0), .null], "the column name holds NULL, and a text was expected"),
    (
      [.text("x"), .text("a"), .integer(0), .null],
      "the column id holds the text x, and an integer was expected"
    ),
    (
      [.integer(1), .text("a"), .real(0.5), .null],
      "the column high_score holds the number 0.5, and an integer was expected"
    ),
    (
      [.integer(1), .text("a"), .integer(0), .blob([1])],
      "the column team holds a blob of 1 bytes, and a text was expected"
    ),
  ]

  @Test(
    "What a row cannot be is said with the column, the value and what was expected", arguments: mismatched)
  func mismatches(_ values: [SQLValue], _ message: String) {
    do throws(UpsurgeError) {
      var decoder = RowDecoder(.values(values), names: Player.columnNames)
      _ = try Player(from: &decoder)
      Issue.record("the row was read")
    } catch {
      #expect(error.code == .badInput && error.message == message)
    }
  }
}
