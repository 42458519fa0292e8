import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Rows that a snapshot no longer has.
@Suite("Sweeps") struct SweepTests {
  private func settings(
    _ sweep: RowSweep = .hard, scope: String? = nil, most: RowLimit = .percent(100)
  ) -> WriterSettings {
    var rules = SnapshotRules()
    rules.sweep = sweep
    rules.scope = scope
    rules.guards.maximumDeletes = most
    var settings = WriterSettings()
    settings.delivery.snapshot = rules
    return settings
  }

  // MARK: - The same as anew

  @Test(
    "A table that was swept holds what the snapshot alone would have made",
    arguments: SeededGenerator.some(of: 300))
  func snapshots(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let tables = [
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v)", ["k"]), ("CREATE TABLE t(k INTEGER PRIMARY KEY, v)", ["k"]),
      ("CREATE TABLE t(k PRIMARY KEY, v) WITHOUT ROWID", ["k"]),
      ("CREATE TABLE t(k TEXT COLLATE NOCASE, v, PRIMARY KEY (v, k)) WITHOUT ROWID", ["k", "v"]),
      ("CREATE TABLE t(id INTEGER PRIMARY KEY, k UNIQUE, v)", ["k"]),
      ("CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, v)", ["k"]),
      ("CREATE TABLE t(k, v); CREATE UNIQUE INDEX u ON t(k)", ["k"]),
      (
        "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END", ["k"]
      ),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v NOT NULL)", ["k"]),
    ]
    let (table, key) = tables[Int(seed % UInt64(tables.count))]
    let isValueInKey = key.contains("v")
    let isNumber = table.contains("k INTEGER")
    let isSparse = isNumber && Bool.random(using: &random)
    let count = [3, 60, 700].randomElement(using: &random) ?? 3
    let first = (0..<count).map { row($0, isNumber, isSparse) }
    let next = next(after: first, isNumber, isSparse, &random).map { row in
      // A record without a key would keep all rows.
      if isValueInKey && row[1] == .null { return [row[0], .integer(77)] }
      // The same key in another spelling.
      guard case .text(let key) = row[0], table.contains("NOCASE"), Bool.random(using: &random) else {
        return row
      }
      return [.text(key.uppercased()), row[1]]
    }
    let cut = Cut(
      batchSize: [1, 7, 64, 500].randomElement(using: &random) ?? 7, rowsPerStatement: 8,
      commitEvery: [3, 50, 100_000].randomElement(using: &random) ?? 3,
      sortByteCount: Bool.random(using: &random) ? 1 << 20 : 0)
    var given = settings()
    given.delivery.snapshot?.guards.allowsEmpty = true
    given.delivery.snapshot?.guards.leastRatio = 0
    if Bool.random(using: &random) { given.delivery.snapshot?.bitsByteLimit = 1 << 14 }
    let swept = try TemporaryDatabase().open(table)
    _ = try load(swept, "t", ["k", "v"], first, key: key)
    let before = try swept.integer("SELECT count(*) FROM t") ?? 0
    let (writer, _) = try load(swept, "t", ["k", "v"], next, key: key, cut: cut, settings: given)
    let fresh = try TemporaryDatabase().open(table)
    _ = try load(fresh, "t", ["k", "v"], next, key: key)
    #expect(writer.guardRefusal == nil, "seed \(seed)")
    // A row that is there keeps the spelling of its key, and a record that is refused the row.
    let rows = "SELECT lower(k), v FROM t ORDER BY 1, 2"
    if !table.contains("NOT NULL") {
      #expect(try swept.rows(rows) == fresh.rows(rows), "seed \(seed): \(table), \(cut)")
    } else {
      let keys = "SELECT k FROM t ORDER BY 1"
      let refused = try first.filter { old in
        try next.contains { $0[0] == old[0] && $0[1] == .null }
          && fresh.rows("SELECT 1 FROM t WHERE k = \(old[0])").isEmpty
      }
      #expect(
        try swept.rows(keys).count == fresh.rows(keys).count + refused.count, "seed \(seed): \(table), \(cut)"
      )
    }
    let after = try swept.integer("SELECT count(*) FROM t") ?? 0
    #expect(before + Int64(writer.ledger.inserted) - Int64(writer.ledger.swept) == after, "seed \(seed)")
    #expect(try swept.rows("SELECT 1 FROM temp.sqlite_schema").isEmpty)
  }

  private func row(_ number: Int, _ isNumber: Bool, _ isSparse: Bool) -> [Value] {
    let spread = isSparse ? 1_000_003 : 1
    return [
      isNumber ? .integer(Int64(number * spread)) : .text("key \(number)"), .integer(Int64(number % 5)),
    ]
  }

  /// Some rows are gone, some changed, some new, some twice; keys are spelled in another way.
  private func next(
    after rows: [[Value]], _ isNumber: Bool, _ isSparse: Bool, _ random: inout SeededGenerator
  ) -> [[Value]] {
    let share = [0, 3, 50, 100].randomElement(using: &random) ?? 0
    var feed: [[Value]] = []
    for (number, row) in rows.enumerated() {
      if Int.random(in: 0..<100, using: &random) >= share {
        feed.append(row)
        continue
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: break
      case 2: feed.append([row[0], .integer(Int64(number % 5 + 10))])
      case 3: feed += [row, self.row(10_000 + number, isNumber, isSparse)]
      case 4: feed.append([row[0], .null])
      default: feed += [[row[0], .integer(99)], row]
      }
    }
    if Bool.random(using: &random) { feed.shuffle(using: &random) }
    return feed
  }

  @Test("A set of rowids holds what was inserted", arguments: 0..<20)
  func rowids(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let ranges: [ClosedRange<Int64>] = [0...300, -70_000...70_000, .min ... .max, Int64.max - 5...Int64.max]
    let range = ranges[Int(seed) % ranges.count]
    let set = RowidSet(SeenMemory(byteLimit: .max))
    var expected: Set<Int64> = []
    for _ in 0..<500 {
      let rowid = Int64.random(in: range, using: &random)
      set.insert(rowid)
      expected.insert(rowid)
    }
    for _ in 0..<500 {
      let rowid = Int64.random(in: range, using: &random)
      #expect(set.contains(rowid) == expected.contains(rowid), "seed \(seed)")
    }
    var found: [Int64] = []
    set.visit { found.append($0) }
    #expect(found == expected.sorted(), "seed \(seed)")
  }

  @Test("Rowids that lie far apart take no more memory than they may, and give it back")
  func memory() {
    let memory = SeenMemory(byteLimit: 1 << 16)
    do {
      let sets = [RowidSet(memory), RowidSet(memory)]
      let (newCount, count) = sets[0].insert(count: 3) { Int64($0) << 20 }
      #expect(newCount == 3 && count == 3 && !memory.isFull)
      let (moreCount, more) = sets[1].insert(count: 1_000) { Int64($0) << 20 }
      #expect(moreCount == 5 && more == 5 && memory.isFull)
      #expect(sets[0].insert(7 << 20) == nil && sets[0].insert(1) == true && sets[0].insert(1) == false)
    }
    #expect(memory.byteCount == 0 && memory.peakByteCount == 1 << 16)
  }

  // MARK: - Guards

  private static let rows = (0..<100).map { [Value.integer(Int64($0)), .text("v")] }

  typealias GuardCase = (change: @Sendable (inout SnapshotRules) -> Void, count: Int, words: String?)

  private static let guardCases: [GuardCase] = [
    ({ _ in }, 80, "20 of 100 rows of table t are not in the delivery, more than the max-delete of 10%"),
    ({ $0.guards.maximumDeletes = .count(19) }, 80, "more than the max-delete of 19"),
    ({ $0.guards.maximumDeletes = .percent(19.5) }, 80, "more than the max-delete of 19.5%"),
    ({ $0.guards.maximumDeletes = .percent(20) }, 80, nil), ({ $0.guards.maximumDeletes = .count(20) }, 80, nil),
    ({ $0.guards.maximumDeletes = .percent(100) }, 0, "the delivery has no record"),
    ({ $0.guards.allowsEmpty = true }, 0, "100 of 100 rows"),
    ({ ($0.guards.allowsEmpty, $0.guards.maximumDeletes) = (true, .percent(100)) }, 0, nil),
    ({ $0.guards.leastRows = 96 }, 95, "95 records, less than the min-rows of 96"),
    ({ $0.lastCount = 200 }, 95, "the last one had 200"), ({ $0.lastCount = 190 }, 95, nil),
    ({ $0.guards.expectedCount = 96 }, 95, "95 records, and 96 were expected"),
    ({ $0.guards.expectedCount = 95 }, 95, nil),
    ({ $0.guards.suspiciousCounts = [50, 95] }, 95, "exactly 95 records, which suspicious names"),
  ]

  @Test("A guard that speaks lets the records stand and every row stay", arguments: 0..<guardCases.count)
  func guards(index: Int) throws {
    let (change, count, words) = Self.guardCases[index]
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    _ = try load(connection, "t", ["k", "v"], Self.rows)
    var given = settings(most: .percent(10))
    if let rules = given.delivery.snapshot {
      var changed = rules
      change(&changed)
      given.delivery.snapshot = changed
    }
    let feed = Self.rows.prefix(count).map { [$0[0], Value.text("new")] }
    let (writer, _) = try load(connection, "t", ["k", "v"], Array(feed), settings: given)
    let message = writer.guardRefusal?.said.text
    #expect(words.map { message?.contains($0) ?? false } ?? (message == nil), "\(message ?? "swept")")
    #expect(writer.ledger.swept == (words == nil ? UInt64(100 - count) : 0))
    #expect(writer.ledger.updated == UInt64(count))
    #expect(try connection.integer("SELECT count(*) FROM t") == (words == nil ? Int64(count) : 100))
    #expect(try connection.integer("SELECT count(*) FROM t WHERE v = 'new'") == Int64(count))
  }

  @Test("A record that cannot be read may be about any row")
  func unreadable() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    _ = try load(connection, "t", ["k", "v"], Self.rows)
    let (writer, _) = try load(
      connection, "t", ["k", "v"], Array(Self.rows.prefix(99)), settings: settings(), rejecting: [7])
    #expect(writer.guardRefusal?.said.text.contains("1 of 99 records could not be read") == true)
    #expect(try connection.integer("SELECT count(*) FROM t") == 100)
  }

  @Test("Only rows in scope go, and a feed that writes outside of it is refused whole")
  func scope() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, tenant)")
    let rows = (0..<100).map { [Value.integer($0), .integer($0 % 2)] }
    _ = try load(connection, "t", ["k", "tenant"], rows)
    let feed = rows.filter { $0[1] == .integer(1) }.dropLast(3)
    let given = settings(scope: "tenant = 1")
    let (writer, _) = try load(connection, "t", ["k", "tenant"], Array(feed), settings: given)
    #expect(writer.ledger.text == "read 47 unchanged 47 swept 3")
    #expect(
      try connection.rows("SELECT tenant, count(*) FROM t GROUP BY 1") == [
        [.integer(0), .integer(50)], [.integer(1), .integer(47)],
      ])
    for stray in [
      [Value.integer(2), .integer(0)], [.integer(1_000), .integer(0)], [.integer(1_001), .null],
    ] {
      let error = #expect(throws: UpsurgeError.self) {
        _ = try load(
          connection, "t", ["k", "tenant"], Array(feed.dropLast(2)) + [stray], cut: Cut(commitEvery: .max),
          settings: given)
      }
      #expect(error?.code == .guardRefused && error?.message.contains("outside of the scope") == true)
      #expect(try connection.integer("SELECT count(*) FROM t") == 97)
    }
    #expect(throws: UpsurgeError.self) {
      _ = try load(connection, "t", ["k", "tenant"], rows, settings: settings(scope: "1); DROP TABLE t; --"))
    }
  }

  @Test("Rows to which others refer stay, with all that is not in the delivery")
  func references() throws {
    for parent in ["", " DEFERRABLE INITIALLY DEFERRED"] {
      let connection = try TemporaryDatabase().open(
        """
        CREATE TABLE t(k INTEGER PRIMARY KEY, v);
        CREATE TABLE child(t REFERENCES t(k)\(parent));
        """)
      try connection.execute("PRAGMA foreign_keys=ON")
      _ = try load(connection, "t", ["k", "v"], Self.rows)
      try connection.execute("INSERT INTO child VALUES (98)")
      let (writer, _) = try load(
        connection, "t", ["k", "v"], Array(Self.rows.prefix(95)) + [[.integer(200), .null]],
        settings: settings())
      #expect(writer.guardRefusal?.said.text.contains("child") == true, "\(writer.guardRefusal?.said.text ?? "")")
      #expect(writer.ledger.text == "read 96 inserted 1 unchanged 95")
      #expect(try connection.integer("SELECT count(*) FROM t") == 101)
      #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
    }
  }

  @Test(
    "Records that wait for parents in vain keep their rows, in every kind of table",
    arguments: ["", " WITHOUT ROWID"])
  func heldBack(kind: String) throws {
    let connection = try TemporaryDatabase().open(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(k INTEGER PRIMARY KEY, p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)\(kind);
      """)
    let rows = (0..<100).map { [Value.integer($0 * 1_000_003), .integer(1)] }
    _ = try load(connection, "t", ["k", "p"], rows)
    var feed = rows
    feed[90][1] = .integer(77)
    feed.insert([.integer(5), .integer(1)], at: 95)
    var given = settings()
    // Beyond a page, the rows go to the temporary database.
    given.delivery.snapshot?.bitsByteLimit = 1 << 14
    let (writer, rejects) = try load(
      connection, "t", ["k", "p"], Array(feed.dropLast()), cut: Cut(batchSize: 7), settings: given)
    #expect(rejects.count == 1 && writer.guardRefusal == nil, "\(writer.guardRefusal?.said.text ?? "")")
    #expect(writer.ledger.swept == 1 && writer.ledger.inserted == 1)
    #expect(try connection.integer("SELECT count(*) FROM t") == 100)
  }

  @Test("A record that says nothing of its row keeps all rows", arguments: [Value.null, .text("12x")])
  func nameless(key: Value) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    _ = try load(connection, "t", ["k", "v"], Self.rows)
    let feed = Array(Self.rows.prefix(99)) + [[key, .text("v")]]
    let (writer, _) = try load(connection, "t", ["k", "v"], feed, settings: settings())
    // Once, also where the record was refused for its NULL key.
    let refusal = writer.guardRefusal?.said.text ?? ""
    #expect(refusal.contains("1 of 100 records could not be read, or have no key") && writer.ledger.swept == 0, "\(refusal)")
    #expect(try connection.integer("SELECT count(*) FROM t") ?? 0 >= 100)
  }

  @Test("A feed takes no row of another's into its scope, also where it has none itself")
  func stolen() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, tenant)")
    _ = try load(connection, "t", ["k", "tenant"], [[.integer(1), .integer(8)]])
    for tenant: Value in [.integer(7), .integer(8)] {
      let error = #expect(throws: UpsurgeError.self) {
        _ = try load(
          connection, "t", ["k", "tenant"], [[.integer(1), tenant]], settings: settings(scope: "tenant = 7"))
      }
      #expect(error?.message.contains("outside of the scope") == true || tenant == .integer(8))
    }
    // Any number that is not zero is true.
    _ = try load(
      connection, "t", ["k", "tenant"], [[.integer(4), .integer(4)]], settings: settings(scope: "tenant & 4"))
    #expect(
      try connection.rows("SELECT * FROM t ORDER BY 1") == [
        [.integer(1), .integer(8)], [.integer(4), .integer(4)],
      ])
  }

  @Test("Rows that would take delivered ones with them stay")
  func cascade() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(k INTEGER PRIMARY KEY, p REFERENCES t(k) ON DELETE CASCADE)")
    try connection.execute("PRAGMA foreign_keys=ON")
    let rows: [[Value]] = [[.integer(1), .null], [.integer(2), .integer(1)], [.integer(3), .null]]
    _ = try load(connection, "t", ["k", "p"], rows)
    let (writer, _) = try load(connection, "t", ["k", "p"], Array(rows.dropFirst()), settings: settings())
    #expect(writer.guardRefusal != nil && writer.ledger.swept == 0)
    #expect(try connection.integer("SELECT count(*) FROM t") == 3)
  }

  // MARK: - Soft

  @Test(
    "A soft sweep marks rows, and takes the mark back when they come again",
    arguments: [
      ("gone TEXT", "gone IS NULL"), ("gone INTEGER", "gone IS NULL"),
      ("gone INTEGER NOT NULL DEFAULT 0", "gone = 0"),
    ])
  func soft(column: String, isThere: String) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k TEXT PRIMARY KEY, v, \(column))")
    let rows = (0..<50).map { [Value.text("k\($0)"), .integer($0)] }
    let there = "SELECT count(*) FROM t WHERE \(isThere)"
    #expect(try softLoad(connection, rows).text == "read 50 inserted 50")
    #expect(try connection.integer(there) == 50)
    #expect(try softLoad(connection, Array(rows.prefix(46))).text == "read 46 unchanged 46 swept 4")
    #expect(try connection.integer(there) == 46)
    let marks = try connection.rows("SELECT gone FROM t WHERE NOT (\(isThere))")
    #expect(
      marks.count == 4
        && marks.allSatisfy { column.contains("INTEGER") ? $0 == [.integer(1)] : $0[0] != .null })
    // What is marked is not marked again.
    #expect(try softLoad(connection, Array(rows.prefix(46))).text == "read 46 unchanged 46")
    #expect(try softLoad(connection, Array(rows.prefix(48))).text == "read 48 updated 2 unchanged 46")
    #expect(try connection.integer(there) == 48)
    #expect(try connection.integer("SELECT count(*) FROM t") == 50)
  }

  @Test("A mark that only the sweep takes back, as the record is stale, is counted and shown")
  func staleRevival() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(k TEXT PRIMARY KEY, v, gone INTEGER NOT NULL DEFAULT 0)")
    let rows = (0..<50).map { [Value.text("k\($0)"), .integer(5)] }
    _ = try softLoad(connection, rows)
    _ = try softLoad(connection, Array(rows.prefix(46)))
    let shown = Shown()
    var rules = UpsertRules(merge: Merge(.replace))
    rules.merge.newer = Merge.Newer(column: "v")
    rules.softColumn = "gone"
    var maker = BatchMaker(["k", "v"])
    let plan = try UpsertPlan(
      schema: #require(try TableSchema.read(connection, table: "t")), rules: rules, columns: maker.columns)
    let writer = try TableWriter(
      connection: connection, plan: plan, sourceNames: ["in.csv"],
      settings: settings(.soft(column: "gone"), most: .percent(10)), observer: shown)
    var batch = maker.batch(rows.map { [$0[0], .integer(4)] })
    try writer.write(&batch)
    try writer.sweep()
    try writer.finish()
    #expect(writer.ledger.text == "read 50 stale 50" && writer.revivedCount == 4)
    #expect(try connection.integer("SELECT sum(gone) FROM t") == 0)
    #expect(shown.updates.count == 4)
    for (before, after) in shown.updates {
      #expect(before.last == .integer(1) && after == before.dropLast() + [.integer(0)])
    }
  }

  /// Keeps the updates that it is shown.
  private final class Shown: RecordObserver {
    var updates: [(before: [SQLValue], after: [SQLValue])] = []

    func observe(
      _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
    ) throws(UpsurgeError) {
      if outcome == .updated, let before, let after { updates.append((before, after)) }
    }
  }

  @Test("A column of the primary key says of no row that it is gone") func markInKey() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(gone PRIMARY KEY, k UNIQUE, v)")
    let error = #expect(throws: UpsurgeError.self) {
      _ = try softLoad(connection, [[.text("a"), .integer(1)]])
    }
    #expect(error?.code == .usage && error?.message.contains("primary key") == true)
  }

  private func softLoad(_ connection: Connection, _ rows: [[Value]]) throws -> Ledger {
    var rules = UpsertRules()
    rules.softColumn = "gone"
    var maker = BatchMaker(["k", "v"])
    guard let schema = try TableSchema.read(connection, table: "t") else { throw MissingFile(path: "t") }
    let plan = try UpsertPlan(schema: schema, rules: rules, columns: maker.columns)
    let writer = try TableWriter(
      connection: connection, plan: plan, sourceNames: ["in.csv"],
      settings: settings(.soft(column: "gone"), most: .percent(10)))
    var batch = maker.batch(rows)
    try writer.write(&batch)
    try writer.sweep()
    try writer.finish()
    #expect(writer.guardRefusal == nil)
    return writer.ledger
  }

  // MARK: - Untouched

  @Test("A snapshot that changes nothing writes nothing", arguments: ["", " WITHOUT ROWID"])
  func nothing(kind: String) throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k TEXT PRIMARY KEY, v)\(kind)")
    let rows = (0..<2_000).map { [Value.text("k\($0)"), .integer($0)] }
    _ = try load(connection, "t", ["k", "v"], rows)
    let before = database.walByteCount
    let (writer, _) = try load(connection, "t", ["k", "v"], rows, settings: settings())
    #expect(writer.ledger.text == "read 2000 unchanged 2000")
    #expect(database.walByteCount == before)
  }
}
