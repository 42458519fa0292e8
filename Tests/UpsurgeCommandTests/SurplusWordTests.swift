import TestSupport
import Testing

/// `upsurge inspect DATABASE TABLE`: the table is a part of the source's name.
@Suite("Words after the source of an inspection")
struct SurplusWordTests {
  let scratch = Scratch()

  @Test("A table beside a server is refused with the command that is meant, without a password")
  func server() throws {
    let outcome = try Command.run(["inspect", "postgres://u:sesame@127.0.0.1:1/d", "orders"])
    #expect(outcome.exitCode == 64)
    #expect(outcome.talk.contains("upsurge: the table orders stands beside the database"), "\(outcome.talk)")
    #expect(outcome.talk.contains("  fix: upsurge inspect 'postgres://u@127.0.0.1:1/d#orders'\n"), "\(outcome.talk)")
    #expect(!outcome.talk.contains("sesame"))
  }

  @Test("So is one beside a file of SQLite, and the command that is shown works")
  func file() throws {
    let path = scratch.file("a.db")
    try Database(path).rows("CREATE TABLE orders(id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1)")
    let outcome = try Command.run(["inspect", path, "orders"])
    #expect(outcome.exitCode == 64 && outcome.talk.contains("sqlite:\(path)#orders"), "\(outcome.talk)")
    #expect(try Command.run(["inspect", "sqlite:\(path)#orders"]).exitCode == 0)
  }

  @Test("Anything else is named, but for a URL")
  func others() throws {
    let path = scratch.write("id\n1\n", to: "a.csv")
    let two = try Command.run(["inspect", path, "b.csv"])
    #expect(two.exitCode == 64 && two.talk.contains("one source is inspected at a time, and b.csv stands after it"))
    let url = try Command.run(["inspect", "postgres://h/d", "postgres://u:sesame@h/d#t"])
    #expect(url.exitCode == 64 && url.talk.contains("a second one stands after it"), "\(url.talk)")
    #expect(!url.talk.contains("sesame"))
  }
}
