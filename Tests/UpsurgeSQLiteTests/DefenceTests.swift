import CSQLite
import SQLiteSupport
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
