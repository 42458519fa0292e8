import CSQLite
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

/// A database from elsewhere can be read and written, and nothing more.
@Suite struct DefenceTests {
  @Test(
    "What a schema or its data might do to the program is refused",
    arguments: [
      ("SELECT load_extension('x.so')", "not authorized"),
      ("SELECT fts3_tokenizer('x', x'0102030405060708')", "fts3tokenize disabled"),
      ("PRAGMA writable_schema=ON; DELETE FROM sqlite_schema", "table sqlite_master may not be modified"),
      ("DELETE FROM f_data", "table f_data may not be modified"),
    ])
  func refused(sql: String, words: String) throws {
    let connection = try TemporaryDatabase().open("CREATE VIRTUAL TABLE f USING fts5(x)")
    #expect {
      try connection.execute(sql)
    } throws: { error in
      (error as? UpsurgeError)?.message.contains(words) == true
    }
    #expect(try connection.integer("SELECT count(*) FROM f_data") == 2)
  }

  @Test func theSchemaIsNotTrustedWhereNothingNeedsIt() throws {
    let connection = try TemporaryDatabase().open(
      """
      CREATE TABLE t(a PRIMARY KEY, b CHECK (b <> "none"), c AS (upper(a)));
      CREATE INDEX i ON t(lower(b)); CREATE TABLE log(x);
      CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a || "text" || uuid()); END
      """)
    _ = try load(connection, "t", ["a", "b"], [["x", "y"]])
    #expect(try connection.integer("SELECT count(*) FROM log WHERE x LIKE 'xtext%'") == 1)
    try connection.settleTrust(of: #require(try TableSchema.read(connection, table: "t")))
    #expect(connection.schemaTrustWords() == nil)
    #expect(try connection.integer("PRAGMA trusted_schema") == 0)
  }

  @Test(
    "What needs trust gets it, and is named",
    arguments: [
      (
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log SELECT name FROM pragma_table_info('t'); END",
        "trigger r uses the virtual table pragma_table_info", false
      ),
      (
        "CREATE VIEW w AS SELECT rtreedepth(x'00000000') AS a; CREATE TRIGGER \"r 2\" AFTER DELETE ON t BEGIN "
          + "INSERT INTO log SELECT a FROM w; END",
        "trigger r 2, view w use the function rtreedepth()", false
      ),
    ])
  func trusted(sql: String, words: String, isHarmless: Bool) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a, b); CREATE TABLE log(x); \(sql)")
    try connection.settleTrust(of: #require(try TableSchema.read(connection, table: "t")))
    let said = try #require(connection.schemaTrustWords())
    #expect(said.isHarmless == isHarmless)
    #expect(said.text.contains(words.split(separator: " ").last.map(String.init) ?? "?"), "\(said.text)")
    #expect(said.text.hasPrefix("trusted_schema is on: "), "\(said.text)")
    #expect(try connection.integer("PRAGMA trusted_schema") == 1)
    let (writer, _) = try load(connection, "t", ["a", "b"], [["x", "y"]])
    #expect(writer.ledger.inserted == 1)
  }

  @Test(
    "Parts of SQLite's own that some versions call unsafe work, and are called harmless",
    arguments: [
      "CREATE VIRTUAL TABLE f USING fts5(b, content='t', content_rowid='rowid'); "
        + "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO f(rowid, b) VALUES (new.rowid, new.b); END",
      "CREATE VIRTUAL TABLE f USING rtree(id, x0, x1); "
        + "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO f VALUES (new.rowid, 1, 2); END",
      "CREATE INDEX f ON t(json_extract(b, '$.x'))",
    ])
  func ownModules(sql: String) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a, b); \(sql)")
    let (writer, _) = try load(connection, "t", ["a", "b"], [["x", "{}"]])
    #expect(writer.ledger.inserted == 1)
    // Newer versions need no trust for them.
    if let said = connection.schemaTrustWords() { #expect(said.isHarmless, "\(said.text)") }
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
  }

  @Test func aFunctionForTheTopLevelOnlyStaysRefused() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT load_extension('x'); END")
    #expect {
      _ = try load(connection, "t", ["a"], [["x"]])
    } throws: { ($0 as? UpsurgeError)?.message.contains("unsafe use of load_extension()") == true }
    #expect(connection.schemaTrustWords() == nil)
    #expect(try connection.integer("PRAGMA trusted_schema") == 0)
  }

  @Test func aDevicePipeOrNothingIsNoDatabase() throws {
    for path in ["/dev/null", "/dev/zero"] {
      #expect {
        _ = try Connection(path: path, createIfMissing: true)
      } throws: { ($0 as? UpsurgeError)?.code == .cannotCreate }
    }
    #expect {
      _ = try Connection(path: ":memory:", createIfMissing: false)
    } throws: { ($0 as? UpsurgeError)?.code == .unreadableInput }
  }
}
