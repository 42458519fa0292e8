import Upsurge
import UpsurgeParsing
import UpsurgeRecords

/// A replay of any file of rejects: the ledger is balanced, the database sound, and what is rejected again is what the
/// file holds afterwards.
enum ReplayFuzz {
  static func run(_ input: inout FuzzInput) throws {
    let schema = input.pick(LoadFuzz.schemas)
    let source = input.byte() % 3
    let context = input.pick(contexts)
    let commitEvery = input.number(1...4)
    let bytes = input.rest()
    let folder = LoadFolder.shared
    folder.removeDatabase()
    if !schema.isEmpty { try FuzzDatabase.open(folder.database).execute(schema) }
    switch source {
    case 0: folder.write(bytes, to: folder.rejects)
    case 1: folder.write(Array((context + "\n").utf8) + bytes, to: folder.rejects)
    default: load(bytes, folder)
    }
    for _ in 0..<2 { try replay(folder, commitEvery: commitEvery) }
  }

  /// Makes a file of rejects as a load does.
  private static func load(_ bytes: [UInt8], _ folder: LoadFolder) {
    folder.write(Array("id,a,b\n".utf8) + bytes, to: folder.source)
    var options = LoadOptions()
    options.input.format = .csv
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.input.csv.headerLineCount = 1
    options.rejects.onError = .reject
    options.table.contract = .evolve
    options.rejects.path = folder.rejects
    options.transaction.memory = .mebibytes(16)
    _ = LoadJob(database: folder.database, table: "t", sources: [folder.source], options: options).run()
  }

  private static func replay(_ folder: LoadFolder, commitEvery: Int) throws {
    var options = ReplayOptions()
    options.commitEvery = commitEvery
    options.memory = .mebibytes(16)
    let summary = ReplayJob(database: folder.database, file: folder.rejects, options: options).run()
    try expect(summary.ledger.isBalanced, "the ledger is not balanced: \(summary.ledger)")
    let database = try FuzzDatabase.open(folder.database)
    try expect(try database.execute("PRAGMA integrity_check") == [["t6f6b"]], "the database is damaged")
  }

  /// Lines that a load might have written.
  private static let contexts = [
    #""table":"t","rules":{},"contract":"freeze","format":"csv","dialect":{"delimiter":",","quote":"\""},"fields":["id","a","b"]"#,
    #""table":"t","rules":{"key":["id"],"merge":"coalesce"},"contract":"evolve","format":"csv","dialect":{"delimiter":"::","quote":null,"escape":"\\","ragged":"extra"},"fields":["id",null,"b"]"#,
    #""table":"t","rules":{"key":["id"],"set":{"a":"sum"}},"contract":"quarantine","format":"ndjson","flatten":"_","duplicate_keys":"reject""#,
    #""table":"t","rules":{"key":["a"],"mode":"update"},"contract":"freeze","spelling":"keep","format":"ndjson","header":["id","a"],"columns":["id"],"rename":{"x":"a"}"#,
    #""table":"t","rules":{"delete_when":{"column":"b","value":"D"}},"contract":"evolve","blob":"hex","foreign_keys":"deferred","format":"json""#,
  ].map { "{\"upsurge_rejects\":1,\($0)}" }
}
