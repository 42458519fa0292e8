import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Runs that are told to end while they look for what the last delivery had, too.
@Suite("Signals to a mirror's second night") struct MirrorSignalTests {
  let scratch = Scratch()
  private static let count = 500_000

  @Test("A signal at any moment ends it at once, and the next run is right", arguments: ["changed", "same"])
  func anyMoment(kind: String) throws {
    var lines = (0..<Self.count).map { "\($0),nome \($0),\($0 % 31)" }
    let feed = scratch.file("feed.csv")
    func deliver() { _ = scratch.write("id,name,v\n" + lines.joined(separator: "\n") + "\n", to: "feed.csv") }
    deliver()
    let database = scratch.file("a.db")
    let words = ["mirror", database, "--table", "t", "--source", feed, "--key", "id", "--sweep", "hard"]
    #expect(try Command.run(words).exitCode == 0)
    // Many stretches behind known ones, with texts among numbers; or hardly anything.
    if kind == "changed" {
      for index in stride(from: 1_000, to: Self.count, by: 5_000) { lines[index] += "x" }
    } else {
      lines[lines.count - 1] += "x"
    }
    deliver()
    // An undisturbed run of a copy says how long it takes.
    let copy = scratch.file("copy.db")
    try Data(contentsOf: URL(fileURLWithPath: database)).write(to: URL(fileURLWithPath: copy))
    let begin = ContinuousClock.now
    #expect(try Command.run(["mirror", copy] + words.dropFirst(2)).exitCode == 0)
    let (seconds, attoseconds) = (ContinuousClock.now - begin).components
    let duration = Double(seconds) + Double(attoseconds) * 1e-18
    var endedCount = 0
    for moment in 1...60 {
      let child = try Command.start(words)
      usleep(UInt32(duration * Double(moment) / 60 * 1_000_000))
      child.send(signal: SIGTERM)
      let start = ContinuousClock.now
      let code = try child.finish(seconds: 30).exitCode
      #expect(ContinuousClock.now - start < .seconds(20), "\(moment) of 60 parts of \(duration) s")
      if code == 0 { break }
      endedCount += 1
    }
    #expect(endedCount > 0)
    #expect(try Command.run(words).exitCode == 0)
    let count = kind == "changed" ? Self.count / 5_000 : 1
    #expect(
      try Database(database).rows("SELECT count(*), sum(v LIKE '%x') FROM t") == ["\(Self.count)|\(count)"])
  }
}
