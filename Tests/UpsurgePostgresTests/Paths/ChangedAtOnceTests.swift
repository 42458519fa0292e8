import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// Batches of which most rows are expected to change, so that UPDATE comes first.
@Suite("Rows changed at once", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ChangedAtOnceTests {
  /// The records have all columns of the table.
  private static func shape(_ connection: PostgresConnection) throws -> RecordShape {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    return RecordShape(table, key: table.primaryKey, columns: table.columns.map(\.name), rules: OrderedRules())
  }

  @Test("A batch after one that changed most rows is written at once, and counted as any other")
  func changedAtOnce() throws {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE t (id bigint PRIMARY KEY, v text CHECK (v <> 'bad')); INSERT INTO t SELECT g, 'a' FROM generate_series(0, 99) g")
    var writer = DeltaWriter(connection, try Self.shape(connection), slots: [0, 1])
    func stored(_ records: [(key: Int64, value: String)]) throws -> BatchOutcomes {
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of(records.map { [.integer($0.key), .text($0.value)] }))
      #expect(try connection.commit())
      return outcomes
    }
    func table() throws -> String? {
      try connection.run("SELECT string_agg(id || v, ' ' ORDER BY id) FROM t WHERE id < 3 OR id > 147", []).first?.text(0)
    }
    #expect(try stored((0..<100).map { ($0, "b") }) == BatchOutcomes(updated: 100, statementCount: 4))
    #expect(try stored((0..<100).map { ($0, "c") }) == BatchOutcomes(updated: 100, statementCount: 2))
    // Half of it is new, and a tenth is the same: the rows are found by what they are after the change.
    let mixed = try stored((50..<150).map { ($0, $0 < 60 ? "c" : "d") })
    #expect(mixed == BatchOutcomes(inserted: 50, updated: 40, unchanged: 10, statementCount: 4))
    #expect(try table() == "0c 1c 2c 148d 149d")
    // A key that comes twice changes its row twice.
    #expect(try stored((0..<100).map { ($0, "e") }).updated == 100)
    let twice = try stored([(0, "f"), (1, "f"), (0, "g"), (2, "e")])
    #expect(twice == BatchOutcomes(updated: 3, unchanged: 1, statementCount: 5))
    #expect(try table() == "0g 1f 2e 148d 149d")
    #expect(try stored((0..<100).map { ($0, "h") }).updated == 100)
    // The last batch is no promise: a record that is refused is found as before.
    let refused = try stored((0..<100).map { ($0, $0 == 7 ? "bad" : "i") })
    #expect(refused.updated == 99 && refused.rejected.map(\.record) == [7])
    #expect(try table() == "0i 1i 2i 148d 149d")
  }

  @Test(
    "What was changed at once is the same record afterwards, whatever its type is",
    arguments: [
      ["char(5)", "a", "b", "c"], ["varchar(3)", "x", "", "z"], ["text", "a", "A", "ä"], ["smallint", "1", "2", "3"],
      ["double precision", "0.1", "-0", "NaN"], ["real", "0.1", "1e-7", "3.4e38"], ["numeric", "1.10", "-0.1", "NaN"],
      ["numeric(6,2)", "1.234", "1.235", "99"], ["boolean", "t", "f", "true"], ["date", "2024-01-31", "infinity", "0044-03-15 BC"],
      ["timestamp(0)", "2024-01-31 10:00:00.4", "2024-01-31 10:00:00.6", "2024-02-01"],
      ["timestamptz", "2024-01-31 10:00+02", "2024-01-31 09:00+02", "-infinity"], ["time(1)", "10:00:00.14", "10:00:00.26", "11:00"],
      ["uuid", "6f1c1d0e-8d0c-4f8e-9c57-0a3f5a1b2c3d", "00000000-0000-0000-0000-000000000000", "6F1C1D0E8D0C4F8E9C570A3F5A1B2C3D"],
      ["bytea", "\\x00", "\\xff00", "abc"], ["json", #"{"a": 1}"#, #"{"a":1}"#, "[]"], ["jsonb", #"{"a": 1}"#, #"{"b":1}"#, "[]"],
      ["bit(3)", "101", "010", "111"], ["varchar(3)[]", "{a,b}", "{}", "{NULL,c}"], ["interval", "1 day", "25:00", "1 mon"],
      ["inet", "10.0.0.1", "::1", "10.0.0.0/8"], ["point", "(1,2)", "(1,2.5)", "(0,0)"],
    ])
  func types(_ words: [String]) throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, v \(words[0])); INSERT INTO t SELECT g FROM generate_series(0, 49) g")
    var writer = DeltaWriter(connection, try Self.shape(connection), slots: [0, 1])
    func stored(_ value: String) throws -> BatchOutcomes {
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of((0..<50).map { [.integer($0), .text(value)] }))
      #expect(try connection.commit())
      return outcomes
    }
    let first = try stored(words[1])
    #expect(first.updated == 50 && first.statementCount == 4, "\(words[0]): \(first)")
    // Nothing is left to be looked for: two statements, the copy and the UPDATE.
    for value in words[2...] {
      #expect(try stored(value) == BatchOutcomes(updated: 50, statementCount: 2), "\(words[0]) \(value)")
    }
    #expect(try stored(words[3]) == BatchOutcomes(unchanged: 50, statementCount: 4), "\(words[0])")
  }

  @Test(
    "Rows of a partition are changed, and those of a table that inherits are not",
    arguments: [
      "CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY HASH (id);"
        + " CREATE TABLE a PARTITION OF t FOR VALUES WITH (modulus 2, remainder 0);"
        + " CREATE TABLE b PARTITION OF t FOR VALUES WITH (modulus 2, remainder 1)",
      "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heir () INHERITS (t);"
        + " INSERT INTO heir VALUES (3, 'theirs'), (77, 'theirs')",
    ])
  func partitions(ddl: String) throws {
    let connection = try Server.database()
    try connection.run("\(ddl); INSERT INTO t SELECT g, 'a' FROM generate_series(0, 49) g")
    var writer = DeltaWriter(connection, try Self.shape(connection), slots: [0, 1])
    for value in ["b", "c", "d"] {
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of((0..<50).map { [.integer($0), .text(value)] }))
      #expect(try connection.commit())
      #expect(outcomes == BatchOutcomes(updated: 50, statementCount: value == "b" ? 4 : 2))
    }
    let own = ddl.contains("heir") ? "ONLY t" : "t"
    #expect(try connection.texts("SELECT count(*), min(v), max(v) FROM \(own)") == [["50", "d", "d"]])
    if ddl.contains("heir") {
      #expect(try connection.texts("SELECT id, v FROM heir ORDER BY id") == [["3", "theirs"], ["77", "theirs"]])
    }
  }

  @Test("Rows that are others again after the UPDATE make the batch begin again, and that ends")
  func changedBetween() throws {
    let connection = try Server.database()
    // Stands for another session that commits between two statements.
    try connection.run(
      """
      CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'a' FROM generate_series(0, 49) g;
      CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = 'theirs' WHERE v = 'c'; RETURN NULL; END $$;
      CREATE TRIGGER back AFTER UPDATE ON t FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION back()
      """)
    let shape = try Self.shape(connection)
    var writer = DeltaWriter(connection, shape, slots: [0, 1])
    try connection.run("BEGIN")
    #expect(try writer.store(Batch.of((0..<50).map { [.integer($0), .text("b")] })).updated == 50)
    #expect(try connection.commit())
    let mixed = Batch.of((0..<60).map { [.integer($0), .text("c")] })
    try connection.run("BEGIN")
    let failure = Server.failure { try writer.store(mixed) }
    #expect(failure?.kind == .retryTransaction && failure?.sqlState == "40001")
    connection.rollback()
    #expect(try connection.texts("SELECT count(*) FROM t WHERE v = 'b'") == [["50"]])
    // The store takes a new writer for it, which looks first.
    var other = DeltaWriter(connection, shape, slots: [0, 1])
    try connection.run("BEGIN")
    let outcomes = try other.store(mixed)
    #expect(try connection.commit())
    #expect(outcomes.updated == 50 && outcomes.inserted == 10)
  }
}
