import TestSupport
import Testing
import Upsurge

/// What a column spells otherwise than the feed is the same value when it comes again.
@Suite("Numbers that come again")
struct NumberRerunTests {
  let scratch = Scratch()

  private static let texts = [
    "", "x", "1", "-1", "+1", "01", " 1", "1 ", "1.0", "1.5", "1e3", "1e400", "-1e400", "1e-400", "-0", "0.0",
    "-0.0",
    "0x10", ".5", "5.", "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0",
    "9007199254740993.5", "9223372036854775295", "9223372036854775807", "-9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "123456789012345678901234567890", "0.1000000000000000055511151231257827", "4.9e-324",
    "2.4703282292062328e-324",
    "1.7976931348623157e308", "1.7976931348623159e308", "8.20788039913184", "1e22", "1e23", "140737488355329",
    "4503599627370497.5", "72057594037927937",
  ]
  /// Texts that are numbers as JSON writes them.
  private static let numbers = texts.filter { text in
    guard let first = text.utf8.first, let last = text.utf8.last, Double(text) != nil else { return false }
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    return first != UInt8(ascii: "+") && first != UInt8(ascii: ".") && last != UInt8(ascii: ".")
      && !(digits.hasPrefix("0") && digits.utf8.count > 1 && !digits.hasPrefix("0."))
  }

  private static let keyTypes = ["TEXT", "INTEGER", "REAL", "NUMERIC"]

  private static func csv() -> String {
    "k,r,i,n,b,t\n"
      + texts.enumerated().map { "\($0),\"\($1)\"" + String(repeating: ",\"\($1)\"", count: 4) }
      .joined(separator: "\n") + "\n"
  }

  private static func ndjson() -> String {
    numbers.enumerated().map {
      #"{"k":\#($0),"r":\#($1),"i":\#($1),"n":\#($1),"b":\#($1),"t":\#($1)}"# + "\n"
    }.joined()
  }

  /// Loads what is in `source` and returns the ledger.
  /// - Parameter types: columns of the key whose texts are numbers, however they are written.
  private func load(_ source: String, key: [String], types: [String: String] = [:]) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = key
    options.table.types = types
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t", sources: [source], options: options
    ).run()
    #expect(summary.error == nil && summary.ledger.isBalanced)
    return summary
  }

  @Test(
    "Every column leaves its row alone",
    arguments: ["TEXT PRIMARY KEY", "INTEGER PRIMARY KEY", "TEXT PRIMARY KEY NOT NULL", "INT UNIQUE"],
    ["csv", "ndjson"])
  func values(key: String, format: String) throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(k \(key), r REAL, i INTEGER, n NUMERIC, b, t TEXT)\(key.hasSuffix("NOT NULL") ? " WITHOUT ROWID" : "")"
    )
    let text = format == "csv" ? Self.csv() : Self.ndjson()
    let source = scratch.write(text, to: "in." + format)
    let first = load(source, key: ["k"])
    #expect(first.ledger.inserted == first.ledger.read && first.ledger.read > 20)
    let second = load(source, key: ["k"])
    #expect(second.ledger.unchanged == first.ledger.inserted)
    #expect(second.wal.bytesWritten == 0)
  }

  @Test("Every key finds its row", arguments: keyTypes, ["csv", "ndjson"])
  func keys(type: String, format: String) throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(k \(type), v TEXT); CREATE UNIQUE INDEX u ON t(k)")
    let text =
      format == "csv"
      ? "k,v\n" + Self.texts.filter { !$0.isEmpty }.map { "\"\($0)\",same\n" }.joined()
      : Self.numbers.map { #"{"k":\#($0),"v":"same"}"# + "\n" }.joined()
    let source = scratch.write(text, to: "in." + format)
    let first = load(source, key: ["k"], types: ["k": type])
    let second = load(source, key: ["k"], types: ["k": type])
    #expect(second.ledger.unchanged == first.ledger.read, "texts that are the same key are one row")
    #expect(second.wal.bytesWritten == 0)
  }
}
