import Testing

@testable import UpsurgeRecords

@Suite("Text that people and programs read")
struct TextTests {
  @Test("An error says what, where, the bytes and the fix, in this order")
  func errorText() {
    let error = UpsurgeError(
      .badInput, "a field is missing",
      position: Position(file: "a.csv", record: 6, line: 7, byte: 120), column: "city",
      snippet: "1,Ann", hint: "--ragged pad fills it")
    #expect(
      error.description == """
        a field is missing (column city)
          at a.csv, line 7, record 6, byte 120
          here: 1,Ann
          fix: --ragged pad fills it
        """)
  }

  @Test("Control characters of data never reach a terminal")
  func escaped() {
    #expect("a\u{1B}[2J\tb\u{9B}\n".escapedForTerminal == "a\\x1B[2J\\tb\\x9B\\n")
    #expect("a\u{202E}b\u{2067}é👨‍👩‍👧".escapedForTerminal == "a\\u{202E}b\\u{2067}é👨‍👩‍👧")
  }

  @Test("JSON text escapes what RFC 8259 wants escaped")
  func json() {
    var out = JSONText()
    out.beginObject()
    out.key("a\"\\\u{1}\n")
    out.beginArray()
    out.number(UInt64.max)
    out.number(Int64.min)
    out.number(Double.nan)
    out.number(1.5)
    out.bool(true)
    out.endArray()
    out.key("é")
    out.string(repairing: [0x61, 0xFF])
    out.endObject()
    #expect(
      String(decoding: out.bytes, as: UTF8.self)
        == #"{"a\"\\\u0001\n":[18446744073709551615,-9223372036854775808,null,1.5,true],"é":"a\#u{FFFD}"}"#
    )
  }

  @Test(
    "Base64 as in RFC 4648, section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(text: String, expected: String) {
    #expect(Base64.encode(Array(text.utf8)) == expected)
  }

  @Test("The law of the ledger holds only when every record is counted once")
  func ledger() {
    var ledger = Ledger()
    #expect(ledger.isBalanced)
    ledger.read = 3
    ledger.inserted = 2
    #expect(!ledger.isBalanced)
    ledger.rejected = 1
    ledger.swept = 9
    #expect(ledger.isBalanced)
  }

  @Test("Warnings are counted by kind and column with the first position")
  func warnings() {
    var log = WarningLog()
    log.add(.padded, at: Position(file: "a", record: 1))
    log.add(.padded, at: Position(file: "a", record: 2))
    var other = WarningLog()
    other.add(.padded, count: 5, at: Position(file: "a", record: 9))
    other.add(.padded, column: "x", at: Position(file: "a", record: 9))
    log.merge(other)
    #expect(log.entries.map(\.count) == [7, 1])
    #expect(log.entries[0].first.record == 1)
  }

  @Test(
    "A declared type has SQLite's affinity",
    arguments: [
      ("INT", Affinity.integer), ("tinyint(3)", .integer), ("CHARINT", .integer), ("VARCHAR(9)", .text),
      ("CLOB", .text), ("", .none), ("blob", .none), ("REAL", .real), ("DOUBLE PRECISION", .real),
      ("floating point", .integer), ("DECIMAL(10,5)", .numeric), ("BOOLEAN", .numeric),
      ("STRING", .numeric),
    ])
  func affinity(declared: String, expected: Affinity) {
    #expect(Affinity(declaredType: declared) == expected)
  }
}
