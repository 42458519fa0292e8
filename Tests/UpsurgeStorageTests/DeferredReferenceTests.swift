import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Foreign keys that are looked at when the transaction ends.
@Suite struct DeferredReferenceTests {
  private static let tree =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id), n); INSERT INTO t VALUES(1, NULL, 'root'),(2, 1, 'old');"

  private func load(
    _ setup: String, _ rows: [[Value]], isDeferred: Bool = true, commitEvery: Int = 1000,
    onError: ErrorPolicy = .reject
  ) throws(UpsurgeError) -> (ledger: String, rejects: [String], rows: [[Value]]) {
    let connection = try TemporaryDatabase().open(setup)
    var settings = WriterSettings()
    settings.defersForeignKeys = isDeferred
    var cut = Cut()
    cut.commitEvery = commitEvery
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "up", "n"], rows, key: ["id"], cut: cut, onError: onError, settings: settings)
    #expect(writer.ledger.isBalanced)
    let broken = try connection.rows("PRAGMA foreign_key_check")
    #expect(broken.isEmpty)
    return (writer.ledger.text, rejects.map(\.line), try connection.rows("SELECT * FROM t ORDER BY id"))
  }

  @Test func aParentMayComeLater() throws {
    let outcome = try load(Self.tree, [[5, 6, "child"], [6, 1, "parent"], [2, 5, "new"]])
    #expect(outcome.ledger == "read 3 inserted 2 updated 1")
    #expect(outcome.rows == [[1, nil, "root"], [2, 5, "new"], [5, 6, "child"], [6, 1, "parent"]])
  }

  @Test func aRecordWhoseParentNeverComesIsRejectedAndItsRowIsAsBefore() throws {
    let outcome = try load(
      Self.tree, [[5, 9, "orphan"], [2, 9, "changed"], [7, 5, "of the orphan"], [8, 2, "fine"]])
    #expect(outcome.ledger == "read 4 inserted 1 rejected 3")
    #expect(
      outcome.rejects == [
        "1 foreign-key up: the record refers by (up) to t (id), which has no such row",
        "2 foreign-key up: the record refers by (up) to t (id), which has no such row",
        "3 foreign-key up: the record refers by (up) to t (id), which has no such row",
      ])
    #expect(outcome.rows == [[1, nil, "root"], [2, 1, "old"], [8, 2, "fine"]])
  }

  @Test func theLastRecordOfARowDecides() throws {
    let healed = try load(Self.tree, [[2, 9, "open"], [2, 1, "healed"]])
    #expect(healed.ledger == "read 2 updated 2")
    let broken = try load(Self.tree, [[2, 1, "first"], [2, 9, "second"], [2, 8, "third"]])
    #expect(broken.ledger == "read 3 updated 1 rejected 2")
    #expect(broken.rows == [[1, nil, "root"], [2, 1, "first"]])
  }

  @Test(
    "A row that refers to itself, by a record that does not speak of that: nothing open is committed",
    arguments: [true, false])
  func aPartialRecordOfARowThatRefersToItself(isDeferred: Bool) throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, c TEXT UNIQUE, p TEXT REFERENCES t(c)\(isDeferred ? "" : " DEFERRABLE INITIALLY DEFERRED"), v INT)"
    )
    var settings = WriterSettings()
    settings.defersForeignKeys = isDeferred
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "c", "p", "v"],
      [[12, "e", "e", 3], [1, "f", "a", 1], [12, "e", .absent, 1]],
      key: ["id"], onError: .reject, settings: settings)
    #expect(writer.ledger.text == "read 3 inserted 1 updated 1 rejected 1")
    #expect(rejects.count == 1)
    #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
    #expect(try connection.rows("SELECT * FROM t") == [[12, "e", "e", 1]])
  }

  @Test(
    "A record that only changes what its own row refers to is to blame for that",
    arguments: [
      // The row was its own parent before.
      ("'e'", [[1, "a", nil, 1], [12, "f", .absent, 2]], "read 2 inserted 1 rejected 1", [2]),
      ("'e'", [[12, "f", .absent, 2], [13, "e", nil, 2]], "read 2 inserted 1 updated 1", []),
      ("'e'", [[12, "f", "f", 2]], "read 1 updated 1", []),
      // Another record has opened it.
      ("NULL", [[12, "e", "z", 1], [12, "g", .absent, 2]], "read 2 updated 1 rejected 1", [1]),
      ("NULL", [[12, "e", "e", 1], [12, "g", .absent, 2]], "read 2 updated 1 rejected 1", [2]),
    ] as [(String, [[Value]], String, [UInt64])])
  func aRowThatWasItsOwnParent(
    parent: String, rows: [[Value]], ledger: String, rejected: [UInt64]
  ) throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, c TEXT UNIQUE, p TEXT REFERENCES t(c), v INT); "
        + "INSERT INTO t VALUES(12, 'e', \(parent), 3)")
    var settings = WriterSettings()
    settings.defersForeignKeys = true
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "c", "p", "v"], rows, key: ["id"], onError: .reject, settings: settings)
    #expect(writer.ledger.text == ledger)
    #expect(rejects.compactMap(\.position.record) == rejected)
    #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
  }

  @Test func anInitiallyDeferredKeyIsFollowedWithoutBeingAsked() throws {
    let setup =
      "CREATE TABLE p(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO p VALUES(1, 'x');"
      + "CREATE TABLE t(id TEXT PRIMARY KEY, up INTEGER, n, FOREIGN KEY (up, n) REFERENCES p DEFERRABLE INITIALLY DEFERRED) WITHOUT ROWID;"
    let outcome = try load(
      setup, [["a", 1, "x"], ["b", 1, "y"], ["c", nil, "y"]], isDeferred: false, commitEvery: 2)
    #expect(outcome.ledger == "read 3 inserted 2 rejected 1")
    #expect(
      outcome.rejects == [
        "2 foreign-key up, n: the record refers by (up, n) to p (a, b), which has no such row"
      ])
    #expect(outcome.rows == [["a", 1, "x"], ["c", nil, "y"]])
  }

  @Test func stopNamesTheRecord() throws {
    do throws(UpsurgeError) {
      _ = try load(Self.tree, [[5, 9, "orphan"]], onError: .stop)
      Issue.record("the orphan was stored")
    } catch {
      #expect(error.position?.record == 1)
      #expect(error.code == .badInput)
    }
  }

  // MARK: - One transaction

  private static let parents = """
    CREATE TABLE par(p INTEGER PRIMARY KEY); INSERT INTO par VALUES(1);
    CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT UNIQUE, p INTEGER REFERENCES par(p) DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO t VALUES(1, 'a', 1);
    """

  private func merge(
    _ rows: [[Value]], rule: MergeRule = .replace, maximumRejects: UInt64? = nil
  ) throws -> (ledger: String, rejects: [String], rows: [[Value]], error: UpsurgeError?) {
    let connection = try TemporaryDatabase().open(Self.parents)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var maker = BatchMaker(["id", "u", "p"])
    var rules = UpsertRules()
    rules.merge = Merge(rule)
    let plan = try UpsertPlan(schema: schema, rules: rules, columns: maker.columns)
    var settings = WriterSettings()
    settings.onError = .reject
    settings.maximumRejects = maximumRejects
    let kept = Kept()
    let writer = try TableWriter(connection: connection, plan: plan, sourceNames: ["in"], settings: settings)
    { (reject) throws(UpsurgeError) in kept.rejects.append(reject) }
    var error: UpsurgeError?
    do throws(UpsurgeError) {
      var batch = maker.batch(rows)
      try writer.write(&batch)
      try writer.finish()
    } catch let thrown { error = thrown }
    let codes = kept.rejects.map { "\($0.position.record ?? 0) \($0.code.rawValue)" }
    return (writer.ledger.text, codes, try connection.rows("SELECT * FROM t ORDER BY id"), error)
  }

  @Test func aLaterRecordOfTheSameRowIsStored() throws {
    let changed = try merge([[1, "b", 99], [1, "c", nil]], rule: .coalesce)
    #expect(changed.rejects == ["1 foreign-key"])
    #expect(changed.rows == [[1, "c", 1]])
    let new = try merge([[5, "b", 99], [5, "c", nil]], rule: .coalesce)
    #expect(new.rejects == ["1 foreign-key"])
    #expect(new.rows == [[1, "a", 1], [5, "c", nil]])
  }

  @Test func whatAnOpenRecordGaveAwayIsTakenAgain() throws {
    let outcome = try merge([[1, "b", 99], [2, "a", 1]])
    #expect(outcome.error == nil)
    #expect(outcome.rejects == ["1 foreign-key", "2 unique"])
    #expect(outcome.rows == [[1, "a", 1]])
  }

  @Test func whatAnOpenRecordTookIsFreeAgain() throws {
    let outcome = try merge([[5, "b", 99], [6, "b", 1]])
    #expect(outcome.ledger == "read 2 inserted 1 rejected 1")
    #expect(outcome.rejects == ["1 foreign-key"])
    #expect(outcome.rows == [[1, "a", 1], [6, "b", 1]])
  }

  @Test func rejectsComeInInputOrder() throws {
    let outcome = try merge([[1, "b", 98], [7, "a", 1], [8, "a", 1], [1, "c", 99], [9, nil, 97]])
    #expect(outcome.rejects == ["1 foreign-key", "2 unique", "3 unique", "4 foreign-key", "5 foreign-key"])
    #expect(outcome.rows == [[1, "a", 1]])
  }

  @Test func onlyRejectsInTheEndCountAgainstTheirLimit() throws {
    // The second record fails only because the first is there.
    let within = try merge([[5, "b", 99], [6, "b", 1]], maximumRejects: 1)
    #expect(within.error == nil)
    let beyond = try merge([[5, "b", 99], [6, "c", 98]], maximumRejects: 1)
    #expect(beyond.error?.message.hasPrefix("more than 1 record was rejected (") == true)
    #expect(beyond.error?.position?.record == 2)
    #expect(beyond.rows == [[1, "a", 1]])
  }

  /// The order in which the links of a chain come.
  enum Order: CaseIterable { case forwards, backwards, random }

  private static func ids(_ count: Int64, _ order: Order) -> [Int64] {
    var generator = SeededGenerator(seed: 7)
    switch order {
    case .forwards: return Array(1...count)
    case .backwards: return (1...count).reversed()
    case .random: return (1...count).shuffled(using: &generator)
    }
  }

  @Test(arguments: Order.allCases, ["", "ON DELETE CASCADE ON UPDATE CASCADE", "ON DELETE SET NULL"])
  func longChainsOfOrphansAreFoundAtOnce(_ order: Order, action: String) throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id) \(action), n); CREATE INDEX up ON t(up)"
    )
    var settings = WriterSettings()
    settings.defersForeignKeys = true
    let rows = Self.ids(3000, order).map { (id: Int64) -> [Value] in [.integer(id), .integer(id - 1), nil] }
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "up", "n"], rows, key: ["id"], settings: settings)
    #expect(writer.ledger.text == "read 3000 rejected 3000")
    #expect(rejects.map(\.position.record) == (1...3000).map { $0 })
    #expect(try connection.rows("SELECT * FROM t") == [])
    #expect(writer.stages.references?.settlementRoundCount == 1)
    // When it is stored, when it is accused, and for its parent; a good measure of the time that does not wobble.
    let lookCount = try #require(writer.stages.references?.references?.lookCount)
    #expect(lookCount <= 3 * rows.count, "\(lookCount)")
  }

  @Test(arguments: Order.allCases, ["", "ON DELETE CASCADE"])
  func chainsAreFollowedPastWhatIsThereAlready(_ order: Order, action: String) throws {
    // Beside each link: a row that is made to refer to it, one that stays as it is, and one that is refused.
    let count: Int64 = 700
    let connection = try TemporaryDatabase().open(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id) \(action), n CHECK (n IS NOT 9));
      CREATE INDEX up ON t(up);
      WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < \(count))
      INSERT INTO t SELECT 10000 + n, NULL, 1 FROM i UNION ALL SELECT 20000 + n, NULL, 1 FROM i;
      """)
    let before = try connection.rows("SELECT * FROM t ORDER BY id")
    var settings = WriterSettings()
    settings.defersForeignKeys = true
    let rows = Self.ids(count, order).flatMap { (id: Int64) -> [[Value]] in
      [
        [.integer(id), .integer(id - 1), 1], [.integer(10000 + id), .integer(id), 1],
        [.integer(20000 + id), nil, 1], [.integer(30000 + id), nil, 9],
      ]
    }
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "up", "n"], rows, key: ["id"], settings: settings)
    #expect(writer.ledger.text == "read 2800 unchanged 700 rejected 2100")
    #expect(rejects.count { $0.code == .foreignKey } == 1400)
    #expect(try connection.rows("SELECT * FROM t ORDER BY id") == before)
    #expect(try #require(writer.stages.references).settlementRoundCount <= 2)
  }

  @Test func chainsThatCannotBeFollowedEndTheRunWithAHintThatHelps() throws {
    // A trigger may do anything.
    let setup =
      "CREATE TABLE t(id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id), n); CREATE INDEX up ON t(up);"
      + "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END"
    let rows = Self.ids(502, .forwards).map { (id: Int64) -> [Value] in [.integer(id), .integer(id - 1), nil]
    }
    for (commitEvery, hint) in [
      (1000, "load the referenced rows first"),
      (502, "load the referenced rows first, or let one transaction hold them all (--atomic)"),
    ] {
      do throws(UpsurgeError) {
        _ = try load(setup, rows, commitEvery: commitEvery)
        Issue.record("the chain was followed")
      } catch { #expect(error.hint == hint) }
    }
  }

  @Test(arguments: [("id TEXT", "up INTEGER", "'01'"), ("id INTEGER", "up TEXT", "1")])
  func aParentIsFoundAsSQLiteFindsIt(parent: String, child: String, id: String) throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE q(\(parent) PRIMARY KEY); INSERT INTO q VALUES(\(id)); CREATE TABLE t(id INTEGER PRIMARY KEY, \(child) REFERENCES q)"
    )
    var settings = WriterSettings()
    settings.defersForeignKeys = true
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "up"], [[1, 1], [2, 2], [3, nil]], key: ["id"], settings: settings)
    let isText = parent == "id TEXT"
    #expect(rejects.map(\.position.record) == (isText ? [1, 2] : [2]))
    #expect(writer.ledger.text == (isText ? "read 3 inserted 1 rejected 2" : "read 3 inserted 2 rejected 1"))
  }

  @Test func aLinkOfAChainIsOneLookUp() throws {
    let held = try HeldRecords(ReferenceSetters.tables(identityCount: 1))
    let setters = try ReferenceSetters(held, identityCount: 1)
    let closure = try ReferenceClosure(held, identityCount: 1)
    let ids = Self.ids(2000, .random)
    for (ordinal, id) in ids.enumerated() {
      let setter = ReferenceSetters.Culprit(ordinal: Int64(ordinal), key: 0)
      try setters.note(
        [.integer(id)], key: 0, ordinal: setter.ordinal, isOpen: id == 1, hasMoved: false, isNew: true)
      if id == 1 { try setters.add(setter) }
      try closure.note(parent: [.integer(id - 1)], of: [.integer(id)], setter, isAlone: true)
    }
    try closure.follow(stopsAtChanges: true, includesChanged: true)
    for ordinal in ids.indices.map(Int64.init) {
      #expect(try setters.culprit(from: ordinal)?.ordinal == ordinal)
    }
    for statement in [closure.expand, closure.changing] {
      let stepCount = Int(sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_VM_STEP, 0))
      #expect(stepCount <= 200 * ids.count, "\(statement.sql)")
    }
  }

  @Test func columnsThatCameMeanwhileStay() throws {
    let connection = try TemporaryDatabase().open(Self.tree)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var maker = BatchMaker(["id", "up"])
    let plan = try UpsertPlan(schema: schema, key: ["id"], columns: maker.columns)
    var settings = WriterSettings()
    settings.onError = .reject
    settings.defersForeignKeys = true
    settings.addsColumns = true
    let kept = Kept()
    let writer = try TableWriter(connection: connection, plan: plan, sourceNames: ["in"], settings: settings)
    { (reject) throws(UpsurgeError) in kept.rejects.append(reject) }
    var batch = maker.batch([[5, 6], [7, 9]], rejecting: [])
    try writer.write(&batch)
    var more = BatchMaker(["x", "id"])
    more.number = maker.number
    try writer.setColumns(more.columns)
    var next = more.batch([["new", 6], ["newer", 1]])
    try writer.write(&next)
    try writer.finish()
    #expect(kept.rejects.map { $0.position.record } == [2])
    #expect(
      try connection.rows("SELECT id, up, x FROM t ORDER BY id") == [
        [1, nil, "newer"], [2, 1, nil], [5, 6, nil], [6, nil, "new"],
      ])
  }
}
