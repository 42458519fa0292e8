import TestSupport
import Testing

/// Files after the first one of a load, as `split` and other programs leave them.
@Suite struct LaterFileTests {
  @Test("A later file without a header is refused, and the hint stores it")
  func noHeader() throws {
    let scratch = Scratch()
    let first = scratch.write("name,town\nOda,Moss\nPer,Oslo\n", to: "a.csv")
    let second = scratch.write("Siv,Moss\nTor,Oslo\n", to: "b.csv")
    let path = scratch.file("a.db")
    let outcome = try Command.run(["load", path, "t", first, second])
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    #expect(outcome.talk.contains("has none of the columns of the files before it"), "\(outcome.talk)")
    #expect(outcome.talk.contains("--no-header --names name,town;"), "\(outcome.talk)")
    #expect(try Command.run(["load", path, "t", first]).exitCode == 0)
    #expect(try Command.run(["load", path, "t", second, "--no-header", "--names", "name, town"]).exitCode == 0)
    #expect(
      try Database(path).rows("SELECT name, town FROM t")
        == ["'Oda'|'Moss'", "'Per'|'Oslo'", "'Siv'|'Moss'", "'Tor'|'Oslo'"])
  }

  @Test("A later file that is seen to have no header is refused, too")
  func numbersWithoutHeader() throws {
    let scratch = Scratch()
    let (first, second) = (scratch.write("id,tree\n1,a\n", to: "a.csv"), scratch.write("2,b\n3,c\n", to: "b.csv"))
    let path = scratch.file("a.db")
    let outcome = try Command.run(["load", path, "t", first, second])
    #expect(outcome.exitCode == 65 && outcome.talk.contains("it seems to have no header"), "\(outcome.talk)")
    #expect(outcome.talk.contains("--no-header --names id,tree;"), "\(outcome.talk)")
    let third = scratch.write("4,d\n", to: "c.csv")
    let together = try Command.run(["load", path, "t", second, third, "--no-header"])
    #expect(together.exitCode == 0, "\(together.talk)")
  }

  @Test("The names that a hint shows are those of the table, whatever is in them")
  func names() throws {
    let scratch = Scratch()
    let (path, source) = (scratch.file("a.db"), scratch.write("1,x,y\n2,z,w\n", to: "a.csv"))
    try Database(path).rows("CREATE TABLE t(id INTEGER, \"a, b\" TEXT, \"c \"\"d\"\"\" TEXT)")
    let outcome = try Command.run(["load", path, "t", source])
    #expect(
      outcome.exitCode == 4 && outcome.talk.contains("--names 'id,\"a, b\",\"c \"\"d\"\"\"' names the fields"), "\(outcome.talk)")
    let followed = try Command.run(["load", path, "t", source, "--no-header", "--names", "id,\"a, b\",\"c \"\"d\"\"\""])
    #expect(followed.exitCode == 0, "\(followed.talk)")
    #expect(try Database(path).rows("SELECT * FROM t") == ["1|'x'|'y'", "2|'z'|'w'"])
    // Names that were given are meant.
    let given = try Command.run(["load", path, "t", source, "--names", "id,other,more"])
    #expect(given.exitCode == 4 && given.talk.contains("--alter adds columns"), "\(given.talk)")
  }

  @Test("One column in common is enough, and so is one that the table has")
  func shared() throws {
    let scratch = Scratch()
    let files = [
      scratch.write("id,a\n1,x\n", to: "a.csv"), scratch.write("b,id\ny,2\n", to: "b.csv"),
      scratch.write("", to: "c.csv"), scratch.write("other\nz\n", to: "d.csv"),
    ]
    let path = scratch.file("a.db")
    try Database(path).rows("CREATE TABLE t (id, a, b, other)")
    let outcome = try Command.run(["load", path, "t"] + files)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["3"])
  }

  @Test("A load says when the last line of a text does not end")
  func lastLine() throws {
    let scratch = Scratch()
    for (name, text, isSaid) in [
      ("a.csv", "id,t\n1,a\n2,b", true), ("b.csv", "id,t\n1,a\n2,b\n", false), ("c.ndjson", "{\"id\":1}", true),
      ("d.json", "[{\"id\":1}]", false), ("e.csv", "id,t\r1,a\r", false),
    ] {
      let outcome = try Command.run(["load", scratch.file("\(name).db"), "t", scratch.write(text, to: name)])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(outcome.talk.contains("no line end after its last line") == isSaid, "\(outcome.talk)")
    }
  }

  @Test(
    "A contract that is said to be frozen holds for a new table, whose first file makes its columns",
    arguments: ["csv", "ndjson"], [false, true])
  func frozen(format: String, isFrozen: Bool) throws {
    let scratch = Scratch()
    let texts =
      format == "csv"
      ? ["id,a\n1,x\n", "id,a\n2,y\n", "id,a,b\n3,z,new\n"]
      : ["{\"id\":1,\"a\":\"x\"}\n", "{\"id\":2}\n", "{\"id\":3,\"a\":\"z\",\"b\":\"new\"}\n"]
    let files = texts.enumerated().map { scratch.write($1, to: "\($0).\(format)") }
    let path = scratch.file("a.db")
    let option = isFrozen ? ["--contract", "freeze"] : []
    let outcome = try Command.run(["load", path, "t"] + files + option)
    #expect(outcome.exitCode == (isFrozen ? 4 : 0), "\(outcome.talk)")
    if !isFrozen { return #expect(try Database(path).rows("SELECT b FROM t WHERE id = 3") == ["'new'"]) }
    #expect(outcome.talk.contains("2.\(format)") && outcome.talk.contains("--alter adds"), "\(outcome.talk)")
    #expect(try Command.run(["load", path, "t"] + files.dropLast() + option).exitCode == 0)
    #expect(try Database(path).rows("SELECT id FROM t ORDER BY id") == ["1", "2"])
  }
}
