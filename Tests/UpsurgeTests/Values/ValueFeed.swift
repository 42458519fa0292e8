import TestSupport

/// Records by chance, as a file writes them and as SQL says them.
struct ValueFeed {
  /// One value: what stands in the file, and the literal of SQL that it means; nil where it means nothing and is a reject.
  struct Field {
    var text: String
    var sql: String?
  }

  static let columns = ["id", "day", "moment", "amount", "count", "flag", "paid", "name", "note"]
  static let table =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT, moment TEXT, amount REAL, count INTEGER, flag INTEGER, paid INTEGER, name TEXT, note TEXT)"

  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func pick(_ fields: [Field]) -> Field { fields.randomElement(using: &random)! }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private mutating func day() -> Field {
    let (year, month, day) = (number(1900...2100), number(1...12), number(1...28))
    let iso = "'\(year)-\(Self.two(month))-\(Self.two(day))'"
    return pick([
      Field(text: "\(day)/\(month)/\(year)", sql: iso),
      Field(text: "\(Self.two(day))/\(Self.two(month))/\(year)", sql: iso),
      Field(text: " \(day)/\(month)/\(year)\t", sql: iso), Field(text: "n/a", sql: "NULL"),
      Field(text: "", sql: "NULL"),
    ])
  }

  private mutating func moment() -> Field {
    let (hour, minute, offset) = (number(0...23), number(0...59), number(-11...12))
    let zone = offset == 0 ? "Z" : (offset < 0 ? "-" : "+") + Self.two(abs(offset)) + ":00"
    let written = (offset < 0 ? "-" : "+") + Self.two(abs(offset)) + "00"
    return Field(
      text: "Feb \(number(1...1)) 2024 \(hour):\(Self.two(minute)) \(written)",
      sql: "'2024-02-01T\(Self.two(hour)):\(Self.two(minute))\(zone)'")
  }

  private mutating func amount() -> Field {
    let (thousands, rest, cents) = (number(1...999), 100 + number(0...899), number(0...99))
    let sign = Bool.random(using: &random) ? "-" : ""
    let sql = "\(sign)\(thousands)\(rest).\(Self.two(cents))"
    return pick([
      Field(text: "\(sign)\(thousands).\(rest),\(Self.two(cents))", sql: sql),
      Field(text: "\(sign)\(thousands)\(rest),\(Self.two(cents))", sql: sql),
      Field(text: "\(sign)\(thousands)", sql: "\(sign)\(thousands)"), Field(text: "", sql: "NULL"),
    ])
  }

  /// The fields of one record.
  mutating func record(_ id: Int, canFail: Bool) -> [Field] {
    let count = number(1000...9_999_999)
    let digits = "\(count)"
    var grouped = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { grouped += "." }
      grouped.append(digit)
    }
    let isTrue = Bool.random(using: &random)
    let words = isTrue ? ["Y", "yes", "true", "1", "JA", "t"] : ["n", "No", "FALSE", "0", "nein", "f"]
    let word = words.randomElement(using: &random)!
    let isPaid = Bool.random(using: &random)
    let paid = (isPaid ? ["bezahlt", "OK"] : ["offen", "-"]).randomElement(using: &random)!
    var fields = [
      Field(text: "\(id)", sql: "\(id)"), day(), moment(), amount(), Field(text: grouped, sql: digits),
      Field(text: word, sql: isTrue ? "1" : "0"), Field(text: paid, sql: isPaid ? "1" : "0"),
      pick([
        Field(text: "  a, b ", sql: "'a, b'"), Field(text: "x", sql: "'x'"),
        Field(text: "\"q\" ", sql: "'\"q\"'"),
        Field(text: "\tü\t ", sql: "'ü'"), Field(text: "1/2/2024", sql: "'1/2/2024'"),
        Field(text: "1.234,5", sql: "'1.234,5'"),
      ]),
      pick([
        Field(text: "n/a", sql: "'n/a'"), Field(text: "none", sql: "NULL"),
        Field(text: " none ", sql: "NULL"),
      ]),
    ]
    if canFail, number(0...9) == 0 {
      let bad = [
        1: ["31/02/2024", "2024-01-01", "1/1"], 2: ["Feb 1 2024 25:00 +0000", "Feb 1 2024 1:00"],
        3: ["1.23", "12.5", "x", "1,2,3"],
        4: ["1.23.456", "abc"], 5: ["maybe", "2", "yess"], 6: ["Y", "bezahl"],
      ]
      let column = bad.keys.sorted().randomElement(using: &random)!
      fields[column] = Field(text: bad[column]!.randomElement(using: &random)!, sql: nil)
    }
    return fields
  }

  static func csv(_ records: [[Field]], delimiter: String = ";") -> String {
    ([columns] + records.map { $0.map(\.text) }).map { fields in
      fields.map { text in
        let isPlain = !text.contains(where: { "\"\n\(delimiter)".contains($0) })
        return isPlain && text.utf8.count % 2 == 0
          ? text : text.isEmpty ? "" : "\"\(text.replacing("\"", with: "\"\""))\""
      }.joined(separator: delimiter) + "\n"
    }.joined()
  }

  static func ndjson(_ records: [[Field]]) -> String {
    records.map { fields in
      let members = zip(columns, fields).map { name, field in
        let text = field.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
          "\t", with: "\\t"
        ).replacing("/", with: "\\/")
        return "\"\(name)\":" + (name == "id" ? field.text : field.text.isEmpty ? "null" : "\"\(text)\"")
      }
      return "{\(members.joined(separator: ","))}\n"
    }.joined()
  }

  /// The rows that the records mean, put in one by one.
  static func store(_ records: [[Field]], in database: Database) throws {
    for record in records where record.allSatisfy({ $0.sql != nil }) {
      try database.rows("INSERT INTO t VALUES (\(record.map { $0.sql! }.joined(separator: ", ")))")
    }
  }
}
