import Foundation
import TestSupport
import Testing

/// `upsurge bench`: what it prints, writes and refuses, and that it leaves nothing behind.
@Suite("Bench command")
struct BenchCommandTests {
  let scratch = Scratch()

  /// The folders that benchmarks have left.
  private var leftovers: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: scratch.path))?.filter {
      $0.hasPrefix("upsurge-bench")
    } ?? []
  }

  private static let hasSQLite3 = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":")
    .contains {
      access("\($0)/sqlite3", X_OK) == 0
    }

  @Test(
    "Names that programs could take for something else are files to them, also without a folder",
    .enabled(if: hasSQLite3),
    arguments: [
      "-init.csv", "|touch mark.csv", "a b'c\"d\\e.csv", "a\n.shell touch mark\nSELECT 1;.csv", "é#?%41.csv",
    ])
  func hostileNames(name: String) throws {
    let mark = "mark-\(UInt64.random(in: 0 ... .max))"
    let path = scratch.write("id,b\n1,x\n2,y\n", to: name.split(separator: "mark").joined(separator: mark))
    // As the shell's user would name it, in the folder where it lies.
    let relative = try Command.run(
      [
        scratch.path,
        path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? "",
      ],
      script: #"cd "$1" && "$0" bench --file="$2" --key id --rounds 1 --compare sqlite3 --scratch . -q"#)
    #expect(relative.exitCode == 0, "\(relative.talk)\(relative.output)")
    #expect(
      access(scratch.file(mark), F_OK) != 0 && access(mark, F_OK) != 0, "no command of the name was run")
    #expect(leftovers.isEmpty)
  }

  @Test("A signal ends the command, and the folder goes with it", arguments: [SIGINT, SIGTERM, SIGHUP])
  func signal(signal: Int32) throws {
    let child = try Command.start(
      ["bench", "--rows", "100000", "--rounds", "10000", "--scratch", scratch.path])
    child.waitForHandlers()
    for _ in 0..<3_000 where leftovers.isEmpty { usleep(10_000) }
    #expect(!leftovers.isEmpty)
    child.send(signal: signal)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 128 + signal, "\(outcome.talk)")
    #expect(outcome.talk.contains("interrupted; the scratch folder is removed"))
    #expect(outcome.output.isEmpty && leftovers.isEmpty)
  }

  @Test("The command prints a table, and writes JSON and a page")
  func command() throws {
    let (json, html) = (scratch.file("r.json"), scratch.file("r.html"))
    let outcome = try Command.run([
      "bench", "--rows", "300", "--rounds", "1", "--scratch", scratch.path, "--json", json, "--html", html,
    ])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.output.hasPrefix("300 generated rows of 6 columns"))
    #expect(outcome.talk.contains("round 1 of 1"))
    let results = try JSONSerialization.jsonObject(with: Data(try readFile(json))) as? [String: Any]
    #expect((results?["results"] as? [Any])?.count == 6)
    let commands = results?["commands"] as? [String]
    #expect(commands?.first?.hasPrefix("upsurge bench --rows 300 --rounds 1") == true)
    #expect(String(decoding: try readFile(html), as: UTF8.self).hasPrefix("<!DOCTYPE html>"))
    #expect(leftovers.isEmpty)
    let quiet = try Command.run(
      ["bench", "changed", "--rows", "30", "--rounds", "1", "--scratch", scratch.path, "--json", "-", "-q"])
    #expect(quiet.exitCode == 0 && quiet.talk.isEmpty && quiet.output.contains("\"suite\":\"changed\""))
  }

  @Test("A URL that is misspelled, or stands beside other words, is not repeated: it may hold a password")
  func secrets() throws {
    for words in [["changed", "postgres://u:sesame@h/d"], ["POSTGRES://u:sesame@h/d"], ["postgresql:/u:sesame@h/d"]] {
      let outcome = try Command.run(["bench", "--scratch", scratch.path] + words)
      #expect(outcome.exitCode == 64 && !outcome.talk.contains("sesame"), "\(outcome.talk)")
      #expect(outcome.talk.contains("postgres://USER@HOST/DATABASE"), "\(outcome.talk)")
    }
    #expect(leftovers.isEmpty)
  }

  @Test(
    "What cannot be measured is refused before anything is made",
    arguments: [
      (["--rows", "7000001"], 64, "at most 7,000,000 are made"),
      (["--rows", "0"], 64, "--rows takes at least 1"), (["--rounds", "0"], 64, "--rounds takes at least 1"),
      (["--key", "id"], 64, "--key is for --file"),
      (["--compare", "mysql"], 64, "--compare mysql is not known"),
      (["--compare", ""], 64, "known: sqlite3, sqlite-utils, duckdb"), (["nothing"], 64, "there is no suite nothing"),
      (["new", "changed"], 64, "one suite is measured at a time"),
      (["postgres://127.0.0.1:1/d", "changed"], 64, "one server is measured at a time"),
      (["postgres://127.0.0.1:1/d", "--file", "IN"], 64, "--file does not apply to a server"),
      (["postgres://127.0.0.1:1/d", "--key", "id"], 64, "--key does not apply to a server"),
      (["postgres://127.0.0.1:1/d", "--compare", "duckdb"], 64, "--compare does not apply to a server"),
      (["postgres://127.0.0.1:1/d", "--rows", "0"], 64, "--rows takes at least 1"),
      (["--file", "-"], 64, "can be read once"), (["changed", "--file", "IN"], 64, "two deliveries"),
      (["unchanged", "--file", "IN"], 64, "needs --key COLS"), (["--html", "-"], 64, "--html takes a file"),
      (["--memory", "1"], 64, "--memory 1 is too small"), (["--file", "IN", "--key", "no"], 64, "no"),
      (["--file", "missing.csv"], 66, "missing.csv"), (["--file", "BAD"], 65, "expected 2 fields"),
      (["--json", "/nowhere/a.json"], 73, "--json"), (["--html", "/nowhere/a.html"], 73, "--html"),
      (["--scratch", "/nowhere"], 73, "--scratch DIR names a folder that can be written"),
    ] as [([String], Int32, String)])
  func refused(arguments: [String], code: Int32, words: String) throws {
    let good = scratch.write("a,b\n1,x\n", to: "good.csv")
    let bad = scratch.write("a,b\n1,x\n2\n", to: "bad.csv")
    let given = arguments.map { $0 == "IN" ? good : $0 == "BAD" ? bad : $0 }
    let place = given.contains("--scratch") ? [] : ["--scratch", scratch.path]
    let outcome = try Command.run(["bench"] + given + place)
    #expect(outcome.exitCode == code && outcome.talk.contains(words), "\(outcome.talk)")
    #expect(outcome.output.isEmpty && leftovers.isEmpty)
  }
}
