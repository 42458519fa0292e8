import Testing

@testable import UpsurgeMacros

@Suite("What @Table and @Selection write") struct ExpansionTests {
  @Test("Names, codings, defaults, what is not stored, and the draft") func table() throws {
    try expectSnapshot(
      "table",
      """
      @Table("all_items") public struct Item {
        public let id: Int
        @Column("is_in_stock") public var isInStock = true
        @Column(as: Date.UnixTime.self) var updatedAt: Date?
        @Ephemeral var isSelected = false
        static let limit = 5
        var summary: String { "" }
        var price: Double = -1.5 { didSet {} }
        var made: Made = Made(), `default`: String = "x\\(1)"
      }
      """)
  }

  @Test("A table without a key has no draft") func keyless() throws {
    try expectSnapshot(
      "keyless",
      """
      @Table struct LogEntry {
        @Column(primaryKey: false) var id: Int
        var line, column: Int
        var note: String!
        var text: String
      }
      """)
  }

  @Test("A key of several columns is a tuple") func compound() throws {
    try expectSnapshot(
      "compound",
      """
      @Table private struct Book {
        @Column("library_id", primaryKey: true) var libraryID: Int
        @Column(as: UUID.Bytes.self, primaryKey: true) let remoteID: UUID
        var title: Optional<String>
      }
      """)
  }

  @Test("Columns are as visible as their properties") func visibility() throws {
    try expectSnapshot(
      "visibility",
      """
      @Table public struct Account {
        public let id: Int
        public private(set) var name: String = Self.unnamed
        package var level: Level
        var secret: Secret?
        private var salt: [UInt8]
        public static let unnamed = "?"
      }
      """)
  }

  @Test("Types and values that say Self are the model's, and may be less visible than a draft") func selves()
    throws
  {
    try expectSnapshot(
      "self",
      """
      @Table public struct Account {
        public let id: Self.ID
        public var name: String = Self.unnamed
        @Column(as: Self.Kinds.self) public var kinds: [Self.Kind] = []
        static let unnamed = "?"
      }
      """)
  }

  @Test("A group of columns") func group() throws {
    try expectSnapshot(
      "group",
      """
      @Selection package struct Timestamps {
        package var createdAt: Date
        @Column("updated_at") package var updatedAt: Date?
      }
      """)
  }

  @Test("An enum is a column, or a group, for each case") func cases() throws {
    try expectSnapshot(
      "cases",
      """
      @Selection enum Attachment {
        case link(String), image(data: Image)
        var isLink: Bool { true }
      }
      """)
  }

  @Test(
    "Names of tables",
    arguments: [
      ("Player", "players"), ("SyncUp", "syncUps"), ("Category", "categories"), ("Day", "days"),
      ("Box", "boxes"),
      ("Match", "matches"), ("Dish", "dishes"), ("Bus", "buses"), ("URLItem", "urlItems"), ("URL", "urls"),
      ("Y", "ys"),
    ])
  func names(_ type: String, _ table: String) { #expect(type.pluralTableName == table) }
}
