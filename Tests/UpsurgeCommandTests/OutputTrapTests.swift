import Foundation
import TestSupport
import Testing
import Upsurge

/// Files that were laid out for a run in a folder that all may write, and names that mean the same file.
@Suite("Output traps")
struct OutputTrapTests {
  let scratch = Scratch()

  private func load(_ words: [String]) throws -> Command.Outcome {
    let source = scratch.write("a,b\n1,x\n2\n", to: "in.csv")
    return try Command.run(["load", scratch.file("a.db"), "t", source, "--on-error", "reject"] + words)
  }

  @Test(
    "Each output refuses a symbolic link", arguments: ["--rejects", "--summary", "--changes", "--emit-sql"])
  func link(option: String) throws {
    let victim = scratch.write("precious", to: "victim")
    try FileManager.default.createSymbolicLink(atPath: scratch.file("link"), withDestinationPath: victim)
    let outcome = try load([option, scratch.file("link")])
    #expect(outcome.exitCode == 73 && outcome.talk.contains("symbolic link"), "\(outcome.talk)")
    #expect(try readFile(victim) == Array("precious".utf8))
  }

  @Test("A hard link to something else is refused in a folder that all may write, and nowhere else")
  func hardLink() throws {
    let victim = scratch.write("precious", to: "victim")
    for (folder, mode, code) in [("open", 0o1777, 73), ("own", 0o700, 2)] as [(String, mode_t, Int32)] {
      let path = scratch.file(folder)
      #expect(mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
      #expect(Foundation.link(victim, path + "/r") == 0)
      let outcome = try load(["--rejects", path + "/r"])
      #expect(outcome.exitCode == code, "\(outcome.talk)")
      if code == 73 {
        #expect(outcome.talk.contains("hard link"), "\(outcome.talk)")
        #expect(try readFile(victim) == Array("precious".utf8))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
      }
    }
  }

  @Test("New files are the user's alone; one that was there keeps its rights, and nothing of its content")
  func rights() throws {
    let old = scratch.write(String(repeating: "old", count: 10_000), to: "old")
    chmod(old, 0o644)
    let outcome = try load(["--rejects", scratch.file("new"), "--summary", old])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    var status = stat()
    #expect(stat(scratch.file("new"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(old, &status) == 0 && status.st_mode & 0o777 == 0o644)
    #expect(try JSONSerialization.jsonObject(with: Data(readFile(old))) is [String: Any])
  }

  @Test(
    "Two names of one file that is not there yet are one file",
    arguments: [
      ["--rejects", "DIR/new", "--summary", "DIR/./new"], ["--rejects", "DIR/a.db"],
      ["--changes", "DIR//a.db-wal"], ["--emit-sql", "DIR/x", "--changes", "DIR/x"],
      ["--rejects", "DIR/init.sql"],
    ])
  func sameFile(words: [String]) throws {
    let script = scratch.write("SELECT 1", to: "init.sql")
    let words = words.map { $0.replacingOccurrences(of: "DIR", with: scratch.path + "/.") }
    let outcome = try load(words + ["--init", script])
    #expect(outcome.exitCode == 64 && outcome.talk.contains("would overwrite"), "\(outcome.talk)")
    #expect(try readFile(script) == Array("SELECT 1".utf8))
  }

  @Test(
    "A run leaves the database and nothing else: no journal, no temporary file", arguments: ["normal", "off"])
  func leftovers(durability: String) throws {
    let temporary = scratch.file("tmp")
    #expect(mkdir(temporary, 0o700) == 0)
    let source = scratch.write(
      "a,b\n" + (1...20_000).map { "\($0 * 7919 % 20_000),x\n" }.joined(), to: "in.csv")
    let outcome = try Command.run(
      [scratch.file("a.db"), source, durability, temporary],
      script:
        #"TMPDIR="$4" SQLITE_TMPDIR="$4" exec "$0" load "$1" t "$2" --durability "$3" --index a,b --changes - -q"#
    )
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    let inspected = try Command.run(["inspect", scratch.file("a.db")])
    #expect(inspected.exitCode == 0)
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: scratch.path)) == ["a.db", "in.csv", "tmp"])
  }

  @Test("A killed run leaves no temporary file either")
  func killed() throws {
    let temporary = scratch.file("tmp")
    #expect(mkdir(temporary, 0o700) == 0)
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    let child = try Command.start(
      [scratch.file("a.db"), pipe, temporary],
      script:
        #"TMPDIR="$3" SQLITE_TMPDIR="$3" exec "$0" load "$1" t "$2" --index a --changes - --emit-sql "$1.sql""#
    )
    let bytes = Array(("a,b\n" + (1...200_000).map { "\($0),x\n" }.joined()).utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(max(rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }, 0))
    }
    child.send(signal: SIGKILL)
    #expect(try child.finish().exitCode == 1_000 + SIGKILL)
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    #expect(Set(files).isSubset(of: ["a.db", "a.db-wal", "a.db-shm", "a.db.sql", "pipe", "tmp"]), "\(files)")
  }

  @Test("What is said of hostile paths is text of one colour")
  func hostilePaths() throws {
    let name = "a\u{1B}[31m\nb'\"$(x)\u{202E}"
    for words in [
      ["load", scratch.file("a.db"), "t", scratch.file(name)],
      ["load", "/nowhere/" + name, "t", "/dev/null"],
      ["load", scratch.file("a.db"), "t", "/dev/null", "--summary", "/nowhere/" + name],
      ["load", scratch.file("a.db"), "t", "/dev/null", "--rejects", "/nowhere/" + name],
      ["load", scratch.file("a.db"), "t", "/dev/null", "--init", "/nowhere/" + name],
      ["inspect", scratch.file(name)], ["replay", scratch.file(name)], ["load", "x", "t", "--" + name],
      ["inspect", scratch.write("a,b\n1,2\n", to: name)],
      ["inspect", scratch.write("a\u{1B}[31m,b\n1,2\n3\n", to: "hostile.csv"), "--check"],
      ["load", scratch.file("b.db"), "t", scratch.file(name), "-v", "--changes", scratch.file(name + "2")],
    ] {
      let outcome = try Command.run(words)
      let said = outcome.talk + outcome.output
      #expect(
        !said.isEmpty && !said.utf8.contains(0x1B) && !said.contains("\u{202E}"),
        "\(words) \(said.debugDescription)")
    }
  }
}
