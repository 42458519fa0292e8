import Foundation
import TestSupport
import Testing
import Upsurge

/// DESIGN promise 4 for inputs that try to break it: a clear refusal, or success, and peak memory within
/// `--memory` + 32 MiB.
@Suite("Bombs", .serialized)
struct BombTests {
  @Test("Memory and message", arguments: Bomb.all)
  func bomb(_ bomb: Bomb) throws {
    let scratch = Scratch()
    if let schema = bomb.schema { try Database(scratch.file("a.db")).rows(schema) }
    let rejects = bomb.options.contains("reject") ? ["--rejects", scratch.file("rejects")] : []
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", scratch.write(bomb.make(), to: "input")] + bomb.options + rejects
        + ["--memory", "16MiB", "--summary", "-", "-q"])
    #expect(outcome.exitCode == bomb.code, "\(outcome.talk)")
    let summary = try #require(
      JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.talk)")
    let peak = try #require(summary["peak_memory_bytes"] as? Int)
    MemoryBound.expect(peak, memory: 16 << 20, bomb.name)
    if !bomb.says.isEmpty {
      let kept = (try? String(contentsOfFile: scratch.file("rejects"), encoding: .utf8)) ?? ""
      let said = outcome.talk + kept.prefix(4_000)
      #expect(said.contains(bomb.says), "\(said.prefix(2_000))")
    }
    if let stored = bomb.stored {
      #expect(try Database(scratch.file("a.db")).rows("SELECT count(*) FROM t") == ["\(stored)"])
    }
  }

  @Test("--max-ratio", arguments: [("100", 65, "and --max-ratio is 100"), ("40000", 2, ""), ("none", 2, "")])
  func ratio(_ limit: String, _ code: Int32, _ says: String) throws {
    let scratch = Scratch()
    var text = ZstdText()
    text.add("{\"a\":1}\n")
    text.add(UInt8(ascii: "x"), count: 70 << 20)
    let outcome = try Command.run(
      [
        "load", scratch.file("a.db"), "t", scratch.write(text.finished(), to: "input"), "--max-ratio", limit,
        "--on-error", "reject",
      ])
    #expect(outcome.exitCode == code, "\(outcome.talk)")
    #expect(says.isEmpty || outcome.talk.contains(says), "\(outcome.talk)")
    let inspected = try Command.run(
      ["inspect", scratch.file("input"), "--check", "--max-ratio", limit])
    #expect(inspected.exitCode == 65, "\(inspected.talk)")
    #expect(says.isEmpty || inspected.talk.contains(says))
  }

  @Test(
    "--max-ratio takes a number of at least 1, or none", arguments: ["0.5", "0", "-3", "x", "inf", "nan"])
  func badRatio(_ limit: String) throws {
    let outcome = try Command.run(["load", "a.db", "t", "--max-ratio=\(limit)"])
    #expect(outcome.exitCode == 64)
    #expect(
      outcome.talk.contains("--max-ratio \(limit): give a number of at least 1, or none"), "\(outcome.talk)")
  }

  @Test("What ends at a ratio within a file that was good so far says what is committed")
  func ratioBehindRecords() throws {
    let scratch = Scratch()
    var text = ZstdText()
    text.add("{\"a\":1}\n{\"a\":2}\n")
    text.add(UInt8(ascii: "x"), count: 66 << 20)
    let outcome = try Command.run(
      [
        "load", scratch.file("a.db"), "t", scratch.write(text.finished(), to: "input"), "--commit-every", "1",
      ])
    #expect(outcome.exitCode == 3, "\(outcome.talk)")
    #expect(outcome.talk.contains("grows like a decompression bomb"))
    #expect(try Database(scratch.file("a.db")).rows("SELECT a FROM t") == ["1", "2"])
  }
}
