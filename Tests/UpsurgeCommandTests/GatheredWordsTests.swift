import TestSupport
import Testing

@testable import UpsurgeCommand

/// Options that are given again, and many files, which reach the argument parser as one word each.
@Suite("Words of a command line that are gathered") struct GatheredWordsTests {
  @Test("Values of one option go together, in their order, and nothing else moves")
  func values() {
    let words = [
      "load", "a.db", "t", "--rename", "a=b", "-q", "--rename=c=d", "--null", "", "--type", "a:TEXT", "--null=-", "x",
    ]
    #expect(
      GatheredWords.gather(words) == [
        "load", "a.db", "t", "--rename", "a=b\0c=d", "-q", "--null", "\0-", "--type", "a:TEXT", "x",
      ])
    #expect(GatheredWords.split(["a=b\0c=d", "", "\0-"]) == ["a=b", "c=d", "", "", "-"])
  }

  @Test("What the argument parser refuses is left to it, and so is what follows two dashes")
  func others() {
    for words in [
      ["load", "a.db", "t", "--rename"], ["load", "--rename", "--type", "a:TEXT"], ["load", "--null", "-"],
      ["load", "--", "--null", "a", "--null", "b"], ["load", "--null=-x"], [],
    ] {
      #expect(GatheredWords.gather(words) == words)
    }
  }

  @Test("Files that stand side by side go together; what may be something else does not")
  func sources() {
    let files = (0..<9).map { "f\($0)" }
    #expect(
      GatheredWords.gather(["load", "--key", "id", "a.db", "t"] + files)
        == ["load", "--key", "id", "a.db", "t", "f0\0f1\0f2\0f3\0f4\0f5\0f6\0f7\0f8"])
    #expect(
      GatheredWords.gather(["load", "a.db", "t"] + files.prefix(3) + ["-"] + files)
        == ["load", "a.db", "t", "f0\0f1\0f2", "-", "f0", "f1", "f2", "f3\0f4\0f5\0f6\0f7\0f8"])
    #expect(GatheredWords.gather(["mirror"] + files) == ["mirror"] + files)
  }

  @Test("A load takes them all")
  func load() throws {
    let scratch = Scratch()
    let files = (0..<40).map { scratch.write("a,b\n\($0),x\n", to: "\($0).csv") }
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t"] + files.prefix(20) + ["--rename", "a=c", "-q", "--rename=b=d"]
        + files.dropFirst(20) + ["--type", "c:REAL", "--type", "d:TEXT"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try Database(scratch.file("a.db")).rows("SELECT count(*), sum(c), typeof(c), min(d) FROM t")
        == ["40|780.0|'real'|'x'"])
  }
}
