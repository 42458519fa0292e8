import Foundation
import TestSupport
import Testing
import UpsurgeRecords

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Loads of new databases whose rows are packed into pages: the result is that of the ordinary path, wherever packing
/// ends.
@Suite("Direct loads")
struct DirectLoadTests {
  let scratch = Scratch()

  /// All that can be seen of a load and what it leaves, but for times and the log.
  private struct Result: Equatable {
    var rows: [String]
    var schema: [String]
    var file: [String]
    var ledger: Ledger
    var rejects: [String]
    var warnings: WarningLog
    var notes: [String]
    var summary: String
    var exitCode: Int32
    /// Whether rows were packed and are there; the only difference.
    var isPacked = false

    func equals(_ other: Result) -> Bool {
      var other = other
      other.isPacked = isPacked
      return self == other
    }
  }

  /// Loads into a new database, which is gone again then.
  private func load(
    _ options: LoadOptions, _ sources: [String], _ policy: LoadOptions.DirectPolicy
  ) throws -> Result {
    var options = options
    options.transaction.direct = policy
    let (path, rejects) = (scratch.file("a.db"), scratch.file("rejects"))
    options.rejects.path = rejects
    let notes = RunNotes()
    let summary = LoadJob(database: path, table: "t", sources: sources, options: options).run(
      note: { if $0.level != .detail { notes.add($0.text) } })
    #expect(access(path + "-upsurge", F_OK) != 0)
    defer {
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      unlink(rejects)
    }
    let database = Database(path)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    let columns = try database.rows("SELECT name FROM pragma_table_info('t')").map {
      $0.dropFirst().dropLast()
    }
    let terms = columns.map { "typeof(\"\($0)\"), \"\($0)\"" }.joined(separator: ", ")
    let rows = columns.isEmpty ? [] : try database.rows("SELECT rowid, \(terms) FROM t ORDER BY rowid")
    let pragmas = ["page_size", "journal_mode", "application_id", "user_version", "encoding", "auto_vacuum"]
    var status = stat()
    stat(path, &status)
    let file = try pragmas.flatMap { try database.rows("PRAGMA \($0)") } + ["\(status.st_mode)"]
    let text = (try? readFile(rejects)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Result(
      rows: rows, schema: try database.rows("SELECT name, sql FROM sqlite_schema ORDER BY name"), file: file,
      ledger: summary.ledger, rejects: text.split(separator: "\n").map(String.init),
      warnings: summary.warnings, notes: notes.all, summary: try timeless(summary),
      exitCode: summary.exitCode,
      isPacked: summary.metrics.stages.contains { $0.name == RunStage.handOver })
  }

  /// The summary without what depends on the time and on the way of writing.
  private func timeless(_ summary: RunSummary) throws -> String {
    var json = try #require(
      try JSONSerialization.jsonObject(with: Data(summary.json)) as? [String: Any])
    for key in [
      "seconds", "rows_per_second", "stages", "bottleneck", "wal_bytes_written", "wal_bytes_peak",
      "peak_memory_bytes",
    ] {
      json[key] = nil
    }
    var settings = json["settings"] as? [String: Any] ?? [:]
    for key in ["sorted_records", "sorted_at_once"] { settings[key] = nil }
    json["settings"] = settings
    return String(
      decoding: try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys, .prettyPrinted]),
      as: UTF8.self)
  }

  /// Records of five columns, in the order of their keys but here and there; some cannot be stored.
  private static func csv(_ random: inout SeededGenerator, count: Int, oddities: Int) -> String {
    var text = "id,name,number,share,note\n"
    var odd: Set<Int> = []
    for _ in 0..<oddities { odd.insert(Int.random(in: 0..<count, using: &random)) }
    for index in 0..<count {
      var id = "\(index * 3)"
      var fields = [
        "n\(index)", "\(Int.random(in: -9...900_000, using: &random))",
        "\(Double(Int.random(in: 0...999, using: &random)) / 8)",
        String(repeating: "ä,x", count: Int.random(in: 0...40, using: &random) / 8),
      ]
      if Bool.random(using: &random) { fields[Int.random(in: 1...3, using: &random)] = "" }
      if odd.contains(index) {
        switch Int.random(in: 0...6, using: &random) {
        case 0: id = "\(index * 3 - 4)"
        case 1: id = "\(max(index - 1, 0) * 3)"
        case 2: fields[1] = "no number"
        case 3: fields.append("one more")
        case 4: fields[2] = "1e400"
        case 5: fields[3] = String(repeating: "long ", count: 9_000)
        default: id = ""
        }
      }
      text += ([id] + fields.map { $0.contains(",") ? "\"\($0)\"" : $0 }).joined(separator: ",") + "\n"
    }
    return text
  }

  @Test(
    "Wherever packing ends, table, ledger and rejects are those of the ordinary path",
    arguments: 0..<30 as Range<UInt64>)
  func equalsOrdinaryPath(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...400, using: &random)
    let sources = (0..<(seed % 5 == 0 ? 2 : 1)).map {
      scratch.write(Self.csv(&random, count: count, oddities: Int(seed % 4)), to: "\($0).csv")
    }
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.input.csv.headerLineCount = 1
    switch seed % 6 {
    case 1, 2: options.rules.key = ["id"]
    case 3: options.rules.key = ["id", "name"]
    case 4: options.rules.key = ["name"]
    case 5:
      options.rules.key = ["id"]
      options.rules.mode = seed % 4 == 1 ? .insert : .ignore
    default: break
    }
    options.table.isStrict = seed % 3 == 2
    if seed % 7 == 3 { options.input.recordLimit = UInt64(count / 2 + 1) }
    if seed % 7 == 5 { options.table.types = ["number": "TEXT"] }
    options.tuning.batchSizes = Batch.Sizes(
      arenaByteCount: Int.random(in: 300...4_000, using: &random),
      cellCount: Int.random(in: 20...400, using: &random), recordCount: Int.random(in: 1...60, using: &random)
    )
    // Rows in front of the first obstacle stand, or are read again.
    options.tuning.directLimits.leastRowCount = [1, count / 2 + 1, 100_000][Int(seed / 4 % 3)]
    let expected = try load(options, sources, .never)
    let actual = try load(options, sources, .always)
    #expect(actual.equals(expected) && !expected.isPacked, "seed \(seed): \(actual)\n\(expected)")
    // Without anything odd all of it is packed from the first batch on, unless a text key is in no order, or a second
    // file has the same keys.
    if seed % 4 == 0 && seed % 6 < 3 && (sources.count == 1 || options.rules.key.isEmpty) {
      #expect(actual.isPacked, "seed \(seed)")
    }
  }

  @Test(
    "Keys that memory does not hold are packed, and where one of them comes twice, all is as without packing")
  func spilledKeys() throws {
    let count = 150_000
    var lines = (0..<count).map { "key \($0 * 7_919 % 150_001),\($0)\n" }
    var options = LoadOptions()
    options.rules.key = ["k"]
    options.transaction.memory = .mebibytes(16)
    options.tuning.directLimits.leastRowCount = 1
    for place in [nil, count - 5] {
      if let place { lines[place] = "key 0,last\n" }
      let source = scratch.write("k,b\n" + lines.joined(), to: "a.csv")
      let expected = try load(options, [source], .never)
      let actual = try load(options, [source], .always)
      #expect(actual.rows == expected.rows, "\(place as Any)")
      #expect(actual.equals(expected) && actual.isPacked == (place == nil), "\(place as Any)")
    }
  }

  @Test("NDJSON whose columns appear on the way", arguments: [1, 100_000])
  func newColumns(leastRowCount: Int) throws {
    // Behind the first MiB, from which the types are found.
    let padding = String(repeating: "x", count: 6_000)
    let lines = (0..<300).map {
      $0 < 200 ? "{\"id\":\($0),\"a\":\"\(padding)\"}" : "{\"id\":\($0),\"b\":[\($0)],\"a\":null}"
    }
    let source = scratch.write(lines.joined(separator: "\n") + "\n", to: "a.ndjson")
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.tuning.batchSizes = Batch.Sizes(arenaByteCount: 60_000, cellCount: 400, recordCount: 20)
    options.tuning.directLimits.leastRowCount = leastRowCount
    let expected = try load(options, [source], .never)
    let actual = try load(options, [source], .always)
    #expect(actual.equals(expected) && actual.isPacked == (leastRowCount == 1))
  }

  @Test("Run records are those of the ordinary path: what --history keeps")
  func history() throws {
    let source = scratch.write("id,b\n1,x\n2,y\n", to: "a.csv")
    var kept: [[String]] = []
    for policy in [LoadOptions.DirectPolicy.never, .always] {
      var options = LoadOptions()
      (options.transaction.keepsHistory, options.transaction.direct) = (true, policy)
      let path = scratch.file("\(policy).db")
      let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
      #expect(summary.exitCode == 0, "\(summary)")
      kept.append(
        try Database(path).rows(
          "SELECT run, state, \"table\", job, files, json_remove(position, '$.seconds'), "
            + "json_remove(progress, '$.seconds'), exit_code FROM upsurge_runs"))
    }
    #expect(kept[0] == kept[1] && kept[0].count == 1)
  }

  @Test("What asks for SQLite on every row, or for commits on the way, is not packed")
  func ordinary() throws {
    let source = scratch.write("id,b\n1,x\n2,y\n", to: "a.csv")
    let changes: [(inout LoadOptions) -> Void] = [
      { $0.transaction.commitEvery = 5 }, { $0.transaction.isAtomic = true },
      { $0.transaction.durability = .off },
      { $0.output.changesPath = self.scratch.file("changes") },
      { $0.output.emitPath = self.scratch.file("sql") },
      { $0.table.initSQL = "CREATE TEMP VIEW v AS SELECT 1" }, { $0.indexes.wanted = [["b"]] },
    ]
    for (index, change) in changes.enumerated() {
      var options = LoadOptions()
      change(&options)
      let result = try load(options, [source], .always)
      #expect(result.exitCode == 0 && !result.isPacked, "change \(index)")
    }
    #expect(try load(LoadOptions(), [source], .always).isPacked)
    #expect(try !load(LoadOptions(), [source], .auto).isPacked, "small inputs are loaded as fast")
    // A database that is there is never replaced.
    let path = scratch.file("a.db")
    try Database(path).rows("CREATE TABLE mine(a); INSERT INTO mine VALUES (1)")
    let result = try load(LoadOptions(), [source], .always)
    #expect(result.exitCode == 0 && !result.isPacked && result.schema.count == 2)
  }

  @Test("An output that would be the file in which rows are packed is refused")
  func output() throws {
    var options = LoadOptions()
    options.transaction.direct = .always
    let path = scratch.file("a.db")
    options.rejects.path = path + "-upsurge"
    let source = scratch.write("id,b\n1,x\n", to: "a.csv")
    let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
    #expect(summary.exitCode == 64, "\(summary)")
    #expect(summary.error?.message == "--rejects \(path)-upsurge would overwrite the database \(path)")
    #expect(access(path, F_OK) != 0 && access(path + "-upsurge", F_OK) != 0)
  }

  @Test("What cannot be read again is not packed: standard input, also as a file, and pipes")
  func streams() throws {
    let bytes = Array("id,b\n1,x\n2,y\n".utf8)
    let (path, summary) = (scratch.file("a.db"), scratch.file("summary"))
    let scripts = [
      #"exec "$0" "$@" -"#, #"exec "$0" "$@" /dev/stdin"#, #"cat | "$0" "$@" -"#,
      #"mkfifo "$2.pipe"; exec 3<&0; cat >"$2.pipe" <&3 & exec "$0" "$@" "$2.pipe""#,
    ]
    for script in scripts {
      let outcome = try Command.run(
        ["load", path, "t", "--direct", "always", "--summary", summary], input: bytes, script: script)
      #expect(outcome.exitCode == 0, "\(script): \(outcome.talk)")
      #expect(try !String(decoding: readFile(summary), as: UTF8.self).contains("\"hand_over\""), "\(script)")
      #expect(try Database(path).rows("SELECT count(*) FROM t") == ["2"])
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
  }
}
