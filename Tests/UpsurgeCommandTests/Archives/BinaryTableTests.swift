import Foundation
import TestSupport
import Testing

/// Tables in binary formats: the command that the message prints makes text of them.
@Suite("Parquet, Arrow, Avro and ORC")
struct BinaryTableTests {
  /// A program that writes the same two records in one format, and the modules that it needs.
  struct Format: CustomTestStringConvertible, Sendable {
    var name: String
    var modules: String
    var program: String
    var testDescription: String { name }

    var isThere: Bool { (try? Packing.python("import \(modules)")) != nil }
  }

  private static let table = "import pyarrow as p; t = p.table({'id': [1, 2], 'name': ['a', 'b,c']}); "

  static let all = [
    Format(
      name: "Parquet", modules: "duckdb",
      program:
        "import duckdb,sys; duckdb.sql('FROM (VALUES (1, $$a$$), (2, $$b,c$$)) t(id, name)').write_parquet(sys.argv[1])"
    ),
    Format(
      name: "an Arrow file (Feather)", modules: "pyarrow.feather",
      program: table + "import sys,pyarrow.feather as f; f.write_feather(t, sys.argv[1])"),
    Format(
      name: "a stream of Arrow", modules: "pyarrow",
      program: table + "import sys; w = p.ipc.new_stream(sys.argv[1], t.schema); w.write_table(t); w.close()"),
    Format(
      name: "ORC", modules: "pyarrow.orc",
      program: table + "import sys,pyarrow.orc as o; o.write_table(t, sys.argv[1])"),
    Format(
      name: "Avro", modules: "fastavro",
      program: """
        import fastavro, sys
        fields = [{'name': 'id', 'type': 'long'}, {'name': 'name', 'type': 'string'}]
        schema = {'type': 'record', 'name': 'r', 'fields': fields}
        fastavro.writer(open(sys.argv[1], 'wb'), schema, [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b,c'}])
        """),
  ]

  static let missing = all.filter { !$0.isThere }.map(\.modules)

  @Test(
    "The printed command loads the table",
    .enabled(if: missing.count < all.count, "needs python3 with duckdb, pyarrow or fastavro (pip install)"),
    arguments: all.filter(\.isThere))
  func printed(format: Format) throws {
    let scratch = Scratch()
    let path = scratch.file("it's a table")
    try Packing.python(format.program, [path])
    let refused = try Command.run(["load", scratch.file("a.db"), "t", path])
    #expect(refused.exitCode == 65)
    #expect(refused.talk.contains("is \(format.name), which is not read here"), "\(refused.talk)")
    let line = try #require(refused.talk.split(separator: "\n").first { $0.contains("  fix: python3 -c ") })
    let command = String(line.trimmingPrefix("  fix: ").prefix { $0 != "|" })
    let outcome = try Command.run([scratch.file("a.db")], script: "\(command) | \"$0\" load \"$1\" t -")
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("a.db")).rows("SELECT * FROM t") == ["1|'a'", "2|'b,c'"])
  }
}
