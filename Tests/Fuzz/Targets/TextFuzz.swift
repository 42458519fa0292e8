import CSQLite
import Oracles
import Upsurge
import UpsurgeInput
import UpsurgeParsing
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Small texts of people, of schemas, and of the engine's own tables: read or refused, and what is read can be
/// written and read again.
enum TextFuzz {
  static func run(_ input: inout FuzzInput) throws {
    let kind = input.number(0...15)
    let choice = input.byte()
    let bytes = input.rest()
    let text = String(decoding: bytes, as: UTF8.self)
    switch kind {
    case 0: try sizes(text)
    case 1: try paths(text)
    case 2: try json(text)
    case 3: try rules(text)
    case 4: try runs(text)
    case 5: try names(text)
    case 6: try resume(text, choice)
    default: try schema(text, isKeyed: choice & 1 == 1)
    }
  }

  private static func sizes(_ text: String) throws {
    if let interval = CommitInterval(text: text) {
      let again = CommitInterval(text: interval.description)
      try expect(again == interval, "\(text) is \(interval), which is another interval")
    }
    if let size = ByteSize(text: text) {
      try expect(size.byteCount >= 0, "\(text) is negative")
      try expect(ByteSize(text: size.description) == size, "\(text) is \(size), which is another size")
    }
    if case .percent(let share)? = RowLimit(text: text) {
      try expect((0...100).contains(share), "\(text) is \(share) %")
    }
    _ = TextEncoding(name: text)
  }

  private static func paths(_ text: String) throws {
    guard let keys = try? JSONPath.parse(text) else { return }
    let quoted = keys.map { key in
      "\"" + key.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }.joined(separator: ".")
    let again = try JSONPath.parse(quoted)
    try expect(again.map { Array($0.utf8) } == keys.map { Array($0.utf8) }, "\(text): \(keys), then \(again)")
  }

  /// All that the oracle takes for JSON is read; more may be, as it is for what the engine wrote.
  private static func json(_ text: String) throws {
    let bytes = Array(text.utf8)
    let isJSON = (try? OracleJSON.parse(bytes[...], maximumDepth: 64)) != nil
    let isRead = (try? JSONValue(text)) != nil
    // Half a surrogate pair is JSON by its grammar, and no text.
    try expect(isRead || !isJSON || text.contains("\\u"), "not read, though it is JSON: \(text)")
  }

  private static func rules(_ text: String) throws {
    guard let rules = try? RulesText.decode(text) else { return }
    let again = try RulesText.decode(RulesText.encode(rules))
    try expect(again == rules, "\(rules), then \(again)")
  }

  private static func runs(_ text: String) throws {
    if let job = try? RunText.job(text, table: "t") {
      try expect(try RunText.job(RunText.encode(job), table: "t") == job, "job \(job)")
    }
    if let files = try? RunText.files(text) {
      try expect(try RunText.files(RunText.encode(files)) == files, "files \(files)")
    }
    if let position = try? RunText.position(text) {
      try expect(try RunText.position(RunText.encode(position)) == position, "position \(position)")
    }
    if let progress = try? RunText.progress(text) { _ = try RunText.progress(RunText.encode(progress)) }
  }

  /// A parser takes any state that is said to be one of it, or refuses it, and then reads on.
  private static func resume(_ details: String, _ choice: Int) throws {
    let state = ParserState(line: 3, recordCount: 2, details: details)
    let text =
      Array(",\"a\":[1,\"é\\u00e9\\ud83d\\ude00\",tru".utf8) + Array("e]},{\"a\":{}}],\"x\":1}\n1,2\n\"".utf8)
    for format in JSONFormat.allCases {
      let dialect = JSONDialect(
        format: format, jsonPath: choice & 1 == 0 ? [] : ["a", "b"], maximumDepth: choice & 2 == 0 ? 1024 : 3)
      var parser = JSONParser(
        dialect: dialect, file: "t", columns: [], policy: JSONKeyPolicy(unknown: .add(.warn)))
      guard (try? parser.resume(from: state)) != nil else { continue }
      _ = JSONBatchDriver(sizes: FuzzInput.roomy).run(Array(text[(choice % text.count)...]), &parser)
    }
    var parser = CSVParser.text(CSVDialect(skippedLineCount: 2), fieldCount: 2)
    guard (try? parser.resume(from: state)) != nil else { return }
    _ = try BatchDriver(sizes: FuzzInput.roomy).parse(text, with: &parser)
  }

  /// Names and texts go into SQL and come back.
  private static func names(_ text: String) throws {
    guard let name = try? SQLName.quote(text), let literal = try? SQLName.literal(text) else { return }
    let database = try FuzzDatabase.memory()
    let columns = try database.execute("SELECT \(literal) AS \(name)")
    try expect(columns == [["t" + hex(text)]], "\(literal) gives \(columns)")
    if text.isEmpty || text.nameKey.hasPrefix("sqlite_") { return }
    try database.execute("CREATE TABLE \(name) (\(name) TEXT)")
    let found = try database.execute("SELECT name FROM sqlite_schema")
    try expect(found == [["t" + hex(text)]], "\(name) is the table \(found)")
  }

  private static func hex(_ text: String) -> String { FuzzDatabase.hex(text.utf8) }

  /// Whatever SQLite takes for a schema can be looked at.
  private static func schema(_ sql: String, isKeyed: Bool) throws {
    // Nothing but definitions: no data, no files.
    let isForeign = [
      "attach", "pragma", "recursive", "randomblob", "zeroblob", "vacuum", "load_ext", "insert",
    ]
    .contains { sql.lowercased().contains($0) }
    if isForeign || sql.utf8.contains(0) { return }
    let connection = try Connection(path: ":memory:", createIfMissing: true)
    var limit: Int32 = 0
    limit = sqlite3_limit(connection.handle, SQLITE_LIMIT_COLUMN, 50)
    sqlite3_limit(connection.handle, SQLITE_LIMIT_VDBE_OP, 5_000)
    guard limit > 0, sqlite3_exec(connection.handle, sql, nil, nil, nil) == SQLITE_OK else { return }
    let isOpen = sqlite3_get_autocommit(connection.handle) == 0
    if isOpen { sqlite3_exec(connection.handle, "COMMIT", nil, nil, nil) }
    let catalog: SchemaCatalog
    do { catalog = try SchemaCatalog(connection) } catch { return }
    for entry in catalog.entries.prefix(4) {
      guard let table = try? TableSchema.read(connection, table: entry.name) else { continue }
      try expect(!table.columns.isEmpty, "\(entry.sql): no columns")
      _ = catalog.applicationFunctions(of: entry.sql)
      _ = try? SecondaryIndex.read(connection, table: entry.name)
      try plan(table, isKeyed: isKeyed, connection)
    }
  }

  /// The statements of a load of all columns, as SQLite compiles them.
  private static func plan(_ table: TableSchema, isKeyed: Bool, _ connection: Connection) throws {
    var rules = UpsertRules()
    if isKeyed, let first = table.columns.first { rules.target = .columns([first.name]) }
    let columns = table.columns.compactMap { table.columnTarget($0.name, spellingPolicy: .warn) }
    guard let plan = try? UpsertPlan(schema: table, rules: rules, columns: columns) else { return }
    for statement in (try? plan.statements()) ?? [] { _ = try? connection.prepare(statement) }
  }
}
