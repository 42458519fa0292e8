import TestSupport
import Testing

/// Rejects that nobody has asked to be kept are at least shown.
@Suite("Rejects that are kept nowhere", .serialized)
struct LostRejectsTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  private static let text = "id,a\n1,x\n2\n3,z\n4\n5\n6\n" + (7...20).map { "\($0),q\n" }.joined()

  private func load(_ arguments: [String], text: String = text) throws -> Command.Outcome {
    try Command.run(
      ["load", path, "t", scratch.write(text, to: "in.csv"), "--on-error", "reject"] + arguments)
  }

  @Test("The first three are shown, and the command that keeps all of them is true")
  func shown() throws {
    let outcome = try load([])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    let lines = outcome.talk.split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex(of: "rejected: 4 ragged"), "\(outcome.talk)")
    for (offset, line) in [3, 5, 6].enumerated() {
      #expect(
        lines[start + 1 + offset].contains("in.csv, line \(line), record"), "\(lines[start + 1 + offset])")
      #expect(lines[start + 1 + offset].hasSuffix("[ragged] (column id)"), "\(lines[start + 1 + offset])")
    }
    #expect(lines[start + 4] == "  and 1 more reject")
    #expect(
      lines[start + 5]
        == "  kept nowhere: the same command with --dry-run --rejects FILE writes them to a file")
    let file = scratch.file("bad.ndjson")
    #expect(try load(["--dry-run", "--rejects", file]).exitCode == 2)
    #expect(String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n").count == 5)
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["16"])
  }

  @Test("Nothing is said of rejects that are kept, nor where there are none", arguments: [true, false])
  func kept(isFile: Bool) throws {
    let outcome = try load(["--rejects", isFile ? scratch.file("bad.ndjson") : "table", "--summary", "-"])
    #expect(outcome.exitCode == 2)
    #expect(!outcome.talk.contains("kept nowhere"), "\(outcome.talk)")
    #expect(!outcome.output.contains("rejects_kept"))
    let clean = try load(["--summary", "-"], text: "id,a\n1,x\n")
    #expect(clean.exitCode == 0 && !clean.talk.contains("kept nowhere"), "\(clean.talk)")
    #expect(!clean.output.contains("rejects_kept"))
  }

  @Test("The summary says it to programs, and a dry run names the option alone")
  func summary() throws {
    let outcome = try load(["--dry-run", "--summary", "-"])
    #expect(
      outcome.talk.contains("  kept nowhere: --rejects FILE writes them to a file\n"), "\(outcome.talk)")
    #expect(outcome.output.contains("\"rejects_kept\":false"), "\(outcome.output)")
  }

  @Test("A column is named where one is at fault")
  func column() throws {
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL)")
    let outcome = try load([], text: "id,a\n1,\n")
    #expect(outcome.talk.contains("[not-null] (column a)\n  kept nowhere"), "\(outcome.talk)")
  }

  @Test(
    "A mirror says what keeps them, and its status what the last delivery has lost, until one loses nothing")
  func mirror() throws {
    let feed = scratch.write(Self.text, to: "feed.csv")
    let job = scratch.write("tables:\n  t:\n    source: \(feed)\n    key: [id]\n", to: "job.yaml")
    let run = try Command.run(["mirror", path, job])
    #expect(run.exitCode == 2, "\(run.talk)")
    #expect(
      run.talk.contains("  kept nowhere: `rejects: table` in the job keeps such records\n"), "\(run.talk)")
    let (start, end) = (
      "      its last delivery: 4 records rejected, the first at ",
      "/feed.csv, line 3, record 2, byte 9, and kept nowhere, for want of rejects: table\n"
    )
    for _ in 0..<2 {
      let status = try Command.run(["status", path])
      #expect(status.exitCode == 0)
      #expect(status.output.contains(start) && status.output.contains(end), "\(status.output)")
      // The delivery is still the same, and what it lost is lost.
      let unchanged = try Command.run(["mirror", path, job])
      #expect(unchanged.exitCode == 2)
      #expect(
        unchanged.talk.contains("nothing was read; records of it were rejected or wait for the schema, so the exit code is 2\n"),
        "\(unchanged.talk)")
    }
    _ = scratch.write(
      "tables:\n  t:\n    source: \(feed)\n    key: [id]\n    rejects: table\n", to: "job.yaml")
    let again = try Command.run(["mirror", path, job])
    #expect(again.exitCode == 2, "\(again.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM upsurge_rejects") == ["4"])
    #expect(try !Command.run(["status", path]).output.contains("kept nowhere"))
  }

  @Test(
    "A load that empties the file of an earlier one says so; an empty file, a new one and a resumed run's need no word"
  )
  func replaced() throws {
    let file = scratch.file("bad.ndjson")
    let words = " of earlier rejects, which are gone, as each load makes the file anew"
    let clean = "id,a\n8,x\n"
    for (text, isSaid) in [
      (Self.text, false), (clean, true), (clean, false), (Self.text, false), (Self.text, true),
    ] {
      let outcome = try load(["--key", "id", "--rejects", file], text: text)
      #expect(outcome.talk.contains("warning: \(file) held ") == isSaid, "\(outcome.talk)")
      #expect(outcome.talk.contains(words) == isSaid, "\(outcome.talk)")
    }
    for (text, isSaid) in [(Self.text, true), (clean, true), (clean, false)] {
      let quiet = try load(["--key", "id", "--rejects", file, "--quiet"], text: text)
      #expect(quiet.talk.hasPrefix("warning: \(file) held ") == isSaid && quiet.talk.isEmpty != isSaid, "\(quiet.talk)")
    }
    let steps = ["--key", "id", "--commit-every", "1", "--rejects", scratch.file("own.ndjson")]
    let text = "id,a\n21,x\n22\n23,z\n24\n" + (25...40).map { "\($0),q\n" }.joined()
    #expect(try load(steps + ["--max-rejects", "1"], text: text).exitCode == 3)
    let resumed = try load(steps + ["--max-rejects", "9"], text: text)
    #expect(resumed.exitCode == 2 && !resumed.talk.contains(words), "\(resumed.talk)")
  }
}
