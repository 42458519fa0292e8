import TestSupport
import Testing
import Upsurge

/// Two keys that are written in two ways are never one row, unless `--type` says that they are numbers.
@Suite("Spellings of keys")
struct KeySpellingTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  // MARK: - Any spelling

  /// Texts that are numbers to SQLite, of few numbers in many spellings, each once.
  private static func spellings(_ generator: inout SeededGenerator) -> [String] {
    var texts: Set<String> = []
    for _ in 0..<60 {
      var text = ["", "", "", "-", "+"].randomElement(using: &generator) ?? ""
      text += ["", "", "", "0", "00"].randomElement(using: &generator) ?? ""
      text +=
        ["7", "10", "100", "0", "12", "9007199254740993", "12345678901234567890123"]
        .randomElement(using: &generator) ?? ""
      text +=
        [
          "", "", "", ".", ".0", ".5", ".50", ".500", ".00", ".05", ".1000000000000000055",
          ".30000000000000004",
        ]
        .randomElement(using: &generator) ?? ""
      text += ["", "", "", "", "e0", "E1", "e+2", "e-1"].randomElement(using: &generator) ?? ""
      texts.insert(text)
    }
    return texts.sorted()
  }

  private static func input(_ texts: [String], format: String) -> String {
    if format == "ndjson" {
      return texts.enumerated().map { #"{"k":"\#($1)","n":\#($0)}"# + "\n" }.joined()
    }
    let quote = format == "quoted" ? "\"" : ""
    return "k,n\n" + texts.enumerated().map { "\(quote)\($1)\(quote),\($0)\n" }.joined()
  }

  @Test(
    "No two spellings meet in one row", arguments: ["", "INTEGER", "REAL", "NUMERIC", "BIGINT"],
    ["csv", "quoted", "ndjson"])
  func property(type: String, format: String) throws {
    for seed in UInt64(1)...12 {
      let path = scratch.file("\(seed).db")
      var generator = SeededGenerator(seed: seed)
      let texts = Self.spellings(&generator)
      if !type.isEmpty {
        try Database(path).rows(
          "CREATE TABLE t(k \(type), n INTEGER, PRIMARY KEY (k)); INSERT INTO t VALUES (7, -1), (100, -1)")
      }
      let source = scratch.write(Self.input(texts, format: format), to: "in." + format)
      var options = LoadOptions()
      options.rules.key = ["k"]
      options.rejects.onError = .reject
      let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
      #expect(summary.error == nil, "seed \(seed)")
      let rows = try Database(path).rows("SELECT typeof(k), k, n FROM t WHERE n >= 0")
      var isReal = false
      for row in rows {
        let cells = row.split(separator: "|").map { $0.filter { $0 != "'" } }
        let text = texts[Int(cells[2]) ?? 0]
        isReal = isReal || cells[0] == "real"
        switch cells[0] {
        case "real": #expect(Double(text) == Double(cells[1]), "seed \(seed): \(text) in row \(row)")
        default: #expect(text == cells[1], "seed \(seed): \(text) in row \(row)")
        }
      }
      // Each record has a number of its own, so that one that was overwritten is missing.
      let stored = summary.ledger.inserted + summary.ledger.updated
      let twins = texts.count { $0.hasSuffix(".0") && texts.contains(String($0.dropLast(2))) }
      #expect(
        stored >= UInt64(rows.count) && stored <= UInt64(rows.count + (isReal ? twins : 0)), "seed \(seed)")
      #expect(stored + summary.ledger.rejected == UInt64(texts.count), "seed \(seed)")
      if type.isEmpty { #expect(summary.ledger.rejected == 0, "a new table takes them all: seed \(seed)") }
    }
  }

  @Test("With --type every text is its number", arguments: ["INTEGER", "REAL"], ["csv", "ndjson"])
  func consent(type: String, format: String) throws {
    try Database(path).rows("CREATE TABLE t(k \(type) PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (7, -1)")
    let texts = ["007", "+7", "7.0", "7e0"]
    let source = scratch.write(Self.input(texts, format: format), to: "in." + format)
    let refused = try Command.run(["load", path, "t", source, "--key", "k"])
    #expect(refused.exitCode == 65 && refused.talk.contains("007"), "\(refused.talk)")
    #expect(
      refused.talk.contains(
        "fix: --on-error reject --rejects table keeps such records aside; if every spelling means one key, "
          + "--type k:\(type) says so"), "\(refused.talk)")
    let outcome = try Command.run(["load", path, "t", source, "--key", "k", "--type", "k:\(type)"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(!outcome.talk.contains("changes nothing"), "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT k = 7, n FROM t") == ["1|3"])
  }

  // MARK: - Existing tables

  struct Case: CustomTestStringConvertible {
    var table: String
    var text: String
    var options: [String] = ["--key", "id"]
    var question = "SELECT * FROM t ORDER BY 1"
    var rows: [String]
    var code: Int32 = 2
    var testDescription: String { "\(table) \(text.prefix(40))" }
  }

  static let cases = [
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old')",
      text: "id,v\n007,a\n+7,b\n7.0,c\n7e0,d\n8,e\n", rows: ["7|'old'", "8|'e'"]),
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old')",
      text: "id,v\n7,new\n8,e\n", rows: ["7|'new'", "8|'e'"], code: 0),
    Case(
      table: "t(id REAL PRIMARY KEY, v); INSERT INTO t VALUES (2.5, 'old'), (4, 'four')",
      text: "id,v\n2.50,a\n02.5,b\n25e-1,c\n4,d\n5.0,e\n6.25,f\n",
      rows: ["2.5|'old'", "4.0|'d'", "5.0|'e'", "6.25|'f'"]),
    Case(
      table: "t(id INTEGER, v, part INTEGER, UNIQUE (id, part)); INSERT INTO t VALUES (7, 'old', 1)",
      text: "id,v,part\n7,a,01\n7,b,1\n", options: ["--key", "id,part"], rows: ["7|'b'|1"]),
    // Numbers of JSON are values, texts are spellings.
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old')",
      text: "{\"id\":7.0,\"v\":\"a\"}\n{\"id\":\"007\",\"v\":\"b\"}\n{\"id\":\"8\",\"v\":\"c\"}\n",
      rows: ["7|'a'", "8|'c'"]),
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old')",
      text: "{\"id\":\"0\\u00307\",\"v\":\"b\"}\n{\"id\":\"\\u0038\",\"v\":\"c\"}\n",
      rows: ["7|'old'", "8|'c'"]),
    // The rowid, a delete, and a mode that passes records over.
    Case(
      table: "t(v); INSERT INTO t VALUES ('old')", text: "rowid,v\n01,a\n2,b\n", options: ["--key", "rowid"],
      question: "SELECT rowid, v FROM t ORDER BY 1", rows: ["1|'old'", "2|'b'"]),
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old'), (8, 'gone')",
      text: "id,v\n007,\n8,\n", options: ["--key", "id", "--mode", "delete"], rows: ["7|'old'"]),
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old')",
      text: "id,v\n007,a\n9,b\n", options: ["--mode", "ignore"], rows: ["7|'old'", "9|'b'"]),
    Case(
      table: "t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'old')",
      text: "id,v\n12345678901234567890123,a\n9,b\n", rows: ["7|'old'", "9|'b'"]),
    // What is no number stays the text that it is.
    Case(
      table: "t(id INTEGER UNIQUE, v)", text: "id,v\nx7,a\n7x,b\n", question: "SELECT * FROM t ORDER BY v",
      rows: ["'x7'|'a'", "'7x'|'b'"], code: 0),
    // A column that tells no rows is stored as SQLite stores it.
    Case(
      table: "t(id INTEGER PRIMARY KEY, v INTEGER)", text: "id,v\n1,007\n2,8.0\n", rows: ["1|7", "2|8"],
      code: 0),
  ]

  @Test("Into a key that exists", arguments: cases)
  func existing(_ item: Case) throws {
    try Database(path).rows("CREATE TABLE \(item.table)")
    let source = scratch.write(item.text, to: "in.txt")
    let outcome = try Command.run(
      ["load", path, "t", source, "--on-error", "reject", "--rejects", "table"] + item.options)
    #expect(outcome.exitCode == item.code, "\(outcome.talk)")
    #expect(try Database(path).rows(item.question) == item.rows)
    guard item.code == 2 else { return }
    // A replay judges by the same rule, and a mended record is stored.
    let replayed = try Command.run(["replay", path])
    #expect(replayed.exitCode == 2, "\(replayed.talk)")
    #expect(try Database(path).rows(item.question) == item.rows)
  }

  @Test("Records that were kept for a table that is made later are judged by its key")
  func kept() throws {
    let source = scratch.write("id,v\n007,a\n7,b\n7.0,c\n8,d\n", to: "in.csv")
    #expect(
      try Command.run(
        ["load", path, "t", source, "--key", "id", "--contract", "quarantine", "--create", "never"]
      ).exitCode == 2)
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    let outcome = try Command.run(["replay", path])
    #expect(outcome.exitCode == 2 && outcome.talk.contains("inserted 2 · rejected 2"), "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT * FROM t") == ["7|'b'", "8|'d'"])
  }

  @Test("A value that SQLite respells is said also with --quiet")
  func quiet() throws {
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER)")
    let source = scratch.write("id,v\n1,007\n2,9\n", to: "in.csv")
    let outcome = try Command.run(["load", path, "t", source, "-q"])
    #expect(outcome.talk.contains("warning: 1 value respelled by the column's type in column v, first at"))
    #expect(outcome.talk.split(separator: "\n").count == 1, "\(outcome.talk)")
    let other = scratch.write("id,v\n3,10\n", to: "other.csv")
    #expect(try Command.run(["load", path, "t", other, "-q"]).talk.isEmpty)
  }

  // MARK: - New tables

  @Test(
    "The types of a new table keep every key",
    arguments: [
      ("1\n2", "INTEGER"), ("1.5\n2.5\n3.0", "REAL"), ("1.5\n2.50", "TEXT"), ("1.5\n2", "TEXT"),
      ("1.0\n1", "TEXT"),
      ("410.0\n410.00", "TEXT"), ("1e2\n100", "TEXT"), ("1.5e+1\n15.5", "TEXT"), (".5\n1.5", "TEXT"),
      ("01\n1", "TEXT"),
    ])
  func newKey(values: String, type: String) throws {
    let text = "k,v\n" + values.split(separator: "\n").map { "\($0),x\n" }.joined()
    for inference in ["sample", "full"] {
      let path = scratch.file("\(inference).db")
      let outcome = try Command.run(
        ["load", path, "t", scratch.write(text, to: "in.csv"), "--key", "k", "--infer", inference])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(!outcome.talk.contains("will not be written"), "\(outcome.talk)")
      #expect(
        try Database(path).rows("SELECT type FROM pragma_table_info('t') WHERE name = 'k'") == ["'\(type)'"])
    }
  }

  @Test("A column of reals that loses how values are written is named once, with the option that keeps it")
  func respelledNote() throws {
    let plain = scratch.write("id,a,b\n1,1.5,2\n2,2.25,2.5\n3,3.0,0.125\n", to: "plain.csv")
    #expect(try !Command.run(["load", path, "plain", plain]).talk.contains("written as in the input"))
    let source = scratch.write("id,a,b c\n1,3.1,2\n2,3.10,2.50\n", to: "in.csv")
    let outcome = try Command.run(["load", path, "t", source, "--key", "id"])
    #expect(
      outcome.talk.contains(
        "warning: numbers will not be written as in the input: 3.10 in column a, 2.50 in column b c; "
          + "--type a:TEXT --type 'b c:TEXT' keeps every digit"), "\(outcome.talk)")
    let again = try Command.run(["load", path, "t", source, "--key", "id"])
    #expect(!again.talk.contains("written as in the input"), "\(again.talk)")
    let followed = try Command.run(
      ["load", path, "u", source, "--type", "a:TEXT", "--type", "b c:TEXT"])
    #expect(!followed.talk.contains("written as in the input"), "\(followed.talk)")
    #expect(try Database(path).rows("SELECT a, \"b c\" FROM u") == ["'3.1'|'2'", "'3.10'|'2.50'"])
  }

  @Test(
    "A late number of a new table that is only written otherwise is said, with the option that keeps it",
    arguments: [
      ("1.5", "3.10", "3.1"), ("1.5", ".5", "0.5"), ("1.5", "1e+05", "100000.0"), ("1.5", "2.", "2.0"), ("1", "7.0", "7"),
      ("1.5", "12.250", "12.25"), ("1.5", "1.5e-7", "1.5e-07"),
    ])
  func lateSpelling(usual: String, late: String, stored: String) throws {
    let pad = String(repeating: "x", count: 500)
    var text = "id,v,pad\n"
    for id in 0..<2_500 { text += "\(id),\(usual),\(pad)\n" }
    let source = scratch.write(text + "2500,\(late),\n2501,\(usual),\n", to: "in.csv")
    for quiet in [[], ["-q"]] {
      let table = quiet.isEmpty ? "t" : "q"
      let outcome = try Command.run(["load", path, table, source] + quiet)
      let note = "warning: 1 value respelled by the column's type in column v, first at \(source), line 2502"
      #expect(outcome.exitCode == 0 && outcome.talk.contains(note), "\(outcome.talk)")
      #expect(outcome.talk.contains("; in a new table --type v:TEXT keeps every digit"), "\(outcome.talk)")
      #expect(try Database(path).rows("SELECT v FROM \(table) WHERE id = 2500") == [stored])
    }
    let followed = try Command.run(["load", path, "u", source, "--type", "v:TEXT"])
    #expect(followed.exitCode == 0 && !followed.talk.contains("respelled"), "\(followed.talk)")
    #expect(try Database(path).rows("SELECT v FROM u WHERE id = 2500") == ["'\(late)'"])
  }

  @Test("Of a second file, too, and not again where the sample was said to be respelled")
  func laterSpelling() throws {
    let first = scratch.write("id,v\n1,2.5\n", to: "1.csv")
    let second = scratch.write("id,v\n2,2.50\n", to: "2.csv")
    let outcome = try Command.run(["load", path, "t", first, second])
    #expect(
      outcome.talk.contains("1 value respelled by the column's type in column v, first at \(second), line 2"),
      "\(outcome.talk)")
    let known = try Command.run(["load", path, "u", second, first])
    #expect(known.talk.contains("2.50 in column v") && !known.talk.contains("respelled by"), "\(known.talk)")
    #expect(try Command.run(["load", path, "w", second, "-q"]).talk.contains("2.50 in column v"))
  }

  // MARK: - Hints

  /// More than is looked at first, then values that are no plain numbers.
  private func lateInput() -> String {
    let pad = String(repeating: "x", count: 500)
    var text = "id,sku,pad\n"
    for id in 0..<2_500 { text += "\(id),\(1_000 + id),\(pad)\n" }
    return text + "2500,00123,\n2501,1E5,\n"
  }

  @Test("A late key of a new table is said with the type that keeps it", arguments: ["csv", "ndjson"])
  func lateKey(format: String) throws {
    let pad = String(repeating: "x", count: 500)
    var text = format == "csv" ? "id,pad\n" : ""
    for id in 0..<2_500 { text += format == "csv" ? "\(id),\(pad)\n" : "{\"id\":\(id),\"pad\":\"\(pad)\"}\n" }
    text += format == "csv" ? "007,late\n" : "{\"id\":\"007\",\"pad\":\"late\"}\n"
    let source = scratch.write(text, to: "in." + format)
    let stopped = try Command.run(["load", path, "t", source, "--key", "id"])
    #expect(stopped.exitCode == 65 && stopped.talk.contains("fix: --type id:TEXT keeps"), "\(stopped.talk)")
    let followed = try Command.run(["load", path, "t", source, "--key", "id", "--type", "id:TEXT"])
    #expect(followed.exitCode == 0, "\(followed.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM t WHERE id IN ('7', '007')") == ["2"])
  }

  @Test(
    "What is advised after a late value ends right, or is refused",
    arguments: [["--key", "id"], []], [["--type", "sku:TEXT"], ["--infer", "full"]])
  func hintChain(key: [String], advice: [String]) throws {
    let source = scratch.write(lateInput(), to: "in.csv")
    let load = ["load", path, "t", source, "--commit-every", "1000"] + key
    let stopped = try Command.run(load)
    #expect(stopped.exitCode == 3 && stopped.talk.contains("DROP TABLE t first"), "\(stopped.talk)")
    let count = try Database(path).rows("SELECT count(*) FROM t")
    for more in [[], ["--resume", "never"]] {
      let refused = try Command.run(load + advice + more)
      #expect(refused.exitCode == 4 || refused.exitCode == 3, "\(refused.talk)")
      #expect(refused.talk.contains("DROP TABLE t first"), "\(refused.talk)")
      #expect(!refused.talk.contains("--resume never"), "\(refused.talk)")
      #expect(try Database(path).rows("SELECT count(*) FROM t") == count)
    }
    try Database(path).rows("DROP TABLE t")
    let followed = try Command.run(load + advice)
    #expect(followed.exitCode == 0, "\(followed.talk)")
    #expect(
      try Database(path).rows(
        "SELECT count(*), count(DISTINCT id), (SELECT sku FROM t WHERE id = 2500) FROM t")
        == ["2502|2502|'00123'"])
  }
}
