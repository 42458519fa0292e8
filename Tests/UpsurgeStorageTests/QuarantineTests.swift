import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeState
@testable import UpsurgeStorage

/// Keeping, superseding and finding records, without a writer around it.
@Suite struct QuarantineTests {
  let database = TemporaryDatabase()

  /// A quarantine for rows of `t`, in a transaction.
  private func quarantine(
    _ connection: Connection, _ columns: [String], _ rules: UpsertRules
  ) throws -> Quarantine {
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let plan = try UpsertPlan(schema: schema, rules: rules, columns: BatchMaker(columns).columns)
    let quarantine = Quarantine(plan, on: connection)
    try quarantine.look()
    return quarantine
  }

  private func supersede(_ quarantine: Quarantine, _ batch: borrowing Batch, _ record: Int) throws {
    if let settlement = try quarantine.settlement(batch, record, isStored: true) {
      try quarantine.apply(settlement)
    }
  }

  private func kept(_ connection: Connection) throws -> [[Value]] {
    try connection.rows("SELECT key, record FROM upsurge_quarantine ORDER BY id")
  }

  @Test func aRecordIsKeptWithAllThatReplayNeeds() throws {
    let connection = try database.open("CREATE TABLE t(id INTEGER PRIMARY KEY, at, v)")
    var rules = UpsertRules(target: .columns(["id"]))
    rules.merge.newer = Merge.Newer(column: "at")
    let quarantine = try quarantine(connection, ["id", "at", "v"], rules)
    #expect(!quarantine.holdsRecords)
    #expect(try connection.rows("SELECT 1 FROM sqlite_schema WHERE name LIKE 'upsurge%'") == [])
    var maker = BatchMaker(["id", "at", "v"])
    let batch = maker.batch([[1, "2024", .absent], ["2", nil, .blob([9])]])
    try quarantine.keep(batch, 1, unknown: [2], file: "in.csv")
    #expect(quarantine.holdsRecords)
    #expect(
      try connection.rows(
        "SELECT id, \"table\", key, key_columns, version, rules, columns, record, file, number, line, byte,"
          + " added_at LIKE '20__-__-__T%Z' FROM upsurge_quarantine") == [
          [
            1, "t", "[2]", #"["id NUMERIC","newer: at BLOB"]"#, nil,
            #"{"key":["id"],"mode":"upsert","newer":"at"}"#, #"["v"]"#,
            #"{"id":"2","at":null,"v":{"$base64":true,"encoded":"CQ=="}}"#, "in.csv", 2, 3, 8, 1,
          ]
        ])
    let page = try QuarantinedRecord.page(connection, after: 0, through: 10, count: 10)
    #expect(page.map(\.id) == [1] && page.map(\.columns) == [["v"]])
    #expect(page.first?.position == Position(file: "in.csv", record: 2, line: 3, byte: 8))
    #expect(try QuarantinedRecord.lastID(connection) == 1)
  }

  /// Which spellings of a key are one row's, by the column's type and collation.
  @Test(
    arguments: [
      ("INTEGER PRIMARY KEY", 7, "7", true), ("INTEGER PRIMARY KEY", 7, " 7 ", true),
      ("INTEGER PRIMARY KEY", 7, 7.0, true), ("TEXT PRIMARY KEY", "007", "7", false),
      ("TEXT PRIMARY KEY", 7, "7", true), ("REAL PRIMARY KEY", 1, "1.0", true), ("PRIMARY KEY", 1, 1.0, true),
      ("PRIMARY KEY", 1, "1", false), ("TEXT COLLATE NOCASE PRIMARY KEY", "Ann", "aNN", true),
      ("TEXT PRIMARY KEY", "Ann", "aNN", false), ("TEXT COLLATE RTRIM PRIMARY KEY", "a  ", "a", true),
      ("PRIMARY KEY", .blob([1]), .blob([1]), true), ("NUMERIC PRIMARY KEY", "1e2", 100, true),
      ("PRIMARY KEY", nil, nil, false), ("INTEGER PRIMARY KEY", "x", "x", true),
      ("INTEGER PRIMARY KEY", "9223372036854775807", .integer(.max), true),
    ] as [(String, Value, Value, Bool)])
  func theLaterRecordTakesThePlaceOfTheSameRows(
    declaration: String, first: Value, second: Value, isSame: Bool
  ) throws {
    let connection = try database.open("CREATE TABLE t(k \(declaration), v)")
    let quarantine = try quarantine(connection, ["k", "v"], UpsertRules(target: .columns(["k"])))
    var maker = BatchMaker(["k", "v"])
    let batch = maker.batch([[first, 1], [second, 2]])
    try quarantine.keep(batch, 0, unknown: [1], file: "f")
    try quarantine.keep(batch, 1, unknown: [1], file: "f")
    #expect(try kept(connection).count == (isSame ? 1 : 2))
    #expect(quarantine.supersededCount == (isSame ? 1 : 0))
    try connection.execute("DELETE FROM upsurge_quarantine")
    try quarantine.keep(batch, 0, unknown: [1], file: "f")
    try supersede(quarantine, batch, 1)
    #expect(try kept(connection).isEmpty == isSame)
  }

  /// A record takes the place of a kept one only when it is not older.
  @Test(
    arguments: [
      (1, 2, false, true), (2, 1, false, false), (1, 1, false, true), (1, 1, true, false), (1, 2, true, true),
      (nil, 1, true, true), (1, nil, false, false), (nil, nil, false, true), (nil, nil, true, false),
      ("9", "10", false, true), ("10", "9", false, false), ("2024-01-02", "2024-01-01", false, false),
      (5, "x", false, true),
    ] as [(Value, Value, Bool, Bool)])
  func theVersionDecides(kept first: Value, arriving: Value, isStrict: Bool, replaces: Bool) throws {
    let connection = try database.open("CREATE TABLE t(k PRIMARY KEY, at NUMERIC)")
    var rules = UpsertRules(target: .columns(["k"]))
    rules.merge.newer = Merge.Newer(column: "at", isStrict: isStrict)
    let quarantine = try quarantine(connection, ["k", "at"], rules)
    var maker = BatchMaker(["k", "at"])
    let batch = maker.batch([["a", first], ["a", arriving], ["b", arriving]])
    try quarantine.keep(batch, 0, unknown: [], file: "f")
    try supersede(quarantine, batch, 2)
    #expect(try kept(connection).count == 1)
    try supersede(quarantine, batch, 1)
    #expect(try kept(connection).isEmpty == replaces)
  }

  @Test func withoutAKeyNothingIsReplaced() throws {
    let connection = try database.open("CREATE TABLE t(k, v)")
    let quarantine = try quarantine(connection, ["k", "v"], UpsertRules())
    var maker = BatchMaker(["k", "v"])
    let batch = maker.batch([[1, 1], [1, 1]])
    for record in 0..<2 { try quarantine.keep(batch, record, unknown: [1], file: "f") }
    try supersede(quarantine, batch, 0)
    #expect(
      try connection.rows("SELECT key, key_columns FROM upsurge_quarantine") == [[nil, nil], [nil, nil]])
  }

  @Test func keysAreReadAnewWhenTheTableHasChanged() throws {
    let connection = try database.open("CREATE TABLE t(k PRIMARY KEY, v)")
    let rules = UpsertRules(target: .columns(["k"]))
    var maker = BatchMaker(["k", "v"])
    let batch = maker.batch([["A", 1], ["7", 1], [7, 1]])
    let first = try quarantine(connection, ["k", "v"], rules)
    for record in 0..<2 { try first.keep(batch, record, unknown: [1], file: "f") }
    try supersede(first, batch, 2)
    #expect(try kept(connection).map { $0[0] } == [#"["A"]"#, #"["7"]"#])
    // Append-only rules have no key whatever the table says.
    try connection.execute(
      """
      INSERT INTO upsurge_quarantine ("table", rules, columns, record) VALUES
        ('T', '{"mode":"insert"}', '[]', '{"k":"a"}'), ('other', '{}', '[]', '{"k":"a"}'),
        ('t', '{}', '[]', '{"k":"b"}'), ('t', '{"key":["K"]}', '[]', '{"k":"c"}'), ('t', '{}', '[]', 'broken');
      DROP TABLE t; CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, v)
      """)
    let second = try quarantine(connection, ["k", "v"], rules)
    #expect(second.holdsRecords)
    #expect(
      try kept(connection).map { $0[0] } == [#"["a"]"#, #"["7"]"#, nil, nil, #"["b"]"#, #"["c"]"#, nil])
    let lower = maker.batch([["a", 2], [7, 2]])
    try supersede(second, lower, 0)
    try supersede(second, lower, 1)
    #expect(try kept(connection).map { $0[0] } == [nil, nil, #"["b"]"#, #"["c"]"#, nil])
  }

  @Test func aTableOfThatNameThatIsNotOursIsLeftAlone() throws {
    let connection = try database.open(
      "CREATE TABLE t(k PRIMARY KEY); CREATE TABLE upsurge_quarantine(id, x)")
    let quarantine = try quarantine(connection, ["k"], UpsertRules(target: .columns(["k"])))
    #expect(!quarantine.holdsRecords)
    var maker = BatchMaker(["k"])
    let batch = maker.batch([[1]])
    do throws(UpsurgeError) {
      try quarantine.keep(batch, 0, unknown: [], file: "f")
      Issue.record("the table was taken")
    } catch {
      #expect(error.code == .guardRefused)
      #expect(
        error.description == """
          the database has a table upsurge_quarantine that is not Upsurge's: it has no column table
            fix: rename that table; records are kept in one of this name
          """)
    }
  }

  @Test func anotherConnectionsRecordsAreSeenWithTheNextTransaction() throws {
    let connection = try database.open("CREATE TABLE t(k PRIMARY KEY, v)")
    let rules = UpsertRules(target: .columns(["k"]))
    let mine = try quarantine(connection, ["k", "v"], rules)
    let other = try Connection(path: database.path, createIfMissing: false)
    var maker = BatchMaker(["k", "v"])
    let batch = maker.batch([[1, 1]])
    let others = Quarantine(
      try UpsertPlan(
        schema: #require(try TableSchema.read(other, table: "t")), rules: rules, columns: maker.columns),
      on: other)
    try others.keep(batch, 0, unknown: [1], file: "f")
    #expect(!mine.holdsRecords)
    try mine.look()
    #expect(mine.holdsRecords)
    try supersede(mine, batch, 0)
    #expect(try kept(connection).isEmpty)
  }

  /// Keys on expressions and of some rows are evaluated as the index does it.
  @Test(
    arguments: [
      ("lower(email)", "", ["ANN@x", "1"], ["ann@X", "0"], true),
      ("lower(email)", "", ["a", "1"], ["b", "1"], false),
      ("email", " WHERE active = 1", ["a", "1"], ["a", "1"], true),
      ("email", " WHERE active = 1", ["a", "0"], ["a", "1"], false),
      ("email", " WHERE active = 1", ["a", "1"], ["a", "0"], false),
      ("lower(email), active + 1", "", ["A", "1"], ["a", "01"], true),
    ] as [(String, String, [String], [String], Bool)])
  func computedKeys(parts: String, predicate: String, first: [String], second: [String], isSame: Bool) throws
  {
    let connection = try database.open(
      "CREATE TABLE t(email TEXT, active INT, v); CREATE UNIQUE INDEX i ON t(\(parts))\(predicate)")
    let quarantine = try quarantine(connection, ["email", "active", "v"], UpsertRules(target: .index("i")))
    var maker = BatchMaker(["email", "active", "v"])
    let rows: [[Value]] = [first, second].map { $0.map { Value.text($0) } + [nil] }
    let batch = maker.batch(rows)
    try quarantine.keep(batch, 0, unknown: [], file: "f")
    try supersede(quarantine, batch, 1)
    #expect(try kept(connection).isEmpty == isSame)
  }

  /// Storing in runs of many rows, keeping and superseding, whatever the cut: as record by record.
  @Test(arguments: 0..<40) func anyCutComesToTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rows: [[Value]] = (0..<200).map { _ in
      let unknown: Value = Int.random(in: 0..<4, using: &random) == 0 ? "x" : nil
      return [
        .integer(Int64.random(in: 0..<40, using: &random)), .integer(Int64.random(in: 0..<3, using: &random)),
        unknown,
      ]
    }
    var seen: Set<[[Value]]> = []
    for cut in [
      Cut(batchSize: 1, rowsPerStatement: 1, commitEvery: 1), Cut(),
      Cut(batchSize: Int.random(in: 2...90, using: &random), rowsPerStatement: 8, commitEvery: 7),
    ] {
      let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
      let ledger = try write(rows, cut, on: connection)
      #expect(ledger.isBalanced && ledger.quarantined == rows.count { $0[2] != nil })
      seen.insert(
        try connection.rows(
          "SELECT k, v, 0 FROM t UNION ALL SELECT key, record, number FROM upsurge_quarantine ORDER BY 3, 1"))
    }
    #expect(seen.count == 1, "seed \(seed)")
  }

  private func write(_ rows: [[Value]], _ cut: Cut, on connection: Connection) throws -> Ledger {
    var maker = BatchMaker(["k", "v", "x"])
    var settings = WriterSettings()
    settings.quarantinesUnknown = true
    settings.statements.rowCount = cut.rowsPerStatement
    settings.commitEvery.records = cut.commitEvery
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let writer = try TableWriter(
      connection: connection,
      plan: UpsertPlan(
        schema: schema, rules: UpsertRules(), columns: maker.columns, toleratesUnknownColumns: true),
      sourceNames: ["in.csv"], settings: settings)
    for start in stride(from: 0, to: rows.count, by: cut.batchSize) {
      var batch = maker.batch(Array(rows[start..<min(start + cut.batchSize, rows.count)]))
      try writer.write(&batch)
    }
    try writer.finish()
    return writer.ledger
  }
}
