import TestSupport

@testable import Upsurge

/// Records, computed columns and a filter by chance, and the statement that makes the rows of them.
struct ShapedFeed {
  enum Value {
    case text(String)
    case integer(Int)
    case real(Double)
    case null, absent

    /// As SQL writes it.
    var sql: String {
      switch self {
      case .text(let text): "'\(text.replacing("'", with: "''"))'"
      case .integer(let number): "\(number)"
      case .real(let number): "\(number)"
      case .null, .absent: "NULL"
      }
    }
  }

  static let fields = ["id", "price", "qty", "na\"me", "Stamp", "note"]
  /// The table that both ways fill.
  static let table =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, price REAL, qty INTEGER, \"na\"\"me\" TEXT, Stamp NUMERIC, note, total REAL, label TEXT, part BLOB)"
  static let stored = ["id", "price", "qty", "na\"me", "Stamp", "note", "total", "label", "part"]

  let isCSV: Bool
  var random: SeededGenerator
  /// The expressions of the columns that have one.
  var computed: [(name: String, sql: String)] = []
  var filter: String?

  init(seed: UInt64, isCSV: Bool) {
    self.isCSV = isCSV
    random = SeededGenerator(seed: seed)
    for (name, choices) in Self.choices.sorted(by: { $0.key < $1.key }) where number(0...3) > 0 {
      computed.append((name, choices.randomElement(using: &random)!))
    }
    if number(0...3) > 0 { filter = Self.conditions.randomElement(using: &random)! }
  }

  private static let choices = [
    "total": [
      "price*qty", "price * 1.5 -- a comment", "round(price / qty, 2)", "CAST(qty AS INTEGER) % 7",
      "qty || '5'", "NULL", "9e99 * price",
    ],
    "label": [
      "upper(\"na\"\"me\") || '/' || note", "coalesce(note, 'none')", "price + 0",
      "(SELECT group_concat(value, '-') FROM json_each('[1,2]'))",
      "CASE WHEN qty IS NULL THEN 'few' ELSE qty END", "substr([na\"me], 1, 2)", "printf('%.3f', price)",
      "'a, b; /* c */'",
    ],
    "part": ["x'00ff'", "CAST(\"na\"\"me\" AS BLOB)", "price", "qty * 1", "length(note)", "typeof(price)"],
    "note": ["note || note", "id"],
    "qty": ["qty + 1", "-qty", "qty * 1.0"],
  ]

  private static let conditions = [
    "qty IS NOT NULL", "CAST(qty AS INTEGER) % 2 = 0", "note <> ''", "id % 3", "price * qty > 20.5",
    "\"na\"\"me\" LIKE 'a%' OR note IS NULL", "0", "1",
    "Stamp BETWEEN '2' AND '5'", "CAST(id AS INTEGER) IN (1, 5, 9, 100, 120)",
  ]

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func record(_ id: Int) -> [Value] {
    let text = ["alpha", "a,b", "say \"x\"", "ü ä", "Bee", "x\\y", "a'b"].randomElement(using: &random)!
    let price: Value =
      isCSV ? .text("\(number(0...99)).\(number(1...9))") : .real(Double(number(1...999)) / 8)
    let qty: Value =
      isCSV
      ? .text(["\(number(0...40))", "007", "12x", "1e2"].randomElement(using: &random)!)
      : .integer(number(-3...40))
    var record: [Value] = [
      isCSV ? .text("\(id)") : .integer(id), price, qty, .text(text),
      isCSV
        ? .text("\(number(1...9))")
        : [.integer(number(1...9)), .text("\(number(1...9))")].randomElement(using: &random)!,
      .text(["n1", "longer note", "0"].randomElement(using: &random)!),
    ]
    for index in 1..<record.count where number(0...5) == 0 {
      record[index] = isCSV || Bool.random(using: &random) ? .null : .absent
    }
    return record
  }

  func text(_ records: [[Value]]) -> String {
    isCSV
      ? csv(records)
      : records.map { "{\(zip(Self.fields, $0).compactMap(Self.member).joined(separator: ","))}\n" }.joined()
  }

  private func csv(_ records: [[Value]]) -> String {
    ([Self.fields.map { Value.text($0) }] + records).map { record in
      record.map { value in
        guard case .text(let text) = value else { return "" }
        return text.contains { "\",".contains($0) } ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
      }.joined(separator: ",") + "\n"
    }.joined()
  }

  private static func member(_ name: String, _ value: Value) -> String? {
    func quoted(_ text: String) -> String {
      "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    switch value {
    case .absent: return nil
    case .null: return "\(quoted(name)):null"
    case .text(let text): return "\(quoted(name)):\(quoted(text))"
    case .integer(let number): return "\(quoted(name)): \(number)"
    case .real(let number): return "\(quoted(name)) :\(number)"
    }
  }

  /// Loads the fields as they are into a staging table, and makes the rows of it by one statement.
  /// - Returns: how many records its condition leaves out.
  func store(_ records: [[Value]], in database: Database) throws -> Int {
    func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
    try database.rows(Self.table)
    let columns = Self.fields.map { isCSV ? quoted($0) + " TEXT" : quoted($0) }.joined(separator: ", ")
    try database.rows("CREATE TABLE staging(\(columns))")
    for record in records {
      try database.rows("INSERT INTO staging VALUES (\(record.map(\.sql).joined(separator: ", ")))")
    }
    let values = Self.stored.map { name in
      computed.first { $0.name == name }.map { "(\($0.sql)\n)" }
        ?? (Self.fields.contains(name) ? quoted(name) : "NULL")
    }
    let condition = filter.map { " WHERE (\($0)\n)" } ?? ""
    try database.rows(
      "INSERT INTO t SELECT \(values.joined(separator: ", ")) FROM staging\(condition) ORDER BY staging.rowid"
    )
    return records.count - (Int(try database.rows("SELECT count(*) FROM t")[0]) ?? 0)
  }

  func apply(to options: inout LoadOptions) {
    options.table.computedColumns = computed.map { LoadOptions.ComputedColumn($0.name, $0.sql) }
    options.input.filter = filter
  }
}
