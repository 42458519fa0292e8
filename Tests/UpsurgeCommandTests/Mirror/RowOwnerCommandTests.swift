import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// `owned-by` and `row-state` of job files.
@Suite("Owners of rows in job files") struct RowOwnerCommandTests {
  let scratch = Scratch()
  private var database: String { scratch.file("a.db") }

  @Test(
    "What cannot be is told with its fix",
    arguments: [
      ("owned-by: crm", "add sweep: hard"),
      ("owned-by: true, sweep: hard", "name of the feed, such as crm"),
      ("row-state: true, mode: insert", "leave out mode"),
      ("row-state: true, any-key: true", "row-state needs one key"),
      ("row-state: true, null-keys: insert", "without key-where and null-keys"),
      ("row-state: yes", "true or false"),
    ])
  func usage(words: String, hint: String) throws {
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    try Database(database).rows("CREATE TABLE feed(id INT UNIQUE, v UNIQUE)")
    let key = words.contains("any-key") ? "" : "key: id, "
    let path = scratch.write("tables: { feed: { source: crm.csv, \(key)\(words) } }\n", to: "job.yaml")
    var error: UpsurgeError?
    do throws(UpsurgeError) {
      let summary = try JobFileReader.read(path, database: database).job.run()
      error = summary.error ?? summary.tables.first?.failure
    } catch let fault {
      error = fault
    }
    #expect(error?.code == .usage && error?.description.contains(hint) == true, "\(error?.description ?? "")")
    #expect(try Database(database).rows("SELECT count(*) FROM feed") == ["0"])
  }

  @Test("A job file says both, and --check-job tells")
  func jobFile() throws {
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    let path = scratch.write(
      "tables: { feed: { source: crm.csv, key: id, sweep: hard, owned-by: crm, row-state: true } }\n",
      to: "job.yaml")
    let words = try Command.run(["mirror", database, path, "--check-job"])
    #expect(
      words.output.contains(
        "that a snapshot no longer has are deleted, of those that crm has delivered (owned-by)"),
      "\(words.output)")
    #expect(try Command.run(["mirror", database, path]).exitCode == 0)
    #expect(try Database(database).rows("SELECT key, owned_by FROM upsurge_rows") == ["'1'|'crm'"])
    #expect(try Command.run(["status", database]).output.hasPrefix("ok    feed (crm): in step"))
    #expect(
      try Command.run(["mirror", database, "--forget", "feed"]).talk.contains(
        "1 row of table feed that crm delivered"))
  }
}
