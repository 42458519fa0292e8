import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("A table that a run makes", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct NewTableTests {
  private static let table = NewTable(
    schema: "public", name: "orders",
    columns: [.init("id", "bigint"), .init("v", "text COLLATE \"C\""), .init("n", "integer CHECK (n < 90)"), .init("j", "jsonb")], key: ["id"],
    indexes: [.init(["v"])])

  /// Stores batches, each in a transaction of its own, and ends the table.
  private static func run(
    _ batches: [[[TestValue]]], _ connection: PostgresConnection, _ table: NewTable = table
  ) throws -> (BatchOutcomes, NewTableWriter.Ending) {
    var sum = BatchOutcomes()
    var before = 0
    let capabilities = try Capabilities(of: connection)
    func begin() throws -> NewTableWriter {
      try connection.run("BEGIN")
      return try NewTableWriter(
        connection, table, columns: table.columns.map(\.name), rules: OrderedRules(), capabilities,
        slots: Array(table.columns.indices))
    }
    for records in batches {
      // As a process that begins anew.
      var writer = try begin()
      let outcomes = try writer.store(Batch.of(records))
      #expect(try connection.commit())
      sum.inserted += outcomes.inserted
      sum.updated += outcomes.updated
      sum.unchanged += outcomes.unchanged
      sum.rejected += outcomes.rejected.map { .init(record: $0.record + before, cause: $0.cause) }
      before += records.count
      // Nobody sees it before its end.
      #expect(try connection.texts("SELECT to_regclass('\(table.name)')") == [[nil]])
    }
    let writer = try begin()
    let ending = try writer.finish()
    #expect(try connection.commit())
    return (sum, ending)
  }

  private static func record(_ id: Int64?, _ v: String, _ n: Int64 = 1, _ json: String = "{}") -> [TestValue] {
    [id.map { .integer($0) } ?? .null, .text(v), .integer(n), .text(json)]
  }

  @Test("It has its name and its key when all rows are there")
  func complete() throws {
    let connection = try Server.database()
    var batches: [[[TestValue]]] = []
    for batch in 0..<3 {
      batches.append((0..<500).map { (index: Int) -> [TestValue] in Self.record(Int64(index * 7919 % 500 * 3 + batch), "v\(index)") })
    }
    let (outcomes, ending) = try Self.run(batches, connection)
    #expect(ending == .complete && outcomes.inserted == 1500)
    let table = try #require(try PostgresTable.read(name: "orders", connection))
    #expect(table.primaryKey?.name == "orders_pkey" && table.primaryKey?.columns == ["id"])
    #expect(try connection.texts("SELECT indexname FROM pg_indexes WHERE tablename = 'orders' ORDER BY 1") == [["orders_pkey"], ["orders_v_idx"]])
    #expect(try connection.texts("SELECT count(*), sum(id) FROM orders") == [["1500", "\(1499 * 750)"]])
    #expect(try connection.texts("SELECT to_regclass('upsurge_new_orders')") == [[nil]])
  }

  @Test("Bad records are rejected while it has no key")
  func rejects() throws {
    let connection = try Server.database()
    let batches = [
      (0..<100).map { Self.record($0, "v") }, [Self.record(nil, "v"), Self.record(100, "v", 95), Self.record(101, "v", 1, "{"), Self.record(102, "v")],
      (200..<300).map { Self.record($0, "v", $0 % 10 == 0 ? 99 : 1) },
    ]
    let (outcomes, ending) = try Self.run(batches, connection)
    #expect(ending == .complete && outcomes.inserted == 191)
    #expect(outcomes.rejected.map(\.record) == [100, 101, 102] + stride(from: 104, to: 204, by: 10))
    #expect(outcomes.rejected.first?.cause == .nullKey(column: "id"))
    #expect(try connection.texts("SELECT count(*) FROM orders") == [["191"]])
  }

  @Test("A key that comes twice makes the run begin again, as if the table had always had its key")
  func keyComesTwice() throws {
    let connection = try Server.database()
    let batches = [(0..<100).map { Self.record($0, "a") }, (90..<200).map { Self.record($0, $0 < 95 ? "a" : "b") }]
    #expect(try Self.run(batches, connection).1 == .keyComesTwice)
    #expect(try connection.texts("SELECT count(*) FROM upsurge_new_orders") == [["0"]])
    let (outcomes, ending) = try Self.run(batches, connection)
    #expect(ending == .complete)
    #expect(outcomes.inserted == 200 && outcomes.updated == 5 && outcomes.unchanged == 5)
    #expect(try connection.texts("SELECT count(*), count(*) FILTER (WHERE v = 'b') FROM orders") == [["200", "105"]])
    #expect(try PostgresTable.read(name: "orders", connection)?.primaryKey?.name == "orders_pkey")
  }

  @Test("Key and indexes are built in 256 MB, or in more where the server has more, and only they")
  func sortMemory() throws {
    let connection = try Server.database()
    try connection.run(
      """
      CREATE TABLE seen (tag text, memory text);
      CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO seen VALUES (tg_tag, current_setting('maintenance_work_mem')); END $$;
      CREATE EVENT TRIGGER note ON ddl_command_end WHEN TAG IN ('ALTER TABLE', 'CREATE INDEX') EXECUTE FUNCTION note()
      """)
    for (own, used) in [("32MB", "256MB"), ("1GB", "1GB")] {
      try connection.run("SET maintenance_work_mem = '\(own)'; TRUNCATE seen")
      var table = Self.table
      table.name = "orders_\(own.lowercased())"
      #expect(try Self.run([[Self.record(1, "v")]], connection, table).1 == .complete)
      // The key, the name, the index.
      #expect(
        try connection.texts("SELECT tag, memory, count(*) FROM seen GROUP BY 1, 2 ORDER BY 1")
          == [["ALTER TABLE", used, "2"], ["CREATE INDEX", used, "1"]])
      #expect(try connection.texts("SHOW maintenance_work_mem") == [[own]])
    }
  }

  @Test("Names: long ones have one of their own, taken ones are left to the server")
  func names() throws {
    let connection = try Server.database()
    var table = Self.table
    table.name = String(repeating: "a", count: 60)
    var other = table
    other.name = String(repeating: "a", count: 59) + "b"
    #expect(table.ownName != other.ownName && table.ownName.utf8.count <= 63)
    #expect(try Self.run([[Self.record(1, "v")]], connection, table).1 == .complete)
    try connection.run("CREATE TABLE orders_pkey ()")
    #expect(try Self.run([[Self.record(1, "v")]], connection).1 == .complete)
    // A table without a key has nothing to hold.
    table.name = "keyless"
    table.key = []
    let (outcomes, ending) = try Self.run([[Self.record(1, "v"), Self.record(1, "v")]], connection, table)
    #expect(ending == .complete && outcomes.inserted == 2)
  }
}
