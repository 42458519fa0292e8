import Foundation
import TestSupport
import Testing
import Upsurge

/// Names made to break out of SQL, shells and terminals: each is stored as it is, or refused; nothing is ever run.
@Suite("Hostile names")
struct HostileNamesTests {
  let scratch = Scratch()

  static let names = [
    #"x"); DROP TABLE canary; --"#, "x'); DROP TABLE canary; --", "x]; DELETE FROM canary; --",
    "`x`; DELETE FROM canary",
    #"""#, #""""#, "'", "''", "`", "[", "]", "[x]", ";", "--", "/*", "*/", "a;b", "a\nb", "a\tb", "a\rb",
    "\u{1B}[31mred",
    "\u{7F}", "a b", " a", "a ", "😀", "👨‍👩‍👧", "e\u{301}", "\"\u{301}", "'\u{301}", "é", "ß", "İ", "日本語",
    "\u{202E}abc",
    "\u{200B}", "\u{FEFF}x", "select", "SELECT", "table", "rowid", "oid", "_rowid_", "excluded", "EXCLUDED",
    "new", "old",
    "main", "temp", "sqlite", "sqlit_e", "null", "true", "1", "1e5", "0x10", "-1", "?1", ":a", "@a", "$a",
    "#", "%s", "\\",
    "\\x00", "$(touch /tmp/x)", "`touch`", "a.b", "main.canary", "a,b", "a(b", "a)b", "a=b", "a:b", "*",
    "t.*",
    "COLLATE", "DEFAULT", "generated always as (1)", "PRIMARY KEY", "-- x\n); DROP TABLE canary;",
    String(repeating: "long", count: 2_000),
  ]

  /// Names that SQLite keeps for itself or cannot hold.
  static let refusedTables = [
    "sqlite_x", "SQLITE_master", "sqlite_schema", "sqlite_sequence", "sqlite_stat1", "",
  ]

  private func database() throws -> Database {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      "CREATE TABLE IF NOT EXISTS canary(a); INSERT INTO canary SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM canary)"
    )
    return database
  }

  /// The canary lives, and the schema holds it, `expected` and nothing else.
  private func checkNothingRan(_ expected: Set<String>, _ database: Database, _ talk: String) throws {
    #expect(try database.rows("SELECT a FROM canary") == ["1"], "\(talk)")
    let names = try database.rows(
      "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    #expect(Set(names) == Set(expected.map { "'\($0)'" }).union(["'table canary'"]), "\(talk)")
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    // What is said is text of one colour: no escape reaches the terminal.
    #expect(!talk.utf8.contains(0x1B) && !talk.contains("\u{202E}"), "\(talk.debugDescription)")
  }

  private func load(
    _ text: String, into table: String, _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    change(&options)
    let source = scratch.write(text, to: "input")
    return LoadJob(database: scratch.file("a.db"), table: table, sources: [source], options: options).run()
  }

  private func sql(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// A field as CSV writes it.
  private func field(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// Scalar by scalar: a quote with a combining mark is a quote still.
  private func doubled(_ text: String, _ mark: Unicode.Scalar) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(scalar)
      if scalar == mark { result.append(scalar) }
    }
    return String(result)
  }

  private func json(_ name: String) throws -> String {
    String(
      decoding: try JSONSerialization.data(withJSONObject: name, options: .fragmentsAllowed), as: UTF8.self)
  }

  @Test("A table has exactly the name that is given", arguments: names)
  func tableName(name: String) throws {
    let database = try database()
    let words = ["load", scratch.file("a.db")] + (name.hasPrefix("-") ? ["--", name, "-"] : [name, "-"])
    let outcome = try Command.run(words, input: Array("a,b\n1,2\n".utf8))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    try checkNothingRan(["table \(name)"], database, outcome.talk)
    // The table is found again by its name.
    #expect(load("a,b\n3,4\n", into: name).exitCode == 0)
    #expect(try database.rows("SELECT * FROM main.\(sql(name))") == ["1|2", "3|4"])
  }

  @Test("Names that are SQLite's own are refused", arguments: refusedTables)
  func refusedTable(name: String) throws {
    let database = try database()
    let outcome = try Command.run(["load", scratch.file("a.db"), name, "-"], input: Array("a,b\n1,2\n".utf8))
    #expect([64, 4, 65].contains(outcome.exitCode), "\(outcome.exitCode) \(outcome.talk)")
    try checkNothingRan([], database, outcome.talk)
  }

  @Test("Columns have exactly the names of their fields or keys", arguments: ["csv", "json"])
  func columnNames(format: String) throws {
    let database = try database()
    var seen: Set<[UInt8]> = []
    // SQLite does not tell SELECT from select.
    let names = Self.names.filter {
      seen.insert(Array($0.utf8).map { $0 | ((65...90).contains($0) ? 32 : 0) }).inserted
    }
    // Space and byte order marks around a header's name are not part of it.
    let isCSV = format == "csv"
    let expected =
      ["id"] + (isCSV ? names.filter { $0 != " a" && $0 != "a " && !$0.hasPrefix("\u{FEFF}") } : names)
    for round in 0..<2 {
      let values = expected.indices.map { $0 == 0 ? 1 : $0 + round }
      let input =
        isCSV
        ? expected.map(field).joined(separator: ",") + "\n" + values.map(String.init).joined(separator: ",")
          + "\n"
        : "{" + (try zip(expected, values).map { "\(try json($0)):\($1)" }).joined(separator: ",") + "}"
      let outcome = try Command.run(
        ["load", scratch.file("a.db"), "c", "-", "--key", "id"]
          + (isCSV ? ["--header-lines", "1", "--delimiter", ",", "--quote", "\""] : []),
        input: Array(input.utf8))
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      let found = try database.rows("SELECT name FROM pragma_table_info('c')")
      // Bytes: to Swift, two spellings of one character are the same text.
      #expect(found.map { Array($0.utf8) } == expected.map { Array("'\($0)'".utf8) })
      #expect(try database.rows("SELECT * FROM c") == [values.map(String.init).joined(separator: "|")])
      try checkNothingRan(["table c"], database, outcome.talk)
    }
    let inspected = try Command.run(["inspect", scratch.file("a.db")])
    #expect(inspected.exitCode == 0)
    try checkNothingRan(["table c"], database, inspected.output)
  }

  @Test(
    "--key, --rename, --columns, --type, --index, --set and --alter mean a column by its name",
    arguments: names)
  func options(name: String) throws {
    let database = try database()
    let path = scratch.file("a.db")
    // A list of names takes any name in double quotes; the options with = and : take what is in front.
    let listed = field(name)
    let made = try Command.run(
      ["load", path, "k", "-", "--key=\(listed)", "--index=\(listed),v", "--type=\(name):INTEGER"],
      input: Array("{\(try json(name)):1,\"v\":1}".utf8))
    #expect(made.exitCode == 0, "\(made.talk)")
    let changed = try Command.run(
      ["load", path, "k", "-", "--key=\(listed)", "--set", "v=sum", "--alter", "--rename=w=\(name) w"],
      input: Array("{\(try json(name)):1,\"v\":2,\"w\":7}".utf8))
    #expect(changed.exitCode == 0, "\(changed.talk)")
    #expect(
      try database.rows("SELECT \(sql(name)), v, \(sql(name + " w")) FROM k") == ["1|3|7"], "\(changed.talk)")
    let chosen = load("{\(try json(name)):1,\"v\":2}", into: "r") { $0.table.columns = [name] }
    #expect(chosen.exitCode == 0, "\(String(describing: chosen.error))")
    #expect(try database.rows("SELECT name FROM pragma_table_info('r')") == ["'\(name)'"])
    for (value, outcome) in [(5, 1), (9, 2), (7, 3)] {
      let merged = load("{\"v\":3,\(try json(name)):\(value)}", into: "m") {
        $0.rules.key = ["v"]
        $0.rules.merge.columns = [name: .max]
        $0.rules.merge.newer = Merge.Newer(column: name, isStrict: false)
      }
      #expect(merged.exitCode == 0, "\(String(describing: merged.error))")
      let ledger = merged.ledger
      #expect(
        [ledger.inserted, ledger.updated, ledger.unchanged + ledger.stale].firstIndex(of: 1) == outcome - 1)
    }
    #expect(try database.rows("SELECT \(sql(name)) FROM m") == ["9"])
    let indexes = try database.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    try checkNothingRan(
      Set(["table k", "table m", "table r"] + indexes.map { "index " + $0.dropFirst().dropLast() }), database,
      made.talk + changed.talk)
  }

  @Test("A NUL is no part of any name")
  func nul() throws {
    let database = try database()
    let csv = try Command.run(
      ["load", scratch.file("a.db"), "n", "-"], input: Array("a\0b,c\n1,2\n".utf8))
    #expect([64, 65].contains(csv.exitCode), "\(csv.exitCode) \(csv.talk)")
    let object = try Command.run(
      ["load", scratch.file("a.db"), "n", "-"], input: Array(#"{"a\u0000b":1}"#.utf8))
    #expect([64, 65].contains(object.exitCode), "\(object.exitCode) \(object.talk)")
    try checkNothingRan([], database, csv.talk + object.talk)
    var options = LoadOptions()
    options.rules.key = ["a\0b"]
    let source = scratch.write("a,b\n1,2\n", to: "in.csv")
    for table in ["n", "n\0m"] {
      let summary = LoadJob(database: scratch.file("a.db"), table: table, sources: [source], options: options)
        .run()
      #expect(summary.exitCode == 64, "\(String(describing: summary.error))")
    }
    try checkNothingRan([], database, "")
  }

  @Test(
    "Expressions are one expression: nothing gets behind them",
    arguments: [
      "excluded.v; DROP TABLE canary", "1) ; DROP TABLE canary; --", "(SELECT 1", "1 --", "1 /*", "'", "\"",
      "1;",
      "excluded.v WHERE 1; DELETE FROM canary",
    ])
  func expressions(expression: String) throws {
    let database = try database()
    let path = scratch.file("a.db")
    try database.rows("CREATE TABLE e(id INTEGER PRIMARY KEY, v)")
    for option in ["--set=v=", "--update-if=", "--key=id --key-where="] {
      let parts = option.split(separator: " ").map(String.init)
      let words =
        ["load", path, "e", "-", "--key=id"] + parts.dropLast() + [parts[parts.count - 1] + expression]
      let outcome = try Command.run(words, input: Array("id,v\n1,2\n".utf8))
      if expression != "1 --" { #expect(outcome.exitCode != 0, "\(words) \(outcome.talk)") }
      try checkNothingRan(["table e"], database, outcome.talk)
    }
  }
}
