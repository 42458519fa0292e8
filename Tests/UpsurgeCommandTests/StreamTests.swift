import Foundation
import TestSupport
import Testing
import Upsurge

/// Standard streams that are closed, full, or read by nobody.
@Suite("Standard streams")
struct StreamTests {
  let scratch = Scratch()

  private func run(_ script: String, _ more: [String] = []) throws -> Command.Outcome {
    let source = scratch.write("a,b\n1,x\n2,y\n", to: "in.csv")
    return try Command.run([scratch.file("a.db"), source] + more, script: script)
  }

  private func checkRows() throws {
    let database = Database(scratch.file("a.db"))
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(try database.rows("SELECT * FROM t") == ["1|'x'", "2|'y'"])
  }

  @Test(
    "Closed streams: nothing that is said gets into a file",
    arguments: [
      (#"exec "$0" load "$1" t "$2" --progress always <&- >&- 2>&-"#, 0),
      (#"exec "$0" load "$1" t "$2" -v 2>&-"#, 0), (#"exec "$0" load "$1" t "$2" <&- 2>&-"#, 0),
      (#"exec "$0" load "$1" t "$2" --summary - >&-"#, 3),
      (#"exec "$0" load "$1" t "$2" --changes "$1.changes" >&- 2>&-"#, 0),
    ] as [(String, Int32)])
  func closed(script: String, code: Int32) throws {
    let outcome = try run(script)
    #expect(outcome.exitCode == code, "\(outcome.talk)")
    try checkRows()
    #expect(try readFile(scratch.file("in.csv")) == Array("a,b\n1,x\n2,y\n".utf8))
  }

  @Test("Changes for a closed stream are refused before anything is loaded")
  func closedChanges() throws {
    let outcome = try run(#"exec "$0" load "$1" t "$2" --changes - >&-"#)
    #expect(outcome.exitCode == 73 && outcome.talk.contains("fix: give another path"), "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }

  @Test("Standard input that is closed is no empty input")
  func closedInput() throws {
    let outcome = try run(#"exec "$0" load "$1" t - <&-"#)
    #expect(outcome.exitCode == 66 && outcome.talk.contains("standard input"), "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }

  @Test(
    "A reader that went away, or a full disk, behind standard output",
    arguments: [
      // The rows are committed; only the report of them failed.
      (#""$0" load "$1" t "$2" --summary - 2>"$1.talk" | true"#, 3, "cannot write the summary"),
      (#""$0" load "$1" t "$2" --summary - 2>"$1.talk" >/dev/full"#, 3, "No space left"),
      (#""$0" load "$1" t "$2" --changes - 2>"$1.talk" | true"#, 3, "--changes"),
    ] as [(String, Int32, String)])
  func brokenPipe(script: String, code: Int32, words: String) throws {
    // The shell's own code is that of the last command of a pipe.
    let parts = script.components(separatedBy: " | ")
    let whole = parts.count == 1 ? script : "{ \(parts[0]); echo $? >\"$1.code\"; } | { \(parts[1]); }"
    let outcome = try run(whole)
    var found = outcome.exitCode
    if parts.count > 1 {
      let text = String(decoding: try readFile(scratch.file("a.db.code")), as: UTF8.self)
      found = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }
    let talk = String(decoding: try readFile(scratch.file("a.db.talk")), as: UTF8.self)
    #expect(found == code && talk.contains(words), "\(found) \(talk)")
    try checkRows()
  }

  @Test("inspect and --explain say when what they print is lost; a reader that has enough ends them quietly")
  func printed() throws {
    for script in [
      #"exec "$0" inspect "$2" >/dev/full"#, #"exec "$0" load "$1" t "$2" --explain >/dev/full"#,
    ] {
      let outcome = try run(script)
      #expect(outcome.exitCode == 73 && outcome.talk.contains("No space left"), "\(outcome.talk)")
    }
    let head = try run(#"{ "$0" inspect "$2"; echo $? >"$1.code"; } | true"#)
    #expect(head.talk.isEmpty)
    let code = String(decoding: try readFile(scratch.file("a.db.code")), as: UTF8.self)
    // Killed by SIGPIPE as other tools are, unless the reader was slower to leave than inspect to write.
    #expect(["141\n", "0\n"].contains(code), "\(code)")
  }

  @Test("Outputs may be pipes, devices and descriptors that are open")
  func descriptors() throws {
    let outcome = try run(
      #"exec "$0" load "$1" t "$2" -q --changes /dev/stdout --rejects /dev/null --summary /dev/fd/5 5>"$1.summary""#
    )
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.output.split(separator: "\n").count == 2, "\(outcome.output)")
    #expect(String(decoding: try readFile(scratch.file("a.db.summary")), as: UTF8.self).hasPrefix("{"))
    try checkRows()
    // Behind what is in the file already.
    let appended = try run(
      #"echo first >"$1.log"; exec "$0" load "$1" u "$2" -q --changes /dev/fd/5 5>>"$1.log""#)
    #expect(appended.exitCode == 0)
    #expect(String(decoding: try readFile(scratch.file("a.db.log")), as: UTF8.self).hasPrefix("first\n{"))
    #expect(mkfifo(scratch.file("pipe"), 0o600) == 0)
    let alone = try run(#"exec "$0" load "$1" v "$2" --rejects "$3""#, [scratch.file("pipe")])
    #expect(alone.exitCode == 73 && alone.talk.contains("a pipe that nobody reads"), "\(alone.talk)")
  }
}
