import Foundation
import TestSupport
import Testing
import Upsurge

/// A case of sqlite-utils: what it was given, and what came of it.
private struct BehaviourCase: Decodable {
  struct Expected: Decodable { var exit: String }

  var id: String
  var what: String
  var setup_sql: String?
  var argv: [String]
  var stdin: String
  var encoding: String
  var check: String
  var expected: Expected
  var table: String { argv[0] == "bulk" ? "t" : argv[1] }
  /// The line as it stands, for what only SQLite reads exactly.
  var line = ""

  private enum CodingKeys: CodingKey { case id, what, setup_sql, argv, stdin, encoding, check, expected }

  var input: [UInt8] {
    encoding == "latin-1"
      ? stdin.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(stdin.utf8)
  }

  /// The rows that sqlite-utils left, as `Database.rows` writes them.
  func expectedRows() throws -> [String] {
    let json = "'" + line.replacingOccurrences(of: "'", with: "''") + "'"
    return try Database(":memory:").rows(
      """
      SELECT r.key, CASE v.type WHEN 'null' THEN 'NULL' WHEN 'text' THEN '''' || v.atom || '''' ELSE v.atom || '' END
      FROM json_each(json_extract(\(json), '$.expected.rows')) r, json_each(r.value) v ORDER BY r.key, v.key
      """
    ).reduce(into: [String]()) { rows, cell in
      let cut = cell.firstIndex(of: "|") ?? cell.endIndex
      let row = Int(cell[..<cut]) ?? 0
      // Text is quoted once by the question and once by `rows`.
      let value = String(cell[cell.index(after: cut)...].dropFirst().dropLast())
      if row == rows.count { rows.append(value) } else { rows[row] += "|" + value }
    }
  }
}

/// The 79 observed behaviours of sqlite-utils (Tests/UpsurgeCommandTests/Fixtures/sqlite-utils.jsonl) through the command.
@Suite("sqlite-utils behaviours")
struct SQLiteUtilsBehaviourTests {
  let scratch = Scratch()

  private static let folder = String(
    #filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex))

  private static func cases() throws -> [BehaviourCase] {
    try String(decoding: readFile(folder + "/Fixtures/sqlite-utils.jsonl"), as: UTF8.self)
      .split(separator: "\n").map { line in
        var found = try JSONDecoder().decode(BehaviourCase.self, from: Data(line.utf8))
        found.line = String(line)
        return found
      }
  }

  @Test("Each case that has a counterpart does the same, or what is written down", arguments: Counterpart.all)
  func behaves(counterpart: Counterpart) throws {
    let given = try #require(try Self.cases().first { $0.id == counterpart.id })
    if case .none = counterpart.verdict { return }
    let path = scratch.file("a.db")
    if let setup = given.setup_sql { try Database(path).rows(setup) }
    let options = counterpart.options.split(separator: " ").map(String.init)
    let outcome = try Command.run(["load", path, given.table, "-"] + options, input: given.input)
    switch counterpart.verdict {
    case .same:
      #expect((outcome.exitCode == 0) == (given.expected.exit == "ok"), "\(outcome.talk)")
      // An empty file is no database of ours, but the question is answered there as well.
      let rows = try? Database(path).rows(given.check)
      #expect(try (rows ?? []) == given.expectedRows(), "\(outcome.talk)")
    case .better(let exit, let check, let rows, _), .alike(let exit, let check, let rows, _):
      #expect(outcome.exitCode == exit, "\(outcome.talk)")
      #expect(try Database(path).rows(check ?? given.check) == rows)
      if check == nil, exit == 0, given.expected.exit == "ok" {
        #expect(try rows != given.expectedRows(), "the case is the same by now")
      }
    case .none: break
    }
    if outcome.exitCode == 64 || outcome.exitCode == 4 {
      #expect(outcome.talk.contains("fix:"), "\(outcome.talk)")
    }
  }

  @Test("There is one counterpart for each case, and the table of all is up to date")
  func table() throws {
    let cases = try Self.cases()
    #expect(cases.count == 79)
    #expect(cases.map(\.id) == Counterpart.all.map(\.id))
    let text = Self.markdown(cases)
    let path = Self.folder + "/Fixtures/sqlite-utils.md"
    if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let kept = (try? readFile(path)).map { String(decoding: $0, as: UTF8.self) }
    let isSame = kept == text
    #expect(
      isSame, "Fixtures/sqlite-utils.md is out of date: UPSURGE_RECORD=1 swift test --filter sqlite writes it"
    )
  }

  private static func markdown(_ cases: [BehaviourCase]) -> String {
    var counts = ["same": 0, "better": 0, "alike": 0, "none": 0]
    var rows = ""
    for (given, counterpart) in zip(cases, Counterpart.all) {
      let (word, why) =
        switch counterpart.verdict {
        case .same: ("same", "")
        case .better(_, _, _, let why): ("better", why)
        case .alike(_, _, _, let why): ("alike", why)
        case .none(let why): ("none", why)
        }
      counts[word, default: 0] += 1
      let theirs = "`\(given.argv.joined(separator: " "))`"
      let ours = word == "none" ? "" : "`load DB \(given.table) - \(counterpart.options)`"
      let cells = [given.id, given.what, theirs, ours, word, why].map {
        $0.replacingOccurrences(of: "|", with: "\\|").replacingOccurrences(of: "\n", with: " ")
      }
      rows += "| " + cells.joined(separator: " | ") + " |\n"
    }
    return """
      # What sqlite-utils does, and what upsurge does

      The 79 cases in `sqlite-utils.jsonl` were observed with sqlite-utils 4.2.1; `SQLiteUtilsBehaviourTests` runs the
      counterparts through the built command and writes this table. Of the 79, \(counts["same"] ?? 0) are the
      same, \(counts["better"] ?? 0) are something else on purpose (*better*), \(counts["alike"] ?? 0) differ without
      being better or worse (*alike*), and \(counts["none"] ?? 0) have no counterpart (*none*).

      | id | behaviour | sqlite-utils | upsurge | verdict | why |
      |---|---|---|---|---|---|
      \(rows)
      """
  }
}
