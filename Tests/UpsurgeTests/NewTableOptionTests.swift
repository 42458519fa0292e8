import Foundation
import TestSupport
import Testing
import Upsurge

/// `--stop-after`, `--not-null` and `--default`.
@Suite("Limits and constraints")
struct NewTableOptionTests {
  let scratch = Scratch()

  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  private func load(_ texts: [String], _ change: (inout LoadOptions) -> Void) -> RunSummary {
    let sources = texts.enumerated().map { scratch.write($0.element, to: "input \($0.offset)") }
    var options = LoadOptions()
    change(&options)
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: sources, options: options)
    let summary = job.run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @Test("The first records are read, over all sources, whatever the batches", arguments: 1...9)
  func stopAfter(limit: UInt64) throws {
    let csv = ["a\n1\n2\n3\n", "a\n4\n5\n6\n", "a\n7\n"]
    for (texts, form) in [
      (csv, "csv"),
      (
        csv.map { $0.dropFirst(2).split(separator: "\n").map { #"{"a":\#($0)}"# }.joined(separator: "\n") },
        "json"
      ),
    ] {
      for recordCount in [1, 2, 100] {
        for suffix in ["", "-wal", "-shm"] { unlink(scratch.file("a.db" + suffix)) }
        let summary = load(texts) {
          $0.input.recordLimit = limit
          $0.input.csv.headerLineCount = 1
          $0.tuning.batchSizes = Batch.Sizes(arenaByteCount: 64, cellCount: 64, recordCount: recordCount)
        }
        #expect(summary.exitCode == 0, "\(form) \(String(describing: summary.error))")
        #expect(summary.ledger.read == min(limit, 7))
        #expect(try rows("SELECT a FROM t") == (1...min(limit, 7)).map { "\($0)" }, "\(form)")
      }
    }
  }

  @Test("Rejected records count, and what is broken behind the limit is not met")
  func stopAfterRejects() throws {
    let summary = load(["a,b\n1,2\n3\n4,5\n6\n"]) {
      $0.input.recordLimit = 3
      $0.rejects.onError = .reject
      $0.input.csv.headerLineCount = 1
      $0.input.csv.delimiter = Array(",".utf8)
    }
    #expect(summary.ledger.read == 3 && summary.ledger.rejected == 1)
    #expect(try rows("SELECT * FROM t") == ["1|2", "4|5"])
    // Behind the MiB that is looked at first.
    let space = String(repeating: " ", count: 2 << 20)
    let document = load([#"[{"a":7,"b":8},{"a":9,"b":10},"# + space + "oops]"]) { $0.input.recordLimit = 2 }
    #expect(document.exitCode == 0 && document.ledger.inserted == 2, "\(String(describing: document.error))")
  }

  @Test("NOT NULL and DEFAULT are part of the new table and hold in it")
  func constraints() throws {
    let arguments = [
      "load", scratch.file("a.db"), "t", "-", "--key", "id", "--not-null", "name", "--default", "n=5",
      "--default",
      "s=it's", "--default", "f=1.5", "--default", "z=007",
    ]
    let line = #"{"id":1,"name":"a","n":1,"s":"x","f":0.5,"z":1}"#
    let outcome = try Command.run(arguments, input: Array((line + "\n" + #"{"id":2,"name":"b"}"#).utf8))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try rows("SELECT * FROM t") == [
        "1|'a'|1|'x'|0.5|1", "2|'b'|5|'it''s'|1.5|7".replacing("''", with: "'"),
      ])
    #expect(
      try rows("SELECT name, dflt_value FROM pragma_table_info('t') WHERE dflt_value IS NOT NULL") == [
        "'n'|'5'", "'s'|''it''s''", "'f'|'1.5'", "'z'|''007''",
      ])
    let bad = try Command.run(arguments, input: Array(#"{"id":3,"name":null}"#.utf8))
    #expect(bad.exitCode == 65 && bad.talk.contains("not-null"), "\(bad.talk)")
    for wrong in [
      ["--not-null", "nope"], ["--default", "nope=1"], ["--default", "x"], ["--stop-after", "0"],
    ] {
      let outcome = try Command.run(
        ["load", scratch.file("b.db"), "t", "-"] + wrong, input: Array("a\n1\n".utf8))
      #expect(outcome.exitCode == 64, "\(outcome.talk)")
    }
  }
}
