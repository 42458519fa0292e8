import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// `local-edits` of job files and of the command.
@Suite("Edited rows in job files and on the command line") struct LocalEditCommandTests {
  let scratch = Scratch()
  private var database: String { scratch.file("a.db") }

  @Test(
    "What cannot be is told with its place",
    arguments: [
      (
        "local-edits: keeep", "2:51",
        "tables.feed.local-edits: keeep is not known; known: repair, keep"
      ),
      (
        "kind: delta, local-edits: repair", "2:64",
        "tables.feed.local-edits: repair: a delta does not say again what a row was, so that no row can be brought back"
      ),
      (
        "merge: coalesce, local-edits: repair", "2:68",
        "tables.feed.local-edits: repair: a merge rule that looks at the row would take the edit for the feed's own"
      ),
    ])
  func usage(words: String, place: String, expected: String) throws {
    let path = scratch.write("tables:\n  feed: { source: feed.csv, key: id, \(words) }\n", to: "job.yaml")
    var error: UpsurgeError?
    do throws(UpsurgeError) {
      _ = try JobFileReader.read(path, database: database)
    } catch let fault {
      error = fault
    }
    #expect(error?.code == .usage && error?.message == expected, "\(error?.description ?? "")")
    #expect(error?.position?.file.hasSuffix(":\(place)") == true, "\(error?.description ?? "")")
  }

  @Test("The command says how many they were, in words and in the summary")
  func command() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n3,c\n", to: "feed.csv")
    let path = scratch.write(
      "defaults: { local-edits: keep }\ntables: { feed: { source: feed.csv, key: id, sweep: hard } }\n",
      to: "job.yaml")
    #expect(try Command.run(["mirror", database, path]).exitCode == 0)
    try Database(database).rows("UPDATE feed SET v = 'edited' WHERE id < 3")
    _ = scratch.write("id,v\n1,A\n3,c\n", to: "feed.csv")
    let kept = try Command.run(["mirror", database, path, "--summary", "-"])
    #expect(kept.exitCode == 0)
    #expect(
      kept.talk.contains("  kept, their records passed over: 1 row edited or deleted here\n"), "\(kept.talk)")
    #expect(
      kept.talk.contains("  kept although no longer in the delivery: 1 row edited here\n"), "\(kept.talk)")
    #expect(
      kept.output.contains("\"local_edits\":{\"repaired\":0,\"kept\":1,\"unswept\":1}"), "\(kept.output)")
    try Database(database).rows("UPDATE feed SET v = 'again' WHERE id = 3")
    let logged = try Command.run(["mirror", database, path, "--verify", "--log", "json"])
    #expect(
      logged.talk.contains("\"local_edits\":{\"repaired\":0,\"kept\":2,\"unswept\":1}"), "\(logged.talk)")
    let flags = [
      "--table", "feed", "--source", scratch.file("feed.csv"), "--key", "id", "--local-edits", "repair",
    ]
    let repaired = try Command.run(["mirror", database] + flags + ["--accept-change"])
    #expect(
      repaired.talk.contains("  brought back to what the feed says: 2 rows edited or deleted here\n"),
      "\(repaired.talk)")
    #expect(try Command.run(["mirror", database] + flags + ["--merge", "keep"]).exitCode == 64)
  }
}
