import TestSupport
import Testing

/// Mirrors whose table is not there: under `contract: quarantine` records are kept until it is.
@Suite struct MissingTableTests {
  @Test(
    "A mirror keeps its records, sweeps nothing, and goes on when the table is there",
    arguments: ["none", "hard"], ["table", "job", "bounded"])
  func nights(sweep: String, atomic: String) throws {
    let scratch = Scratch()
    let (database, plain) = (scratch.file("d.db"), Database(scratch.file("d.db")))
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "f.csv")
    let job = scratch.write(
      "atomic: \(atomic)\ntables: { t: { source: f.csv, key: id, contract: quarantine, sweep: \(sweep) } }\n", to: "j.yaml")
    for night in 1...2 {
      let outcome = try Command.run(["mirror", database, job])
      #expect(outcome.exitCode == 2, "night \(night): \(outcome.talk)")
    }
    #expect(try plain.rows("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == ["0"])
    try plain.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, gone INTEGER)")
    _ = scratch.write("id,v\n1,a\n2,b\n3,c\n", to: "f.csv")
    let outcome = try Command.run(["mirror", database, job])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try plain.rows("SELECT id, v FROM t") == ["1|'a'", "2|'b'", "3|'c'"])
  }
}
