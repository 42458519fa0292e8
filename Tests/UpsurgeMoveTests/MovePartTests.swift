import Testing

@testable import UpsurgeMove

/// Digests, types and texts of tables, without a database.
@Suite("Parts of a move") struct MovePartTests {
  private func digest(_ pieces: [String]) -> RowDigest {
    var digest = RowDigest()
    for piece in pieces { digest.add(Array(piece.utf8)) }
    return digest
  }

  @Test("A digest depends on the rows, and on nothing else")
  func digests() {
    let long = String(repeating: "x", count: 5_000)
    let whole = digest(["a\n\(long)\nb\n"])
    #expect(digest(["b\na\n", "\(long)\n"]) == whole)
    #expect(whole.rowCount == 3 && whole.text.count == 32)
    let text = Array("a\n\(long)\nb\n".utf8)
    for size in [1, 2, 3, 31, 32, 33, 1_000] {
      var cut = RowDigest()
      for start in stride(from: 0, to: text.count, by: size) {
        cut.add(Array(text[start..<min(start + size, text.count)]))
      }
      #expect(cut == whole && cut.text == whole.text, "\(size)")
    }
    #expect(digest(["a\na\n"]) != digest(["a\n"]))
    #expect(digest(["a\nb\n"]) != digest(["ab\n\n"]))
    #expect(digest([]) == RowDigest())
  }

  @Test(
    "What a declared type says",
    arguments: [
      ("INTEGER", DeclaredFamily.integer(bits: 64)), ("smallint", .integer(bits: 16)),
      ("INT4", .integer(bits: 32)), ("TINYINT", .integer(bits: 64)),
      ("VARCHAR(20)", .text(limit: 20)), ("NVARCHAR(20)", .text(limit: nil)), ("", .open), ("BLOB", .blob),
      ("FLOAT", .real),
      ("DECIMAL(10,2)", .special(.number)), ("NUMERIC TEXT(10,2)", .special(.markedNumber([10, 2]))),
      ("uuid text", .special(.markedUUID)),
      ("DATETIME", .special(.moment)), ("MONEY", .open),
    ])
  func families(declared: String, family: DeclaredFamily) { #expect(DeclaredFamily(declared) == family) }

  @Test(
    "Types of PostgreSQL in SQLite",
    arguments: [
      ("bigint", "INTEGER"), ("integer", "INT4"), ("numeric(10,2)", "NUMERIC TEXT(10,2)"),
      ("numeric", "NUMERIC TEXT"),
      ("character varying(9)", "VARCHAR(9)"), ("timestamp(3) without time zone", "TIMESTAMP"),
      ("timestamp with time zone", "TIMESTAMPTZ TEXT"),
      ("integer[]", "TEXT"), ("public.mood", "TEXT"), ("bytea", "BLOB"),
    ])
  func fileTypes(type: String, declared: String) { #expect(FileType(type).declared == declared) }

  @Test("Parents come before their children, and a circle ends")
  func order() {
    func table(_ name: String, _ parents: String...) -> TableShape {
      var table = TableShape(name: name)
      table.foreignKeys = parents.map { ForeignKeyShape(columns: ["x"], parent: $0, parentColumns: []) }
      return table
    }
    let sorted = TableOrder.sorted([
      table("a", "B"), table("b", "c", "b"), table("c"), table("x", "y"), table("y", "x"),
    ])
    #expect(sorted.map(\.name) == ["c", "b", "a", "x", "y"])
  }
}
