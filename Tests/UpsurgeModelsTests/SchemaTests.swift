import Foundation
import TestSupport
import Testing

@testable import UpsurgeModels

@Table struct Parcel: Equatable {
  let id: UUID
  var label: String
  var page: URL?
}

struct ParcelID: RawRepresentable, ColumnValue, Hashable { let rawValue: UUID }

@Table struct Bundle: Equatable {
  let id: ParcelID
  var label: String
}

/// Keys that are stored otherwise than what they are made of.
struct LoudID: RawRepresentable, ColumnValue, Hashable {
  let rawValue: UUID
  static func encode(_ value: Self, into row: inout RowEncoder) {
    UUID.Uppercased.encode(value.rawValue, into: &row)
  }
}

struct CompactID: RawRepresentable, ColumnValue, Hashable {
  let rawValue: UUID
  static var storage: StorageClass { .blob }
  static var newKeySQL: String? { UUID.Bytes.newKeySQL }
  static func encode(_ value: Self, into row: inout RowEncoder) {
    UUID.Bytes.encode(value.rawValue, into: &row)
  }
  static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Self {
    Self(rawValue: try UUID.Bytes.decode(from: &row))
  }
}

/// Keys within keys, keys of one version, and keys of one's own.
struct CartonID: RawRepresentable, ColumnValue, Hashable { let rawValue: ParcelID }

/// UUIDs that sort as they were made, and no others.
struct OrderedID: RawRepresentable, ColumnValue, Hashable {
  let rawValue: UUID
  init?(rawValue: UUID) {
    if rawValue.uuid.6 >> 4 != 7 { return nil }
    self.rawValue = rawValue
  }
}

@Table("shelves") struct Shelf: Equatable {
  let id: UUID
  var label: String
}

@Table("loudShelves") struct LoudShelf: Equatable {
  @Column(as: UUID.Uppercased.self) let id: UUID
  var label: String
}

@Table("byteShelves") struct ByteShelf: Equatable {
  @Column(as: UUID.Bytes.self) let id: UUID
  var label: String
}

struct RandomID: RawRepresentable, ColumnValue, Hashable {
  let rawValue: UUID
  init?(rawValue: UUID) {
    guard rawValue.uuid.6 >> 4 == 4 else { return nil }
    self.rawValue = rawValue
  }
}
struct TicketID: RawRepresentable, ColumnValue, Hashable { let rawValue: TicketNumber }
struct TicketNumber: ColumnValue, Hashable {
  var text: String
  static var storage: StorageClass { .text }
  static var newKeySQL: String? { "hex(randomblob(4))" }
  static func encode(_ value: Self, into row: inout RowEncoder) { row.append(value.text) }
  static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Self {
    Self(text: try String.decode(from: &row))
  }
}

@Table struct Horn: Equatable {
  let id: LoudID
  var label: String
}

@Table struct Chip: Equatable {
  let id: CompactID
  var label: String
}

@Table struct Crate: Equatable {
  @Column(as: UUID.Bytes.self) let id: UUID
  var label: String
}

@Table struct Barrel: Equatable {
  @Column(as: UUID.Uppercased.self) let id: UUID
  var label: String
}

/// A table against its model.
@Suite("Models: schema differences") struct SchemaTests {
  let scratch = Scratch()

  private static let tables: [(sql: String, differences: [String])] = [
    (Player.createTableSQL, []),
    (
      "CREATE TABLE Players(ID INTEGER PRIMARY KEY, NAME TEXT NOT NULL, HIGH_SCORE INT NOT NULL, TEAM VARCHAR(9))",
      []
    ),
    (
      "CREATE TABLE players(id INTEGER PRIMARY KEY, name TEXT NOT NULL, high_score INT NOT NULL, team TEXT, more)",
      []
    ),
    ("CREATE TABLE teams(id)", ["there is no such table"]),
    (
      """
      CREATE TABLE players(id INTEGER PRIMARY KEY, name BLOB NOT NULL, high_score TEXT, more TEXT NOT NULL,
        rest TEXT NOT NULL DEFAULT '') STRICT
      """,
      [
        "more: the model does not have it, and it is NOT NULL without a default",
        "name: the table has BLOB, the model TEXT", "high_score: the table has TEXT, the model INTEGER",
        "high_score: the table may have NULL, the model not", "team: the table does not have it",
      ]
    ),
    (
      """
      CREATE TABLE players(id INT, name TEXT NOT NULL PRIMARY KEY, high_score INT NOT NULL,
        team TEXT AS (name) STORED)
      """,
      [
        "id: the table may have NULL, the model not", "team: the table computes it, and it cannot be written",
        "the primary key of the table is (name), of the model (id)",
      ]
    ),
    (
      "CREATE TABLE players(id INTEGER PRIMARY KEY, name TEXT NOT NULL, high_score REAL NOT NULL, team TEXT NOT NULL)",
      [
        "high_score: the table has REAL, the model INTEGER", "team: the model may have NULL, the table not",
      ]
    ),
  ]

  @Test("What keeps rows from going between table and model is told", arguments: tables)
  func differences(_ sql: String, _ differences: [String]) async throws {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.execute("\(raw: sql)")
    #expect(try await database.differences(of: Player.self).map(\.description) == differences)
    guard !differences.isEmpty else { return try await database.checkTable(Player.self) }
    let error = await #expect(throws: UpsurgeError.self) { try await database.checkTable(Player.self) }
    #expect(
      error?.message == "the table players is not what Player says:\n  "
        + differences.joined(separator: "\n  "))
  }

  @Test(
    "The table that a model makes is what it says",
    arguments: [
      Player.self, Kinds.self, Note.self, Book.self,
    ] as [any UpsurgeModels.Table.Type])
  func own(_ model: any UpsurgeModels.Table.Type) async throws {
    let database = try UpsurgeModels.Database(scratch.file("b.db"))
    try await check(model, database)
  }

  private func check<Model: UpsurgeModels.Table>(_ model: Model.Type, _ database: UpsurgeModels.Database)
    async throws
  {
    try await database.createTable(model)
    try await database.checkTable(model)
  }

  @Test("A table makes no key that its model stores in another way, unless the model says how")
  func keysOfOtherForms() async throws {
    let database = try UpsurgeModels.Database(scratch.file("e.db"))
    #expect(!Horn.createTableSQL.contains("DEFAULT"))
    try await database.createTable(Horn.self)
    await #expect(throws: UpsurgeError.self) { try await database.insert([Horn.Draft(label: "a")]) }
    let horn = Horn(id: LoudID(rawValue: UUID()), label: "a")
    #expect(try await database.insert([horn]).inserted == 1)
    #expect(try await database.find(Horn.self, key: horn.id) == horn)
    try await database.createTable(Chip.self)
    try await database.insert([Chip.Draft(label: "a")])
    let chip = try #require(try await database.fetchOne(Chip.all))
    #expect(try await database.find(Chip.self, key: chip.id) == chip)
    #expect(try await database.upsert([chip]).unchanged == 1)
  }

  @Test("Keys within keys, of one version or of one's own are made as what they wrap") func keysWithin() {
    #expect(CartonID.newKeySQL == UUID.newKeySQL && RandomID.newKeySQL == UUID.newKeySQL)
    #expect(TicketID.newKeySQL == TicketNumber.newKeySQL)
    #expect(LoudID.newKeySQL == nil && Presence.newKeySQL == nil)
    // What the table would make could not be read.
    #expect(OrderedID.newKeySQL == nil)
  }

  @Test("Integer keys become UUIDs that their models find; another form of them is refused")
  func migratedKeys()
    async throws
  {
    let database = try UpsurgeModels.Database(scratch.file("k.db"))
    try await database.execute(
      """
      CREATE TABLE shelves(id INTEGER PRIMARY KEY, label TEXT NOT NULL);
      CREATE TABLE loudShelves(id INTEGER PRIMARY KEY, label TEXT NOT NULL);
      CREATE TABLE byteShelves(id INTEGER PRIMARY KEY, label TEXT NOT NULL);
      CREATE TABLE boards(id INTEGER PRIMARY KEY, shelf INTEGER REFERENCES shelves(id));
      INSERT INTO shelves VALUES (1, 'a'), (2, 'b');
      INSERT INTO boards VALUES (7, 2);
      INSERT INTO loudShelves VALUES (1, 'a');
      INSERT INTO byteShelves VALUES (1, 'a')
      """)
    for model in [LoudShelf.self, ByteShelf.self] as [any UpsurgeModels.Table.Type] {
      let error = await #expect(throws: UpsurgeError.self) {
        try await database.migratePrimaryKeys(of: Shelf.self, model)
      }
      #expect(error?.code == .usage && error?.message.contains("the UUIDs of its key id") == true)
    }
    #expect(try await database.fetchAll(Int.self, sql: "SELECT id FROM shelves") == [1, 2])
    try await database.migratePrimaryKeys(of: Shelf.self)
    let shelves = try await database.fetchAll(Shelf.order(by: \.label))
    #expect(shelves.map(\.label) == ["a", "b"])
    for shelf in shelves { #expect(try await database.find(Shelf.self, key: shelf.id) == shelf) }
    #expect(try await database.upsert(shelves).unchanged == 2)
    #expect(
      try await database.fetchAll(String.self, sql: "SELECT shelf FROM boards") == [
        shelves[1].id.uuidString.lowercased()
      ])
  }

  @Test("Drafts get the UUIDs that their tables make") func drafts() async throws {
    let database = try UpsurgeModels.Database(scratch.file("d.db"))
    func made<Model: UpsurgeModels.Table, Draft: TableRow>(_ drafts: [Draft], _ model: Model.Type)
      async throws
      -> [Model] where Draft.TableModel == Model
    {
      try await database.createTable(model)
      #expect(try await database.differences(of: model).isEmpty)
      let made = try await database.insert(drafts, returning: model).all().compactMap(\.value)
      #expect(try await database.insert(drafts).inserted == 2_000)
      #expect(try await database.upsert(made).unchanged == 2_000)
      #expect(try await database.count(model.all) == 4_000)
      return made
    }
    let names = (1...2_000).map(String.init)
    let page = try #require(URL(string: "https://example.org/a?b=c%20d"))
    let parcels = try await made(names.map { Parcel.Draft(label: $0, page: page) }, Parcel.self)
    #expect(parcels.map(\.label) == names && Set(parcels.map(\.id)).count == 2_000)
    #expect(parcels.allSatisfy { $0.id.uuidString.dropFirst(14).first == "4" && $0.page == page })
    #expect(try await database.fetchOne(Parcel.all.find(parcels[7].id)) == parcels[7])
    let crates = try await made(names.map { Crate.Draft(label: $0) }, Crate.self)
    #expect(Set(crates.map(\.id)).count == 2_000)
    let bundles = try await made(names.map { Bundle.Draft(label: $0) }, Bundle.self)
    #expect(Set(bundles.map(\.id)).count == 2_000)
    let barrels = try await made(names.map { Barrel.Draft(label: $0) }, Barrel.self)
    #expect(try await database.fetchOne(Barrel.all.find(barrels[9].id)) == barrels[9])
  }

  @Test(
    "Rows whose values the table would store as others, so that they could not be read, are refused",
    arguments: [
      ("TEXT", true), ("REAL", false), ("INTEGER", false), ("NUMERIC", false), ("DATETIME", false),
      ("", false),
    ])
  func otherStorage(_ type: String, _ keepsText: Bool) async throws {
    let database = try UpsurgeModels.Database(scratch.file("s\(type).db"))
    try await database.execute(
      "CREATE TABLE gauges(id INTEGER PRIMARY KEY, n \(raw: type)); CREATE TABLE brands(id INTEGER PRIMARY KEY, n \(raw: type))"
    )
    let isNumber = !keepsText && type != "REAL"
    if isNumber {
      try await database.upsert([Gauge(id: 1, n: 7)])
      #expect(try await database.fetchAll(Gauge.all) == [Gauge(id: 1, n: 7)])
    } else {
      let error = await #expect(throws: UpsurgeError.self) { try await database.upsert([Gauge(id: 1, n: 7)]) }
      #expect(
        error?.message
          == "the column n of the table gauges is \(type), and Gauge has INTEGER there, which it would store as something else"
      )
      #expect(error?.code == .usage && error?.hint?.contains("checkTable(Gauge.self)") == true)
      #expect(try await database.count(Gauge.all) == 0)
      // What is not stored is no matter.
      try await database.execute("INSERT INTO gauges VALUES (1, 7), (2, 8)")
      #expect(try await database.delete([Gauge(id: 1, n: 7)]).deleted == 1)
      let kept = try await database.update([Gauge(id: 2, n: 7)], merge: { _, _ in })
      #expect(kept.unchanged == 1)
    }
    if type == "INTEGER" || type == "REAL" {
      await #expect(throws: UpsurgeError.self) { try await database.insert([Brand(id: 1, n: "007")]) }
    } else {
      try await database.insert([Brand(id: 1, n: "2024-01-01")])
      #expect(try await database.fetchAll(Brand.all) == [Brand(id: 1, n: "2024-01-01")])
    }
    // Text that is never a number.
    try await database.execute("CREATE TABLE arrivals(id INTEGER PRIMARY KEY, n \(raw: type))")
    let arrival = Arrival(id: 1, n: Date(timeIntervalSince1970: 5))
    try await database.insert([arrival])
    #expect(try await database.fetchAll(Arrival.all) == [arrival])
  }
}

@Table struct Gauge: Equatable {
  let id: Int
  var n: Int
}

@Table struct Arrival: Equatable {
  let id: Int
  var n: Date
}

@Table struct Brand: Equatable {
  let id: Int
  var n: String
}
