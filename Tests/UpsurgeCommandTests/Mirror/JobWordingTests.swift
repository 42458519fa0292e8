import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand
@testable import UpsurgeMirror

/// What a mirror says names keys of the job file, and no options of `upsurge load`.
@Suite("Words of job files") struct JobWordingTests {
  private static let sentences: [(Wording, String)] = [
    (
      "\(.alter) adds it; \(.columns, "A,B") loads only the columns named",
      "contract: evolve adds it; columns: [A, B] loads only the columns named"
    ),
    (
      "\(.onError, "reject") goes on without it; \(.rejects, "FILE") keeps it",
      "on-error: reject goes on without it; rejects: FILE keeps it"
    ),
    ("\(.key) takes names of: a, b", "key takes names of: a, b"),
    ("give at least \(.memory, "16MiB")", "give at least memory: 16MiB"),
    ("\(.rename, "OLD=NEW") (or \(.strict))", "rename: {OLD: NEW} (or strict: true)"),
    ("\(.date, "'d=%d.%m.%Y %H:%M'") reads them", "date: {d: '%d.%m.%Y %H:%M'} reads them"),
    ("\(.let, "'t=a*b, c'")", "let: {t: 'a*b, c'}"),
    (
      "\(.decimal, "comma") \(.decimal, "lat=point") \(.thousands, "'a b=space'")",
      "decimal: comma decimal: 'lat=point' thousands: 'a b=space'"
    ),
    ("\(.type, "zip:TEXT") or \(.null, "kind=A")", "type: {zip: TEXT} or null: 'kind=A'"),
    ("raise \(.maxRejects) to allow more", "raise max-rejects to allow more"),
    // What a record or a name holds stays as it is.
    ("the column \("--key id") is not in the input", "the column --key id is not in the input"),
    // A command line stays one.
    (
      "give it up with \(command: "upsurge runs 'a.db' \(.forget, "7")"); \(.atomic) makes it whole",
      "give it up with upsurge runs 'a.db' --forget 7; atomic: table makes it whole"
    ),
    ("confirm it: \(.acceptChange)", "confirm it: --accept-change"),
  ]

  @Test("Terms become keys", arguments: sentences.indices)
  func keys(index: Int) {
    let (wording, expected) = Self.sentences[index]
    #expect(JobWording.ofJob(wording) == expected)
  }

  @Test("Every term is a key of a table, or said as an option")
  func complete() {
    let keys = Set(OptionCatalogue.keys.map(\.key) + OptionCatalogue.keys.map(\.path))
    for term in Term.allCases where !JobWording.typed.contains(term) {
      let said = JobWording.key(term, nil).replacing(" in the guards", with: "").prefix { $0 != ":" }
      // A key of the job, and what mirrors lack.
      #expect(keys.contains(String(said)) || [.atomic, .source, .stopAfter].contains(term), "\(term)")
    }
    #expect(
      JobWording.flags == Set(OptionCatalogue.keys.filter { $0.isFlag && $0.term != .alter }.map(\.term)))
  }

  @Test("What is stored of a wording is the same when it is read again", arguments: sentences.indices)
  func stored(index: Int) throws {
    let wording = Self.sentences[index].0
    let again = try #require(Wording(stored: wording.stored))
    #expect(again.text == wording.text)
    #expect(JobWording.ofJob(again) == JobWording.ofJob(wording))
  }

  @Test("A mirror of a job file says keys; one of a command line says options")
  func job() throws {
    let scratch = Scratch()
    _ = scratch.write("id,v,new\n1,a,b\n", to: "feed.csv")
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    let job = scratch.write("tables: { t: { source: feed.csv, key: id } }\n", to: "job.yaml")
    let told = try Command.run(["mirror", scratch.file("a.db"), job])
    #expect(
      told.talk.contains(
        "contract: evolve adds columns; columns: [A, B] loads only some; rename: {OLD: NEW} gives another name"
      ),
      "\(told.talk)")
    #expect(!told.talk.contains("--alter"), "\(told.talk)")
    let typed = try Command.run([
      "mirror", scratch.file("a.db"), "--table", "t", "--source", scratch.file("feed.csv"), "--key", "id",
    ])
    #expect(typed.talk.contains("--alter adds columns"), "\(typed.talk)")
  }
}
