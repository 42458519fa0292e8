import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// A path, as tests name it.
enum TestedPath: String, CaseIterable {
  case ordered, delta, walk, append, unnest, chosen

  /// Whether the path is right for a table.
  func fits(_ shape: RecordShape, _ capabilities: Capabilities) -> Bool {
    let choice = PathChoice(shape, capabilities)
    return switch self {
    case .ordered, .unnest: !OrderedScenario.lacksNeeded(shape)
    case .delta: choice.base.path == .delta
    case .walk: choice.base.path == .delta && choice.walkObjection == nil
    case .append: choice.appendObjection == nil
    case .chosen: true
    }
  }

  func needsSnapshot(_ shape: RecordShape, _ capabilities: Capabilities) -> Bool {
    switch self {
    case .ordered, .unnest: OrderedPlan(shape, capabilities).needsSnapshot
    case .delta, .walk: false
    case .append:
      PathChoice(shape, capabilities).base.path != .delta && OrderedPlan(shape, capabilities).needsSnapshot
    case .chosen: false
    }
  }
}

/// A writer of any path.
struct PathStore: ~Copyable {
  private var ordered: OrderedWriter?
  private var delta: DeltaWriter?
  private var walk: WalkWriter?
  private var append: AppendWriter?
  private var unnest: UnnestWriter?
  private var chosen: PathWriter?
  let needsSnapshot: Bool

  init(
    _ path: TestedPath, _ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities
  ) {
    let slots = Array(shape.columns.indices)
    var needsSnapshot = path.needsSnapshot(shape, capabilities)
    switch path {
    case .ordered: ordered = OrderedWriter(connection, OrderedPlan(shape, capabilities), slots: slots)
    case .delta: delta = DeltaWriter(connection, shape, slots: slots)
    case .walk: walk = WalkWriter(connection, shape, slots: slots)
    case .append: append = AppendWriter(connection, shape, capabilities, slots: slots)
    case .unnest: unnest = UnnestWriter(connection, shape, capabilities, slots: slots)
    case .chosen:
      let writer = PathWriter(connection, shape, capabilities, slots: slots)
      needsSnapshot = writer.needsSnapshot
      chosen = consume writer
    }
    self.needsSnapshot = needsSnapshot
  }

  mutating func store(_ batch: borrowing Batch) throws -> BatchOutcomes {
    var savepoints = Savepoints.unbounded
    return try store(batch, nil, &savepoints)
  }

  /// Stores a part as the store does.
  mutating func store(_ part: BatchPart, of batch: borrowing Batch) throws -> BatchOutcomes {
    if let rejected = part.rejected { return BatchOutcomes(rejected: [rejected]) }
    var savepoints = part.savepoints
    return try store(batch, part.records.map { Int32($0) }, &savepoints)
  }

  private mutating func store(
    _ batch: borrowing Batch, _ only: [Int32]?, _ savepoints: inout Savepoints
  ) throws -> BatchOutcomes {
    if let outcomes = try ordered?.store(batch, only: only, within: &savepoints) { return outcomes }
    if let outcomes = try delta?.store(batch, only: only, within: &savepoints) { return outcomes }
    if let outcomes = try walk?.store(batch, only: only, within: &savepoints) { return outcomes }
    if let outcomes = try append?.store(batch, only: only, within: &savepoints) { return outcomes }
    if let outcomes = try unnest?.store(batch, only: only, within: &savepoints) { return outcomes }
    return try #require(try chosen?.store(batch, only: only, within: &savepoints))
  }
}

extension OrderedScenario {
  static func lacksNeeded(_ shape: RecordShape) -> Bool {
    shape.table.columns.contains { column in
      column.isNotNull && column.defaultExpression == nil && column.generation == nil
        && !shape.columns.contains { $0.name == column.name }
    }
  }

  func shape(_ connection: PostgresConnection) throws -> RecordShape {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let key = index.flatMap { name in table.uniqueIndexes.first { $0.name == name } } ?? table.primaryKey
    return RecordShape(table, key: key, columns: columns.map(\.name), rules: rules)
  }

  /// Stores records in batches.
  /// - Returns: nil where the path is not for the table.
  func store(
    _ records: [Record], batchSize: Int, by path: TestedPath, _ connection: PostgresConnection,
    _ capabilities: Capabilities
  ) throws -> (result: Result, states: [String])? {
    let shape = try shape(connection)
    guard path.fits(shape, capabilities) else { return nil }
    var store = PathStore(path, connection, shape, capabilities)
    var stored = StoredRecords()
    for first in stride(from: 0, to: records.count, by: batchSize) {
      let part = records[first..<min(first + batchSize, records.count)]
      let batch = Batch.of(part.map { $0.map { $0.map { .text($0) } ?? .null } })
      try connection.run(store.needsSnapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN")
      let outcomes = try store.store(batch)
      try #require(try connection.commit())
      stored.add(outcomes, first: first)
    }
    return (stored.result, stored.states)
  }

  /// Tables that only the other paths have something to say about.
  static let forPaths: [OrderedScenario] = [
    OrderedScenario(
      name: "a key of two parts, and a sequence",
      ddl: "CREATE TABLE t (n bigint, s text COLLATE \"C\", v text, serial serial, PRIMARY KEY (n, s))",
      columns: [
        Column(name: "v", type: "text", good: ["x", "y", nil]),
        Column(
          name: "s", type: "text", good: ["", "a", "ab", "ä", "abcdefgh", "abcdefghi", "B"], bad: [nil]),
        Column(name: "n", type: "bigint", good: ["-1", "0", "1", "300"], bad: ["x", nil]),
      ], match: "t.n = excluded.n AND t.s = excluded.s", keyColumns: ["n", "s"]),
    OrderedScenario(
      name: "a key of days and bytes",
      ddl: "CREATE TABLE t (d date, b bytea, f bool, v numeric(6,2) CHECK (v >= 0), PRIMARY KEY (d, b, f))",
      columns: [
        Column(
          name: "d", type: "date",
          good: ["1999-12-31", "2000-01-01", "2024-02-29", "0044-03-15 BC", "infinity"], bad: ["2023-02-29"]),
        Column(name: "b", type: "bytea", good: ["\\x", "\\x00", "\\xff", "\\x0001"], bad: [nil]),
        Column(name: "f", type: "bool", good: ["t", "f", "no"]),
        Column(name: "v", type: "numeric(6,2)", good: ["1", "1.0", "1.00", "2", nil], bad: ["-1", "99999"]),
      ], match: "t.d = excluded.d AND t.b = excluded.b AND t.f = excluded.f", keyColumns: ["d", "b", "f"]),
    OrderedScenario(
      name: "a key of moments", ddl: "CREATE TABLE t (at timestamptz PRIMARY KEY, v float8)",
      columns: [
        Column(
          name: "at", type: "timestamptz",
          good: [
            "2024-01-01 00:00:00Z", "2024-01-01 01:00:00+01", "1969-12-31 23:59:59.5Z", "-infinity",
            "2024-06-30 12:00 Europe/Berlin",
          ], bad: [nil]),
        Column(name: "v", type: "float8", good: ["0", "-0", "1.5", "NaN"], bad: ["x"]),
      ], match: "t.at = excluded.at", keyColumns: ["at"]),
    OrderedScenario(
      name: "a key of floats", ddl: "CREATE TABLE t (d float8 PRIMARY KEY, r real, v float8)",
      columns: [
        Column(
          name: "d", type: "float8",
          good: ["NaN", "nan", "0", "-0", "0.0", "1.5", "15e-1", "Infinity", "-inf", "5e-324"],
          bad: ["1e400", "1e-400", nil]),
        Column(
          name: "r", type: "real", good: ["NaN", "0", "-0", "0.1", "0.10000000149"], bad: ["1e39", "x"]),
        Column(name: "v", type: "float8", good: ["NaN", "0", "-0", "1"]),
      ], match: "t.d = excluded.d", keyColumns: ["d"]),
    OrderedScenario(
      name: "a partition whose trigger leaves rows out",
      ddl: """
        CREATE TABLE t (id int, r text, v text, PRIMARY KEY (id, r)) PARTITION BY LIST (r);
        CREATE TABLE t_a PARTITION OF t FOR VALUES IN ('a'); CREATE TABLE t_b PARTITION OF t FOR VALUES IN ('b');
        CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF NEW.v = 'no' THEN RETURN NULL; END IF; RETURN NEW; END $$;
        CREATE TRIGGER g BEFORE INSERT OR UPDATE ON t_b FOR EACH ROW EXECUTE FUNCTION leave_out()
        """,
      columns: [
        Column(name: "id", type: "int", good: (0..<12).map { "\($0)" }, bad: ["x", nil]),
        Column(name: "r", type: "text", good: ["a", "b"], bad: ["c"]),
        Column(name: "v", type: "text", good: ["x", "y", "no", "no", nil]),
      ], match: "t.id = excluded.id AND t.r = excluded.r", keyColumns: ["id", "r"]),
    OrderedScenario(
      name: "records that lack a needed column",
      ddl:
        "CREATE TABLE t (id int PRIMARY KEY, a text, b text NOT NULL); INSERT INTO t SELECT g, 'a', 'b' FROM generate_series(0, 12, 2) g",
      columns: [
        Column(name: "id", type: "int", good: (0..<14).map { "\($0)" }, bad: [nil, "x"]),
        Column(name: "a", type: "text", good: ["a", "c", nil]),
      ], match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "rows that stay", ddl: "CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL)",
      columns: [
        Column(name: "id", type: "int", good: (0..<9).map { "\($0)" }),
        Column(name: "v", type: "text", good: ["a", "b"], bad: [nil]),
      ],
      match: "t.id = excluded.id", rules: OrderedRules(.ignore), expressions: ["v": "t.v"], keyColumns: ["id"]
    ),
    OrderedScenario(
      name: "two constraints",
      ddl: """
        CREATE TABLE par (a int, b text, PRIMARY KEY (a, b)); INSERT INTO par VALUES (1, 'x'), (2, 'y');
        CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v > 0), w int CONSTRAINT a_first CHECK (w <> 5 OR id < 0), a int, b text,
          FOREIGN KEY (a, b) REFERENCES par)
        """,
      columns: [
        Column(name: "id", type: "int", good: (0..<30).map { "\($0)" }),
        Column(name: "v", type: "int", good: ["1", "2"], bad: ["0", nil]),
        Column(name: "w", type: "int", good: ["1", nil], bad: ["5"]),
        Column(name: "a", type: "int", good: ["1", nil]),
        Column(name: "b", type: "text", good: ["x", nil], bad: ["y", "z"]),
      ], match: "t.id = excluded.id", keyColumns: ["id"]),
  ]
}
