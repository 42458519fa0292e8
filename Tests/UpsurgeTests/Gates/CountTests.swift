import CSQLite
import Foundation
import TestSupport
import Testing

/// What loads ask of SQLite and of the file system never grows unseen. The thresholds are in `counts.json`.
@Suite("Counts", .serialized)
struct CountTests {
  private static let path =
    String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)) + "/counts.json"
  private static let shortPath = "Tests/UpsurgeTests/Gates/counts.json"

  /// The file of thresholds.
  private struct Thresholds: Codable {
    /// The version of SQLite that they are exact for.
    var sqlite = String(cString: sqlite3_libversion())
    /// By the load's name and the count's.
    var loads: [String: [String: Int]] = [:]

    static func read() -> Thresholds {
      let bytes = (try? readFile(CountTests.path)) ?? []
      return (try? JSONDecoder().decode(Thresholds.self, from: Data(bytes))) ?? Thresholds()
    }

    func write() throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try (encoder.encode(self) + Data([10])).write(to: URL(fileURLWithPath: CountTests.path))
    }

    /// Other versions of SQLite compile other programs, and split pages otherwise: a tenth is borne. How many
    /// statements there are is up to us.
    func most(_ count: Count, of load: String) -> Int? {
      guard let threshold = loads[load]?[count.rawValue] else { return nil }
      let isSame = sqlite == String(cString: sqlite3_libversion())
      return isSame || count == .statements ? threshold : threshold + threshold / 10 + 4
    }
  }

  @Test("A load makes no more statements, writes, reads and syncs than it may", arguments: CountedLoad.all)
  func counts(load: CountedLoad) throws {
    var found = try load.counts()
    if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil { try record(found, of: load) }
    let thresholds = Thresholds.read()
    // A machine that stalls for long ends transactions and sorted runs early; not three times on end.
    for _ in 0..<2 where !over(found, load, thresholds).isEmpty {
      found.merge(try load.counts(), uniquingKeysWith: min)
    }
    let passed = over(found, load, thresholds).map { count in
      let most = thresholds.most(count, of: load.name).map { "\($0)" } ?? "no number"
      return "\(load.name): \(found[count] ?? 0) \(count.words), and \(most) in \(Self.shortPath)"
    }
    #expect(
      passed.isEmpty,
      """
      \(passed.joined(separator: "\n"))
      \(text(found, load, thresholds))
      look: upsurge load --explain shows the statements, --explain-time the transactions
      fix: what has become dearer; or UPSURGE_RECORD=1 swift test --filter CountTests writes the file anew, and the \
      commit says why
      """)
    let isLoose = Count.allCases.contains {
      (found[$0] ?? 0) * 20 < (thresholds.most($0, of: load.name) ?? 0) * 19 - 80
    }
    if isLoose {
      print(
        "\(load.name): thresholds can be tightened, UPSURGE_RECORD=1 swift test --filter CountTests does it\n"
          + text(found, load, thresholds))
    }
  }

  private func over(_ found: [Count: Int], _ load: CountedLoad, _ thresholds: Thresholds) -> [Count] {
    Count.allCases.filter { (found[$0] ?? 0) > (thresholds.most($0, of: load.name) ?? -1) }
  }

  private func record(_ found: [Count: Int], of load: CountedLoad) throws {
    var thresholds = Thresholds.read()
    thresholds.sqlite = String(cString: sqlite3_libversion())
    thresholds.loads[load.name] = Dictionary(uniqueKeysWithValues: found.map { ($0.key.rawValue, $0.value) })
    try thresholds.write()
  }

  /// A line for each count: found, a row, and what it may be.
  private func text(_ found: [Count: Int], _ load: CountedLoad, _ thresholds: Thresholds) -> String {
    let version = String(cString: sqlite3_libversion())
    let lines = Count.allCases.map { count in
      let value = found[count] ?? 0
      let each = (Double(value) / Double(load.rowCount) * 1_000).rounded() / 1_000
      let most = thresholds.most(count, of: load.name).map(String.init) ?? "unknown"
      return "  \(count.rawValue): \(value) (\(each) a row), at most \(most)"
    }
    return "with SQLite \(version), thresholds of \(thresholds.sqlite):\n" + lines.joined(separator: "\n")
  }
}
