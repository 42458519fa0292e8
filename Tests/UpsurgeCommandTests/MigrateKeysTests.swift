import TestSupport
import Testing
import Upsurge

/// `upsurge migrate-keys`.
@Suite("upsurge migrate-keys") struct MigrateKeysTests {
  let scratch = Scratch()

  @Test("The command says what it has done, does nothing in a dry run, and nothing twice") func command()
    throws
  {
    let path = scratch.file("a.db")
    let database = Database(path)
    try database.rows(
      """
      CREATE TABLE lists(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO lists VALUES (1, 'home'), (2, 'work');
      CREATE TABLE items(id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists); INSERT INTO items VALUES (1, 2)
      """)
    let trial = try Command.run(["migrate-keys", path, "lists", "--dry-run"])
    #expect(trial.exitCode == 0)
    #expect(
      trial.talk == "lists: UUIDs in id, 2 rows\nitems: UUIDs in list, 1 row\ndry run: nothing was changed\n")
    #expect(try database.rows("SELECT id FROM lists") == ["1", "2"])
    #expect(try Command.run(["migrate-keys", path, "lists"]).exitCode == 0)
    #expect(
      try database.rows("SELECT title FROM items JOIN lists ON lists.id = list") == ["'work'"])
    #expect(
      try database.rows("SELECT id FROM lists WHERE title = 'home'") == [
        "'\(MigrateKeys.uuid(of: 1, in: "lists"))'"
      ])
    let second = try Command.run(["migrate-keys", path, "lists"])
    #expect(second.exitCode == 0 && second.talk == "lists: its key is no integer, nothing to do\n")
    #expect(try Command.run(["migrate-keys", path, "lists", "-q"]).talk == "")
    #expect(try Command.run(["migrate-keys", path, "nothing"]).exitCode == 64)
    #expect(try Command.run(["migrate-keys", scratch.file("b.db"), "lists"]).exitCode == 66)
  }

  @Test("A table that a feed mirrors is left alone") func mirrored() throws {
    let path = scratch.file("a.db")
    let feed = scratch.write("id,name\n1,a\n2,b\n", to: "feed.csv")
    #expect(try Command.run(["mirror", path, "--table", "t", "--source", feed, "--key", "id"]).exitCode == 0)
    let result = try Command.run(["migrate-keys", path, "t"])
    #expect(result.exitCode == 4 && result.talk.contains("mirrored from a feed"))
    #expect(try Database(path).rows("SELECT typeof(id) FROM t") == ["'integer'", "'integer'"])
  }
}
