import Upsurge
import UpsurgeParsing
import UpsurgePlan
import UpsurgeRecords
import UpsurgeState

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A load with random options ends with a ledger that is balanced and a database that is sound, and other batches
/// give the same table, ledger and exit code; so do rows that are packed into pages as far as they can be.
enum LoadFuzz {
  static func run(_ input: inout FuzzInput) throws {
    let schema = input.pick(LoadFuzz.schemas)
    var options = try LoadOptions.random(&input)
    let direct = options.transaction.direct
    options.transaction.direct = .never
    let sizes = input.sizes()
    let rowsPerStatement = input.pick([1, 2, 3, 64])
    let preamble = input.pick(["", "id,a,b\n", "id,a,b\n", "a,id\n", "id\n", "id;a;b;c\n"])
    let bytes = Array(preamble.utf8) + input.rest()

    let folder = LoadFolder.shared
    folder.write(bytes, to: folder.source)
    let one = try load(schema, options, folder)
    options.tuning.batchSizes = sizes
    options.tuning.rowsPerStatement = rowsPerStatement
    options.transaction.direct = direct
    let many = try load(schema, options, folder)

    let way = "\(sizes), \(rowsPerStatement) rows a statement, packed \(direct)"
    // How far a run came that ended early is not promised.
    let isComparable = (one.summary.error == nil) == (many.summary.error == nil)
    try expect(isComparable, "\(one.said) with one batch, \(many.said) with \(way)")
    if one.summary.error != nil { return }
    try expect(one.said == many.said, "\(one.said)\n\(many.said) with \(way)")
    try expect(one.rows == many.rows, "\(one.rows)\n\(many.rows) with \(way)")
    if direct == .always {
      try expect(one.dump == many.dump, "\(one.dump)\n\(many.dump) with \(way)")
    }
  }

  private struct Result {
    var summary: RunSummary
    var rows: [[String]]
    /// The schema, and the rows of a new table without a key in their order.
    var dump: [[String]]

    /// What must be the same.
    var said: String {
      let reasons = summary.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" }.sorted()
      return
        "exit \(summary.exitCode), \(summary.ledger), \(reasons), \(summary.error?.description ?? "no error")"
    }
  }

  private static func load(_ schema: String, _ options: LoadOptions, _ folder: LoadFolder) throws -> Result {
    folder.removeDatabase()
    if !schema.isEmpty { try FuzzDatabase.open(folder.database).execute(schema) }
    let job = LoadJob(database: folder.database, table: "t", sources: [folder.source], options: options)
    let summary = job.run()
    try expect(summary.ledger.isBalanced, "the ledger is not balanced: \(summary.ledger)")
    if let error = summary.error {
      // The engine's statements are its own: SQLite must understand them.
      try expect(!error.message.contains("syntax error") || options.hasSQL, "\(error)")
    }
    let database = try FuzzDatabase.open(folder.database)
    try expect(try database.execute("PRAGMA integrity_check") == [["t6f6b"]], "the database is damaged")
    try expect(access(folder.database + "-upsurge", F_OK) != 0, "the image is still there")
    let isKeyless = schema.isEmpty && options.rules.target == .primaryKey
    return Result(
      summary: summary, rows: try rows(database), dump: try dump(database, withRows: isKeyless))
  }

  private static func dump(_ database: FuzzDatabase, withRows: Bool) throws -> [[String]] {
    let dump = try database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
    guard withRows, dump.contains(where: { $0[1] == "t74" }) else { return dump }
    return try dump + database.execute("SELECT rowid, * FROM t ORDER BY rowid")
  }

  /// The table's rows in any order, and what is kept in the quarantine.
  private static func rows(_ database: FuzzDatabase) throws -> [[String]] {
    var rows: [[String]] = []
    let names = Set(try database.execute("SELECT name FROM sqlite_schema").map { $0[0] })
    let known: [(name: String, columns: String)] = [
      ("t", "*"), ("log", "*"),
      ("upsurge_quarantine", "\"table\", key, version, rules, columns, record, number, line, byte"),
    ]
    for table in known where names.contains("t" + FuzzDatabase.hex(table.name.utf8)) {
      rows += try database.execute("SELECT '\(table.name)', \(table.columns) FROM \(table.name)")
    }
    return rows.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// What the table is before the load; rows 1 to 3 are there.
  static let schemas: [String] =
    ["", ""]
    + [
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b)",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b REAL CHECK (b < 50))",
      "CREATE TABLE t(id TEXT PRIMARY KEY, a INTEGER NOT NULL DEFAULT 7, b TEXT) WITHOUT ROWID",
      "CREATE TABLE t(id INT, a ANY, b REAL, PRIMARY KEY (id, a)) STRICT",
      "CREATE TABLE t(id, a, b); CREATE UNIQUE INDEX ta ON t(a) WHERE b > 1; CREATE INDEX tb ON t(b)",
      "CREATE TABLE t(id TEXT COLLATE NOCASE PRIMARY KEY, a NUMERIC, b TEXT GENERATED ALWAYS AS (a || 'x'))",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE TABLE log(id, a, b);"
        + " CREATE TRIGGER tu AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (new.id, old.a, new.a); END;"
        + " CREATE TRIGGER ti BEFORE INSERT ON t WHEN new.a = 'no' BEGIN SELECT RAISE(IGNORE); END",
      "CREATE TABLE log(id INTEGER PRIMARY KEY); INSERT INTO log VALUES (1), (2), (3), (4), (5);"
        + " CREATE TABLE t(id INTEGER PRIMARY KEY, a REFERENCES log(id), b)",
    ].map { $0 + "; INSERT OR IGNORE INTO t(id, a) VALUES (1, 1), (2, 'x'), (3, NULL)" }
}

extension LoadOptions {
  /// SQL that a person gave, and that may be none.
  fileprivate var hasSQL: Bool {
    rules.merge.condition != nil || !rules.merge.columns.isEmpty || !table.types.isEmpty
  }

  fileprivate static func random(_ input: inout FuzzInput) throws -> LoadOptions {
    var options = LoadOptions()
    options.input.format = input.pick([nil, .csv, .csv, .csv, .tsv, .ndjson, .ndjson, .json])
    options.input.csv.delimiter = input.pick([",", ",", ",", nil, ";"]).map { Array($0.utf8) }
    options.input.csv.headerLineCount = input.pick([1, 1, 1, nil, 0, 2])
    options.input.csv.ragged = input.pick(CSVDialect.RaggedPolicy.allCases)
    options.input.csv.quotes = input.pick(CSVDialect.Quotes.allCases)
    options.input.csv.nullSpellings = input.flag() ? [Array("NA".utf8)] : []
    options.input.flattenSeparator = input.maybe("_")
    options.input.duplicateKeys = input.pick(JSONDialect.DuplicateKeys.allCases)
    options.rules = randomRules(&input)
    options.indexes.createsKey = input.flag()
    options.table.contract = input.pick(SchemaContract.allCases)
    options.rejects.onError = input.pick([.reject, .reject, .stop])
    if options.rejects.onError == .reject {
      options.rejects.limit = input.pick([nil, nil, .count(2), .percent(50)])
    }
    options.transaction.commitEvery = input.pick([.auto, 1, 2, 3, 7, 20])
    options.transaction.isAtomic = input.byte() % 8 == 1
    options.table.isStrict = input.flag()
    options.table.inference = input.pick([.sample, .sample, .none, .full])
    options.input.recordLimit = input.pick([nil, nil, nil, 3])
    options.indexes.upkeep = input.pick(Upkeep.allCases)
    options.indexes.wanted = input.byte() % 8 == 1 ? [["b"]] : []
    options.table.columns = input.byte() % 8 == 1 ? ["id", "a"] : []
    options.table.renames = input.byte() % 8 == 1 ? ["c": "b"] : [:]
    options.table.types = input.byte() % 8 == 1 ? ["a": "TEXT", "b": "REAL"] : [:]
    options.table.blobEncoding = input.pick([nil, nil, nil, .hex, .base64])
    options.table.foreignKeys = input.pick([.auto, .on, .deferred])
    let trial = input.byte() % 16
    options.output.dryRun = trial == 1 ? .count : nil
    // Rows in front of the first that is not plain are made the database, or all of them are read again.
    options.transaction.direct = trial < 8 ? .never : .always
    options.tuning.directLimits.leastRowCount = [1, 1, 4, 100_000][trial % 4]
    options.tuning.directLimits.leastFreeByteCount = 0
    options.transaction.memory = .mebibytes(16)
    return options
  }

  private static func randomRules(_ input: inout FuzzInput) -> UpsertRules {
    let targets: [ConflictTarget] = [
      .primaryKey, .columns(["id"]), .columns(["id"]), .columns(["id", "a"]), .columns(["a"]),
      .columns(["a"], where: "b > 1"), .any, .firstOf([.columns(["id"]), .columns(["a"])]),
    ]
    let modes: [WriteMode?] = [nil, nil, .upsert, .insert, .ignore, .update, .delete]
    let expressions = [
      "a", "excluded.a", "coalesce(a, excluded.a)", "excluded.b + b", "min(b, excluded.b, 3)", "(",
    ]
    var merge = Merge(input.pick([.replace, .replace, .coalesce, .keep]))
    if input.byte() % 4 == 1 {
      merge.newer = Merge.Newer(column: input.pick(["b", "a", "zz"]), isStrict: input.flag())
    }
    for column in ["a", "b"] where input.byte() % 4 == 1 {
      merge.columns[column] = input.pick([
        .min, .max, .sum, .keep, .coalesce, .replace, .expression(input.pick(expressions)),
      ])
    }
    if input.byte() % 8 == 1 {
      merge.condition = input.pick(["excluded.b > b", "a IS NOT excluded.a", "0", "b ="])
    }
    return UpsertRules(
      target: input.pick(targets), mode: input.pick(modes), merge: merge,
      nullKeys: input.pick(NullKeyPolicy.allCases),
      tombstone: input.byte() % 4 == 1
        ? Tombstone(column: input.pick(["b", "op"]), value: input.pick(["D", "1", ""])) : nil)
  }
}
