import UpsurgeBench
import UpsurgeRecords

/// One way to store rows on a server.
struct ServerContender: Equatable {
  enum Way: Equatable {
    /// COPY into an unlogged table without an index.
    case floor
    /// COPY into a table that has its key.
    case keyedCopy
    /// COPY, and the key after it.
    case copyThenKey
    /// Many rows a statement, several statements a message.
    case insert
    /// One row a statement, which is prepared once.
    case prepared
    /// COPY into a staging table, then one INSERT … ON CONFLICT, for all rows or for those that differ.
    case staging(comparing: Bool)
    /// The engine, from the file.
    case upsurge
  }

  let suite: ServerBenchSuite
  let way: Way

  /// All that take part, the engine last in each suite.
  static let all: [ServerContender] = ServerBenchSuite.allCases.flatMap { suite in
    ways(of: suite).map { ServerContender(suite: suite, way: $0) }
  }

  private static func ways(of suite: ServerBenchSuite) -> [Way] {
    switch suite {
    case .new: [.floor, .keyedCopy, .copyThenKey, .insert, .prepared, .upsurge]
    case .unchanged: [.staging(comparing: false), .staging(comparing: true), .prepared, .upsurge]
    case .fewChanged: [.staging(comparing: false), .staging(comparing: true), .upsurge]
    case .changed: [.staging(comparing: false), .prepared, .upsurge]
    }
  }

  var kind: BenchReport.Kind {
    switch way {
    case .floor: .floor
    case .upsurge: .upsurge
    case .keyedCopy, .copyThenKey, .insert, .prepared, .staging: .pattern
    }
  }

  /// Whether its table has a key in the end.
  var hasKey: Bool { way != .floor }

  var name: String {
    switch way {
    case .floor: "floor: COPY, unlogged, no key"
    case .keyedCopy: "COPY, key there before"
    case .copyThenKey: "COPY, key added after"
    case .insert: "INSERT, \(Words.count(UInt64(HandLoad.rowsPerStatement))) rows a statement"
    case .prepared: "upsert, prepared, row by row"
    case .staging(comparing: false): "staging, ON CONFLICT"
    case .staging(comparing: true): "staging, ON CONFLICT WHERE"
    case .upsurge: "upsurge load"
    }
  }

  /// What it does, in a sentence.
  var detail: String {
    switch way {
    case .floor: "COPY into an unlogged table without an index, which no crash would leave whole"
    case .keyedCopy: "one COPY into a table with its primary key"
    case .copyThenKey: "one COPY into a table, and ADD PRIMARY KEY in the same transaction"
    case .insert: "literals, \(HandLoad.statementsPerMessage) statements a round trip, one transaction"
    case .prepared: "INSERT … ON CONFLICT with parameters, a round trip a row, for the first rows only"
    case .staging(comparing: false): "COPY into a temporary table, then one INSERT … ON CONFLICT DO UPDATE"
    case .staging(comparing: true): "as before, with WHERE … IS DISTINCT FROM, so that equal rows are not written"
    case .upsurge: "in this process, from the CSV file: reading and parsing count"
    }
  }
}
