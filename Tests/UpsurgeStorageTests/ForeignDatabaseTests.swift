import CSQLite
import Foundation
import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Rows are stored in a database from elsewhere: its schema is trusted no more than it must be, its names are only names, and
/// its damage is an error.
@Suite struct ForeignDatabaseTests {
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

  /// Names that would be SQL, and names whose quote is part of a character.
  @Test(arguments: [
    "\"; DROP TABLE t; --", "a'b", "new\nline", "😀", "e\u{301}", "\"\u{301}", "", " ", "select", "a.b", "[x]",
    "`", "ßẞ", "$x?1",
  ]) func hostileNamesAreOnlyNames(_ name: String) throws {
    let connection = try TemporaryDatabase().open()
    let definition = TableDefinition(
      name: name + "t",
      columns: [.init(name: name + "k", declaredType: "INTEGER"), .init(name: name, declaredType: "TEXT")],
      keyColumns: [name + "k"])
    try connection.execute(definition.sql())
    #expect(try TableList.names(connection) == [name + "t"])
    let (writer, _) = try load(
      connection, name + "t", [name, name + "k"], [["x", 1], ["y", 2], ["z", 1]])
    #expect(writer.ledger.text == "read 3 inserted 2 updated 1")
    #expect(try connection.rows("SELECT * FROM \(SQLName.quote(name + "t"))") == [[1, "z"], [2, "y"]])
    #expect(try connection.text("SELECT \(SQLName.literal(name))") == name)
  }

  @Test func aDamagedDatabaseIsAnErrorNotATrap() throws {
    let database = TemporaryDatabase()
    do {
      let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)")
      _ = try load(connection, "t", ["k", "v"], (0..<5000).map { [.integer(Int64($0)), "some text"] })
    }
    let file = fopen(database.path, "r+")
    fseek(file, 16384 * 2, SEEK_SET)
    fwrite([UInt8](repeating: 0xA5, count: 16384 * 4), 1, 16384 * 4, file)
    fclose(file)
    let connection = try database.open()
    do throws(UpsurgeError) {
      _ = try load(connection, "t", ["k", "v"], (0..<5000).map { [.integer(Int64($0)), "other"] })
      Issue.record("the damage was not seen")
    } catch {
      #expect(error.code == .database)
      #expect(
        error.message.hasPrefix("the database \(database.path) is damaged: database disk image is malformed"))
    }
  }
}
