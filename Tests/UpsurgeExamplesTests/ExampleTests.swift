import Foundation
import TestSupport
import Testing

/// The examples of the README and of the articles, each in an empty folder and a process of its own.
@Suite("Examples") struct ExampleTests {
  let scratch = Scratch()

  /// The program that was built beside the tests.
  private static let program: URL = {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    for _ in 0..<4 {
      folder.deleteLastPathComponent()
      let program = folder.appendingPathComponent("UpsurgeExamples")
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
    }
    return folder
  }()

  /// What each prints; numbers with a fraction, which are times, as `T`.
  private static let output: [String: String] = [
    "load": "2 0 0\n", "events": "2 done\n", "sources": "1000\n2\n", "resume": "0 2 true\n",
    "stages": """
    read T
    parse T
    wait_for_writer T
    prepare T
    wait_for_reader T
    store T
    commit T
    checkpoint T
    prepare

    """,
    "rules": "1 done\n", "bulk": "inserted [UpsurgeSQLite.SQLValue.integer(1)]\n1\n",
    "returning": """
    1 inserted [UpsurgeSQLite.SQLValue.integer(1)]
    2 inserted [UpsurgeSQLite.SQLValue.integer(2)]
    2

    """,
    "plan": #"""
    upsert ["UNIQUE (name)"] ["INSERT INTO \"players\" (\"name\", \"score\") VALUES (?1, ?2)\nON CONFLICT (\"name\") \#
    DO UPDATE SET \"score\" = excluded.\"score\"\nWHERE (\"players\".\"score\" IS NOT excluded.\"score\")"]

    """#, "replay": "1 0\n",
    "job": "2 0\n1 0 4\n", "runner": "0\n",
    "quick-start":
      #"50000 inserted, 0 updated, 0 unchanged\#n["player 999", "player 1999", "player 2999"]\#n"#,
    "players": "2 0 0\n1 unchanged 2\n2 inserted 3\n", "reading": #"1 Ann ["Ann"] 1\#n"#,
    "keys": #"["ann@x.org 1"]\#n"#, "search": #"["Upserts"]\#n"#, "sync": #"["Rob"]\#n"#,
    "features": """
    1 0 1
    [1]
    3
    ["ann"] Ann
    ["<b>How</b> <b>rows</b> change"] ["[How] [rows] change"]

    """,
    "mirror": """
    3 new, 0 changed, 0 as before, 0 gone
    1 new, 1 changed, 2 as before, 0 gone
    0 new, 0 changed, 1 as before, 0 gone
    nothing is swept: 3 of 4 rows of table stations are not in the delivery, more than the maximumDeletes of 10%

    """,
  ]

  private func run(_ arguments: [String], in folder: String) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = Self.program
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  @Test("Each does what it says", arguments: output.keys.sorted()) func run(_ name: String) throws {
    let (status, printed) = try run([name], in: scratch.path)
    #expect(status == 0)
    var output = printed.replacing(/[0-9]+\.[0-9]+(e-[0-9]+)?|[0-9]+e-[0-9]+/, with: "T")
    if name == "stages" {
      // Which stage takes longest is the machine's.
      output = output.replacing(/[a-z_]+\n$/, with: "prepare\n")
    }
    #expect(output == Self.output[name])
  }

  #if GRDB
    @Test("The one for GRDB does, too") func grdb() throws {
      let (status, output) = try run(["grdb"], in: scratch.path)
      #expect(status == 0 && output == "4\n")
    }
  #else
    @Test("The one for GRDB does, too", .disabled("built without the trait GRDB")) func grdb() {}
  #endif

  @Test("All of them are run here") func complete() throws {
    let (status, output) = try run([], in: scratch.path)
    #expect(status == 0)
    let names = Set(output.split(separator: "\n").map(String.init))
    #expect(names.subtracting(["grdb"]) == Set(Self.output.keys))
  }
}
