import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand
@testable import UpsurgeMirror

/// What a mirror says names keys of the job file, and no options of `upsurge load`.
@Suite("Words of job files") struct JobWordingTests {
  @Test(
    "Options become keys",
    arguments: [
      (
        "--alter adds it; --columns A,B loads only the columns named",
        "contract: evolve adds it; columns: [A, B] loads only the columns named"
      ),
      (
        "--on-error reject goes on without it; --rejects FILE keeps it",
        "on-error: reject goes on without it; rejects: FILE keeps it"
      ),
      ("--key takes names of: a, b", "key takes names of: a, b"),
      ("--busy-timeout MS waits longer", "busy-timeout: MS waits longer"),
      ("give at least --memory 16MiB", "give at least memory: 16MiB"),
      ("--rename OLD=NEW (or --strict)", "rename: {OLD: NEW} (or strict: true)"),
      ("`--mode=ignore`", "`mode: ignore`"),
      ("raise --max-rejects to allow more", "raise max-rejects to allow more"),
      // A command line stays one.
      (
        "give it up with upsurge runs 'a.db' --forget 7; --atomic makes it whole",
        "give it up with upsurge runs 'a.db' --forget 7; atomic: table makes it whole"
      ),
      ("confirm it: --accept-change", "confirm it: --accept-change"),
    ])
  func keys(text: String, expected: String) {
    #expect(JobWording.ofJob(text) == expected)
  }

  @Test("Every option that is a key of a table is known")
  func complete() {
    let known = JobWording.flags.union(JobWording.values).union(["alter"])
    let missing = OptionCatalogue.all.filter { $0.group == nil && !known.contains($0.key) }.map(\.key)
    #expect(missing == [])
  }

  /// Options that are said to who runs a mirror as they are typed: those of `upsurge mirror`, and of other commands.
  private static let typed: Set<String> = [
    // upsurge mirror
    "--accept-change", "--accept-delivery", "--dry-run", "--verify", "--summary", "--metrics", "--log",
    "--forget", "--yes",
    "--table", "--source", "--check", "--progress", "--explain-time", "--at", "--source-from",
    // Only upsurge load asks for these, and only there are they spoken of.
    "--resume", "--history", "--explain", "--emit-sql", "--max-statement", "--line", "--scratch", "--rows",
    "--rounds",
    "--file", "--peer", "--floor", "--compressed", "--schema", "--version", "--paper", "--ink", "--soft",
    "--upsurge", "--csv",
    "--option", "--skip", "--pattern",
    // zstd's own.
    "--long",
  ]

  @Test("No hint of the engine names an option that a job file does not have")
  func walk() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    var count = 0
    for module in [
      "Upsurge", "UpsurgeStorage", "UpsurgeInput", "UpsurgeParsing", "UpsurgeRecords", "UpsurgeMirror",
    ] {
      let folder = root.appendingPathComponent("Sources/\(module)")
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        for line in text.split(separator: "\n") where line.contains("--") {
          let code = line.drop { $0 == " " }
          if code.hasPrefix("//") || !code.contains("\"") { continue }
          // The texts of the line, and the code between them.
          for (index, text) in code.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 0 || text.contains("upsurge load") || text.contains("upsurge replay") || text == "--merge newer" { continue }
            for option in Self.options(in: JobWording.ofJob(String(text))) where !Self.typed.contains(option)
            {
              // A bare option in a table of the engine's own is no hint.
              if text == option { continue }
              Issue.record("\(file.lastPathComponent): \(option) in: \(text)")
            }
          }
          count += Self.options(in: String(code)).count
        }
      }
    }
    #expect(count > 100)
  }

  private static func options(in text: String) -> [String] {
    text.split { !($0.isLetter && $0.isLowercase || $0 == "-") }.map(String.init).filter { word in
      word.hasPrefix("--") && word.count > 3 && word.dropFirst(2).first?.isLetter == true
    }
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
