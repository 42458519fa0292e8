import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

/// What is known of an expression before a record is read: which texts it would compare with numbers, and which fields it
/// takes for numbers.
@Suite("What SQL does with numbers")
struct NumberUseTests {
  private static let names = ["id", "price", "qty", "cost", "kind", "first name", "paid", "day"]

  private func use(_ sql: String, isText: Bool = true) -> NumberUse {
    let places = Dictionary(uniqueKeysWithValues: Self.names.enumerated().map { ($1, $0) })
    return NumberUse(
      of: sql, NumberUse.Fields(places: places, isText: isText, flags: [6]), isCondition: true)
  }

  struct Refused: CustomTestStringConvertible, Sendable {
    var sql: String
    var field: String
    var number: String
    var testDescription: String { sql }

    init(_ sql: String, _ field: String, _ number: String) {
      (self.sql, self.field, self.number) = (sql, field, number)
    }
  }

  @Test(
    "A text of a field that is compared with a number is found, however it is written",
    arguments: [
      Refused("price > 5", "price", "5"), Refused("5 < price", "price", "5"),
      Refused("(price) > 4", "price", "4"),
      Refused("price > (4)", "price", "4"), Refused("price > 2+2", "price", "2+2"),
      Refused("price > abs(4)", "price", "abs(4)"), Refused("price COLLATE nocase > 4", "price", "4"),
      Refused("(price, qty) > (4, 4)", "price", "4"), Refused("price BETWEEN cost AND 50", "price", "50"),
      Refused("price NOT BETWEEN -1.5 AND '3'", "price", "-1.5"),
      Refused("max(price, cost, 50)", "price", "50"),
      Refused("min(3, qty)", "qty", "3"), Refused("coalesce(price, 0) > 200", "price", "200"),
      Refused("ifnull(qty, 0) = 4", "qty", "4"), Refused("nullif(price, 5)", "price", "5"),
      Refused("nullif(price, '') > 5", "price", "5"), Refused("price = 3", "price", "3"),
      Refused("price <> 3.0", "price", "3.0"), Refused("price IN ('1', 3)", "price", "3"),
      Refused("price > -4", "price", "-4"), Refused("price > - 4.5e-3", "price", "- 4.5e-3"),
      Refused("price >= .5", "price", ".5"), Refused("price<0x10", "price", "0x10"),
      Refused("\"first name\" > 5", "first name", "5"), Refused("CASE price WHEN 5 THEN 1 END", "price", "5"),
      Refused("iif(id = '1', price, 0) > 5", "price", "5"), Refused("price > cost*2", "price", "cost*2"),
      Refused("price IS 5", "price", "5"), Refused("price IS NOT DISTINCT FROM 5", "price", "5"),
      Refused("+price > 5", "price", "5"), Refused("NOT price == 5", "price", "5"),
      Refused("price = true", "price", "true"),
      Refused("kind = 'A' AND (id = '2' OR ((price)) != 7)", "price", "7"), Refused("paid = 2", "paid", "2"),
      Refused("coalesce(paid, 0) = 1", "paid", "1"),
    ])
  func refused(_ refused: Refused) throws {
    let mismatch = try #require(use(refused.sql).mismatch)
    #expect(mismatch.field.map { Self.names[$0] } == refused.field)
    #expect(mismatch.number == refused.number)
  }

  @Test(
    "A text that a function makes is no number, in CSV and JSON",
    arguments: ["strftime('%Y', day) = 2024", "substr(day, 1, 4) > 2024", "kind || 5 < 4"], [true, false])
  func functions(sql: String, isText: Bool) throws {
    let mismatch = try #require(use(sql, isText: isText).mismatch)
    #expect(mismatch.field == nil)
  }

  @Test(
    "What compares texts with texts, or numbers with numbers, is left alone",
    arguments: [
      "kind = 'A'", "price = '5'", "'5' < price", "price > cost", "price IN ('1', '2')",
      "CAST(price AS REAL) > 5",
      "CAST(price AS DECIMAL(10, 2)) > 5", "CAST(price AS TEXT) > 5", "price*2 > 5", "price+0 > 5",
      "id % 3 > 0",
      "length(kind) > 5", "paid = 1", "0 <> paid", "paid IS TRUE", "paid AND NOT paid", "price IS NOT NULL",
      "price LIKE '5%' ESCAPE '!'", "price << 2 > 5", "price->>'$.a' > 5", "x'00ff' = price", "random() > 5",
      "(SELECT max(value) FROM json_each('[1, 2]')) > 5", "EXISTS (SELECT 1)",
      "CASE WHEN kind = 'A' THEN 'x' ELSE 0 END = 'x'",
      "coalesce(kind, 0) = 'A'", "CAST(strftime('%Y', day) AS INTEGER) = 2024", "price", "1.5e3 < 2",
    ])
  func accepted(sql: String) { #expect(use(sql).mismatch == nil) }

  @Test(
    "Fields that are calculated with, or compared, are known; a test of the field before it excuses the use")
  func uses() {
    func names(_ fields: Set<Int>) -> [String] { fields.sorted().map { Self.names[$0] } }
    #expect(names(use("price*2 > abs(qty)").calculated) == ["price", "qty"])
    #expect(names(use("CAST(price AS REAL) > 5 AND kind = 'A'").calculated) == ["price"])
    #expect(names(use("price").calculated) == ["price"])
    #expect(use("price <> 'n/a' AND price*2 > 5").calculated.isEmpty)
    #expect(use("CASE WHEN price = '' THEN 0 ELSE price*2 END > 5").calculated.isEmpty)
    #expect(use("iif(price = 'x', 0, price*2) > 5").calculated.isEmpty)
    #expect(use("nullif(price, 'n/a')*2 > 5").calculated.isEmpty)
    #expect(names(use("coalesce(price, 0) IN (1, 2)", isText: false).compared) == ["price"])
    #expect(names(use("price BETWEEN 1 AND 5 OR 5 > qty", isText: false).compared) == ["price", "qty"])
    #expect(use("typeof(price) = 'integer' AND price > 5", isText: false).compared.isEmpty)
    #expect(use("price = 'A' OR price > qty", isText: false).compared.isEmpty)
  }

  @Test("What goes too deep, or is not understood, is left to SQLite")
  func unknown() {
    let deep = String(repeating: "(", count: 100_000) + "price" + String(repeating: ")", count: 100_000)
    #expect(use(deep + " > 5").mismatch == nil)
    for sql in ["", "price >", "price > 5 5", "CASE", "CAST(price", "price IN (", "f(", "NOT", "("] {
      #expect(use(sql).mismatch == nil)
    }
  }

  /// SQLite is asked: a text with and without the affinity of a column of texts is compared differently with numbers alone.
  @Test("What is left alone does not depend on whether a number is read as a text", arguments: 0..<4)
  func affinity(part: Int) throws {
    let database = try TemporaryDatabase().open()
    let operands = [
      "price", "cost", "(qty)", "'5'", "coalesce(price, cost)", "max(price, cost)", "nullif(cost, '7')", "5",
      "qty*1", "2.5",
      "coalesce(qty, 3)", "length(price)", "price || ''", "min(cost, 4)", "-price",
      "CASE WHEN cost = '5' THEN qty ELSE 1 END",
    ]
    let values = ["''", "'5'", "'10'", "'2.5'", "'abc'"]
    var count = 0
    for (index, left) in operands.enumerated() where index % 4 == part {
      for right in operands {
        for form in [
          "\(left) < \(right)", "\(left) = \(right)", "\(left) IN ('1', \(right))",
          "\(left) BETWEEN \(right) AND '9'",
        ]
        where use(form).mismatch == nil {
          count += 1
          for value in values {
            let fields = "\(value) AS price, '5' AS qty, '7' AS cost"
            let typed = "CAST(\(value) AS TEXT) AS price, CAST('5' AS TEXT) AS qty, CAST('7' AS TEXT) AS cost"
            let results = try [fields, typed].map { try database.rows("SELECT \(form) FROM (SELECT \($0))") }
            #expect(results[0] == results[1], "\(form) of \(value)")
          }
        }
      }
    }
    #expect(count > 20)
  }
}
