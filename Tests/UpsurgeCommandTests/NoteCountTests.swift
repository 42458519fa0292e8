import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// Many notes of a kind are one line.
@Suite("Notes that repeat") struct NoteCountTests {
  @Test("The first five are shown, and the rest is one line with a count")
  func notes() {
    var counts = NoteCounts()
    var shown = 0
    for number in 1...500 {
      shown += counts.take(RunNote(.warning, "file \(number) comes late")) ? 1 : 0
    }
    #expect(shown == 5)
    let isOtherShown = counts.take(RunNote(.info, "something else"))
    #expect(isOtherShown)
    let rest = counts.takeRest().map(\.text)
    #expect(rest == ["495 more notes like this one: file 500 comes late"])
    let none = counts.takeRest().map(\.text)
    #expect(none == [])
  }

  @Test("Tables are told apart")
  func tables() {
    var counts = NoteCounts()
    var shown = 0
    for number in 1...12 {
      var note = RunNote(.warning, "late")
      note.table = "t\(number % 2)"
      shown += counts.take(note) ? 1 : 0
    }
    #expect(shown == 10)
    let rest = counts.takeRest().map(\.text)
    #expect(rest == ["1 more note like this one: late", "1 more note like this one: late"])
  }

  @Test("Warnings of 500 columns are one line of the ledger")
  func columns() throws {
    let scratch = Scratch()
    let names = (1...500).map { "c\($0)" }
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(\(names.map { "\($0) INTEGER" }.joined(separator: ", ")))")
    let row = names.map { _ in "007" }.joined(separator: ",")
    let source = scratch.write(names.joined(separator: ",") + "\n\(row)\n\(row)\n", to: "in.csv")
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", source])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let notes = outcome.talk.split(separator: "\n").filter { $0.contains("respelled") }
    #expect(
      notes == [
        "warning: 1,000 values respelled by the column's type in 500 columns, first in column c1 at \(source), line 2, record 1, byte 2392"
      ], "\(outcome.talk)")
  }
}
