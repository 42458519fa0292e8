import Foundation
import TestSupport
import Testing
import Upsurge

/// Files that are no files of rejects, or were made to do harm.
@Suite("Hostile files of rejects", .serialized)
struct HostileRejectsTests {
  let scratch = Scratch()

  private static let header =
    #"{"upsurge_rejects":1,"table":"t","rules":{"mode":"insert"},"contract":"freeze","format":"csv","#
    + #""dialect":{"delimiter":",","quote":"\""},"fields":["id","a"]}"#

  private func database() throws -> Database {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      "CREATE TABLE t(id INTEGER, a TEXT); CREATE TABLE other(x); INSERT INTO other VALUES (1)")
    return database
  }

  private func replay(_ bytes: [UInt8]) throws -> Command.Outcome {
    try Command.run(["replay", scratch.file("a.db"), scratch.write(bytes, to: "bad")])
  }

  @Test(
    "What is not a file of rejected records is refused, and stays as it is",
    arguments: [
      "id,a\n1,x\n", "{\"file\":\"x\",\"raw\":\"1,x\"}\n", "\n", "[1]\n", "{\"upsurge_rejects\":2}\n",
      "{\"upsurge_rejects\":\"1\"}\n", "{\"upsurge_rejects\":1}\n", "\u{0}\n",
      header.replacing("\"insert\"", with: "\"explode\""), header.replacing("\"csv\"", with: "\"exec\""),
      header.replacing("\",\"", with: "\"\\n\""), header.replacing("[\"id\"", with: "[7"),
      String(repeating: "[", count: 100_000) + "\n", String(repeating: "x", count: 5 << 20),
    ])
  func refused(text: String) throws {
    let database = try database()
    let outcome = try replay(Array(text.utf8))
    #expect(outcome.exitCode == 65 || outcome.exitCode == 64, "\(outcome.talk)")
    #expect(outcome.talk.utf8.count < 1_000)
    #expect(try readFile(scratch.file("bad")) == Array(text.utf8))
    #expect(!FileManager.default.fileExists(atPath: scratch.file("bad.replay")))
    #expect(try database.rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("Lines that nobody can read stay byte for byte; their neighbours are stored")
  func lines() throws {
    let database = try database()
    let bad: [[UInt8]] = [
      Array("{\"raw\":\"".utf8) + [0xE9] + Array("\"}".utf8), Array("{\"raw\":\"\\ud800\"}".utf8),
      Array("{\"raw\":\"\\ud83d\\u0041\"}".utf8), [0, 1, 2], Array("{\"raw\":[\"1\"]}".utf8),
      Array("{\"raw\":\"x\",\"raw_base64\":\"%\"}".utf8),
      Array(String(repeating: "{\"a\":", count: 5_000).utf8),
      Array((String(repeating: "y", count: 5 << 20)).utf8),
    ]
    var text = Array((Self.header + "\n{\"raw\":\"1,first\"}\n").utf8)
    for line in bad { text += line + [0x0A] }
    text += Array("{\"raw\":\"2,l\\u0000st\",\"file\":\"f\",\"record\":-1,\"line\":1.5,\"byte\":\"x\"}".utf8)
    let outcome = try replay(text)
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(outcome.talk.utf8.count < 4_000)
    #expect(try database.rows("SELECT id, hex(a) FROM t ORDER BY id") == ["1|'6669727374'", "2|'6C007374'"])
    let expected = Array((Self.header + "\n").utf8) + bad.joined(separator: [0x0A]) + [0x0A]
    #expect(try readFile(scratch.file("bad")) == expected)
    #expect(try replay(readFile(scratch.file("bad"))).exitCode == 2)
    #expect(try readFile(scratch.file("bad")) == expected)
    #expect(try database.rows("SELECT count(*) FROM t") == ["2"])
  }

  @Test("A second context that nobody can read costs only the records below it")
  func secondContext() throws {
    let database = try database()
    let other = Self.header.replacing("\"t\"", with: "\"missing\"")
    let lines = [
      Self.header, #"{"raw":"1,a"}"#, #"{"upsurge_rejects":7}"#, #"{"raw":"2,b"}"#, other, #"{"raw":"3,c"}"#,
      Self.header, #"{"raw":"4,d"}"#,
    ]
    let outcome = try replay(Array((lines.joined(separator: "\n") + "\n").utf8))
    #expect(outcome.exitCode == 2)
    #expect(
      outcome.talk.contains("line 3 cannot be understood: the rejects are of version 7"), "\(outcome.talk)")
    #expect(outcome.talk.contains("there is no table missing"), "\(outcome.talk)")
    #expect(try database.rows("SELECT id FROM t ORDER BY id") == ["1", "4"])
    let rest = String(decoding: try readFile(scratch.file("bad")), as: UTF8.self)
    #expect(rest == ([lines[0]] + lines[2...5]).joined(separator: "\n") + "\n")
  }

  @Test(
    "Names and SQL in the first line can do no more than a load's options",
    arguments: [
      (#""table":"t""#, #""table":"t(id) VALUES (1); DROP TABLE other; --""#),
      (#""mode":"insert""#, #""key":["id\") DO NOTHING; DROP TABLE other; --"]"#),
      (#""mode":"insert""#, #""key":["id"],"set":{"a":{"sql":"1); DROP TABLE other; --"}}"#),
      (#""mode":"insert""#, #""key":["id"],"key_where":"1); DROP TABLE other; --""#),
      (#""mode":"insert""#, #""key":["id"],"update_if":"1; DROP TABLE other""#),
      (#""fields":["id","a"]"#, #""fields":["id","a\") VALUES (1,2); DROP TABLE other; --"]"#),
    ])
  func injection(old: String, new: String) throws {
    let database = try database()
    try database.rows("CREATE UNIQUE INDEX i ON t(id)")
    let header = Self.header.replacing(old, with: new)
    #expect(header != Self.header)
    let outcome = try replay(Array((header + "\n{\"raw\":\"1,x\"}\n{\"raw\":\"1,y\"}\n").utf8))
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try database.rows("SELECT * FROM other") == ["1"])
    #expect(try database.rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("The file is read where it lies: no link, no folder, no pipe, no second replay")
  func places() throws {
    _ = try database()
    let file = scratch.write(Self.header + "\n{\"raw\":\"1,x\"}\n", to: "real")
    let link = scratch.file("link")
    #expect(symlink(file, link) == 0)
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    for (path, code, words) in [
      (link, Int32(64), "symbolic link"), (scratch.path, 64, "is not a file"), (pipe, 64, "is not a file"),
      (scratch.file("none"), 66, "cannot read"), ("-", 64, "give its path"),
    ] {
      let outcome = try Command.run(["replay", scratch.file("a.db"), path])
      #expect(outcome.exitCode == code && outcome.talk.contains(words), "\(path): \(outcome.talk)")
    }
    let summary = try Command.run(["replay", scratch.file("a.db"), file, "--summary", file])
    #expect(summary.exitCode == 64 && summary.talk.contains("would overwrite the file of rejects"))
    // No child of another test may keep it.
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    #expect(flock(descriptor, LOCK_EX) == 0)
    let second = try Command.run(["replay", scratch.file("a.db"), file])
    #expect(
      second.exitCode == 75 && second.talk.contains("is being written or replayed by process"),
      "\(second.talk)")
    close(descriptor)
    // Nor is a link followed that stands where the rest is to be written.
    #expect(symlink(scratch.file("a.db"), file + ".replay") == 0)
    #expect(try Command.run(["replay", scratch.file("a.db"), file]).exitCode == 73)
    #expect(try readFile(file) == Array((Self.header + "\n{\"raw\":\"1,x\"}\n").utf8))
  }
}
