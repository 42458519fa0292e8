import TestSupport
import Testing
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState
import UpsurgeStorage

@testable import UpsurgeMirror

/// Layouts of the engine's own tables: older ones are read and migrated, newer ones refused.
@Suite("Layouts of own tables") struct OwnLayoutTests {
  private let scratch = Scratch()
  private var path: String { scratch.file("a.db") }
  private var database: Database { Database(path) }

  private func open() throws -> Connection { try Connection(path: path, createIfMissing: true) }

  @Test("Each own table has a layout")
  func each() {
    #expect(Set(LayoutFixture.layouts.map(\.name)) == Set(OwnTable.allCases.map(\.rawValue)))
    #expect(LayoutFixture.layouts.count == OwnTable.allCases.count)
  }

  // MARK: - Older

  @Test("Each layout is read as it is, and nothing is written", arguments: LayoutFixture.all)
  func reads(fixture: LayoutFixture) throws {
    try database.rows(fixture.sql())
    let before = try readFile(path)
    let connection = try Connection.looking(at: path)
    #expect(try fixture.layout.find(on: connection)?.number == fixture.number)
    try expectRead(fixture, on: connection)
    let isSame = try readFile(path) == before
    #expect(isSame)
  }

  /// What the engine reads of the rows of a fixture.
  private func expectRead(_ fixture: LayoutFixture, on connection: Connection) throws {
    switch fixture.name {
    case "upsurge_runs":
      #expect(try RunTable.all(connection).map(\.id) == [1, 2, 3, 4, 5, 6])
    case "upsurge_rejects":
      #expect(try RejectTable.count(of: "stock", on: connection) == 1)
      let page = try StoredReject.page(connection, after: 1, through: .max, count: 10)
      #expect(page.map(\.table) == ["members"] && page.first?.context != nil)
    case "upsurge_reject_contexts":
      #expect(try !RejectTable.exists(connection))
    case "upsurge_replays":
      #expect(try ReplayMark.all(connection).map(\.doneByteCount) == [311])
    case "upsurge_quarantine":
      #expect(try QuarantineTable.count(of: "orders", on: connection) == 1)
      #expect(try QuarantineTable.orphanCount(of: "orders", on: connection) == 0)
    case "upsurge_rows":
      #expect(try RowStateTable.owners(of: "members", on: connection) == ["crm"])
      #expect(try RowStateTable.holdsNotes(of: "members", on: connection))
    case "upsurge_chunks":
      #expect(try ChunkTable.read("big", limit: 10, on: connection)?.recordCount == 400)
    case "upsurge_pending":
      #expect(try PendingWork.read(connection, table: "big").map(\.name) == ["big_id_v", "big_v"])
    case "upsurge_refusals":
      let message = "2 of 3 rows of table members are not in the delivery, more than the max-delete of 10%"
      #expect(
        try RefusalTable.digest(in: message, of: "members", ownedBy: "crm", on: connection)
          == "a8792c33b60d11c5")
    case "upsurge_feeds":
      let feeds = try FeedTable.all(connection)
      #expect(feeds.map(\.table) == ["big", "members", "stock"])
      #expect(feeds.map(\.failureCount) == [0, 2, 0] && feeds.map(\.hasRejects) == [false, false, true])
      #expect(feeds.map(\.ownedBy) == ["", fixture.number < 4 ? "" : "crm", ""])
      #expect(feeds.map { $0.shape != nil } == Array(repeating: fixture.number > 5, count: 3))
    case "upsurge_files":
      #expect(try TakenFiles.all(of: "stock", on: connection).map(\.byteCount).sorted() == [9, 15])
    default:
      #expect(fixture.name == "upsurge_unaccepted")
    }
  }

  @Test(
    "A transaction that writes brings each layout up to date, and leaves it where it is rolled back",
    arguments: LayoutFixture.all)
  func migrates(fixture: LayoutFixture) throws {
    let (layout, name) = (fixture.layout, fixture.name)
    try database.rows(fixture.sql())
    let columns = try #require(
      try database.rows("SELECT group_concat('\"' || name || '\"', ', ') FROM pragma_table_info('\(name)')")
        .first)
    let selection = "SELECT \(columns.dropFirst().dropLast()) FROM \(name) ORDER BY 1, 2"
    let (before, rows) = (try fixture.state(database), try database.rows(selection))
    #expect(!rows.isEmpty)

    let connection = try open()
    try connection.beginWriting()
    try layout.prepare(on: connection)
    #expect(try layout.find(on: connection)?.number == layout.number)
    try connection.execute("ROLLBACK")
    #expect(try fixture.state(database) == before)
    #expect(try layout.find(on: connection)?.number == fixture.number)

    try prepare(layout, on: connection)
    #expect(try layout.find(on: connection)?.number == layout.number)
    #expect(try database.rows(selection) == rows)
    try expectRead(LayoutFixture(layout: layout, number: min(fixture.number, layout.number)), on: connection)

    // Another column, or another key, needs another number.
    let new = Database(scratch.file("new.db"))
    try new.rows(layout.creation)
    let shape = "SELECT name, type, \"notnull\", pk FROM pragma_table_info('\(name)') ORDER BY name"
    #expect(try database.rows(shape) == new.rows(shape))

    let after = try fixture.state(database)
    try prepare(layout, on: connection)
    #expect(try fixture.state(database) == after)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_temp_master") == 0)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  private func prepare(_ layout: OwnLayout, on connection: Connection) throws {
    try connection.writing { () throws(UpsurgeError) in try layout.prepare(on: connection) }
  }

  @Test("Rows of an older layout count as stored, and as rejected once")
  func meanings() throws {
    for layout in [RowStateTable.layout, RejectTable.layout] {
      try database.rows(LayoutFixture(layout: layout, number: 1).sql())
    }
    try database.rows(
      "CREATE TABLE members(id INTEGER PRIMARY KEY); INSERT INTO members VALUES (1), (2), (4)")
    let connection = try open()
    let schema = try #require(try TableSchema.read(connection, table: "members"))
    for _ in 0..<2 {
      let term = try RowStateTable.deliveredTerm(schema, on: connection)
      #expect(try database.rows("SELECT count(*) FROM members WHERE \(term)") == ["2"])
      try prepare(RowStateTable.layout, on: connection)
    }
    try prepare(RejectTable.layout, on: connection)
    #expect(
      try database.rows("SELECT count, last_at = added_at, raw_hash, delivery FROM upsurge_rejects")
        == ["1|1|NULL|NULL", "1|1|NULL|NULL"])
  }

  @Test("A table that is made anew keeps its place in the user's views")
  func views() throws {
    for layout in [TakenFiles.layout, FeedTable.layout] {
      try database.rows(LayoutFixture(layout: layout, number: 1).sql())
      try database.rows("CREATE VIEW v_\(layout.name) AS SELECT \"table\" FROM \(layout.name)")
      try prepare(layout, on: open())
      let count = try database.rows("SELECT count(*) FROM v_\(layout.name)")
      #expect(count == [layout.name == "upsurge_files" ? "2" : "3"])
    }
  }

  @Test("What the engine writes into an older layout stands beside what was there")
  func writes() throws {
    for layout in [ReplayMark.layout, PendingWork.layout, FeedTable.layout, TakenFiles.layout] {
      try database.rows(LayoutFixture(layout: layout, number: 1).sql())
    }
    let connection = try open()
    let mark = ReplayMark(
      path: "/data/other", doneByteCount: 1, doneHash: 2, keptByteCount: 3, keptHash: 4, progress: "[]")
    try connection.writing { () throws(UpsurgeError) in
      try mark.write(connection)
      try PendingWork.record(PendingWork.read(connection, table: "big"), on: connection)
    }
    #expect(try ReplayMark.all(connection).map(\.progress) == ["[]", nil])
    #expect(try PendingWork.read(connection, table: "big").map(\.columns) == [["id", "v"], ["v"]])

    var feed = try #require(try FeedTable.read("members", ownedBy: "", on: connection))
    (feed.table, feed.ownedBy) = ("others", "erp")
    try FeedTable.write(feed, on: connection)
    #expect(try FeedTable.all(connection).map(\.ownedBy) == ["", "", "erp", ""])

    var file = try #require(try TakenFiles.all(of: "stock", on: connection).first)
    file.name += ".again"
    try TakenFiles.add(file, of: "stock", on: connection)
    #expect(try TakenFiles.all(of: "stock", on: connection).count == 3)
  }

  @Test("The mark stays where columns come and go, and in a copy", arguments: LayoutFixture.layouts.indices)
  func mark(index: Int) throws {
    let layout = LayoutFixture.layouts[index]
    try database.rows(layout.creation)
    try database.rows("ALTER TABLE \(layout.name) ADD COLUMN mine")
    try database.rows("ALTER TABLE \(layout.name) RENAME COLUMN mine TO ours")
    try database.rows("ALTER TABLE \(layout.name) DROP COLUMN ours")
    try database.rows("VACUUM INTO '\(scratch.file("copy.db"))'")
    for database in [database, Database(scratch.file("copy.db"))] {
      let text = try #require(
        try database.rows("SELECT sql FROM sqlite_schema WHERE name = '\(layout.name)'").first)
      #expect(text.contains("/* upsurge layout \(layout.number) */"), "\(text)")
    }
  }

  // MARK: - Newer

  /// What finding the table, and writing it, throw.
  private func refusals(_ layout: OwnLayout) throws -> [UpsurgeError] {
    let connection = try open()
    let uses: [() throws -> Void] = [
      { _ = try layout.find(on: connection) }, { _ = try layout.findIfOurs(on: connection) },
      { _ = try layout.find(needing: ["table"], on: connection) },
      { try self.prepare(layout, on: connection) },
    ]
    return uses.compactMap { use in
      do {
        try use()
        return nil
      } catch { return error as? UpsurgeError }
    }
  }

  @Test("A newer layout is refused by name, to read and to write", arguments: LayoutFixture.layouts.indices)
  func newer(index: Int) throws {
    let layout = LayoutFixture.layouts[index]
    try database.rows(layout.creation(saying: "\(layout.number + 1)"))
    let errors = try refusals(layout)
    #expect(errors.count == 4)
    for error in errors {
      #expect(error.code == .guardRefused)
      #expect(
        error.message
          == "the database has a table \(layout.name) of layout \(layout.number + 1), which a newer upsurge has made; "
          + "this one knows it up to layout \(layout.number)")
      #expect(error.hint == "use a newer upsurge, at least the version that wrote that table")
    }
  }

  @Test("The largest number counts, wherever it stands")
  func largest() throws {
    let layout = RowStateTable.layout
    try database.rows(layout.creation)
    try database.rows(
      "ALTER TABLE upsurge_rows ADD COLUMN later TEXT /* upsurge layout \(layout.number + 1) */")
    #expect(try refusals(layout).count == 4)
  }

  @Test(
    "A number that is none is refused by name",
    arguments: LayoutFixture.layouts.indices,
    ["x", "", "0", "-1", "+1", "1x", "1 2", "1.0", "99999999999999999999", "\u{1b}[2J"])
  func rubbish(index: Int, words: String) throws {
    let layout = LayoutFixture.layouts[index]
    try database.rows(layout.creation(saying: words))
    let errors = try refusals(layout)
    #expect(errors.count == 4)
    let start = "the database has a table \(layout.name) that is not Upsurge's: its layout is no number: "
    for error in errors {
      #expect(error.code == .guardRefused && error.message.hasPrefix(start), "\(error.message)")
      #expect(!error.message.contains("\u{1b}") && error.hint?.hasPrefix("rename that table; ") == true)
    }
  }

  @Test("A mark that no comment ends, or that stands elsewhere, is no way around")
  func hidden() throws {
    let layout = RunTable.layout
    let columns =
      "run, state, \"table\", job, files, owner, started_at, updated_at, position, progress, exit_code"
    for text in [
      "CREATE TABLE upsurge_runs(\(columns), x DEFAULT '/* upsurge layout 7 */')",
      "CREATE TABLE upsurge_runs(\(columns) /* upsurge layout 1 */ /* upsurge layout 7 */)",
      "CREATE TABLE upsurge_runs(/* upsurge layout 1\n*/ \(columns))",
    ] {
      try database.rows(text)
      #expect(try refusals(layout).count == 4, "\(text)")
      try database.rows("DROP TABLE upsurge_runs")
    }
  }
}
