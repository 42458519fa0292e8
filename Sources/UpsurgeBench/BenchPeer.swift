import UpsurgeRecords
import UpsurgeSQLite

/// Another program that loads CSV into SQLite.
package enum BenchPeer: String, Sendable, CaseIterable {
  case sqlite3
  case sqliteUtils = "sqlite-utils"
  case duckdb

  /// What a peer is to load, into which table.
  struct Task {
    var program: String
    var database: String
    var table: String
    /// The table as the engine has made it.
    var createSQL: String
    /// Names and declared types.
    var columns: [(name: String, type: String)]
    var key: [String]
    /// A path that starts with a slash or a dot: programs take other beginnings for options, pipes and addresses.
    var csv: String
    /// Whether the table holds rows already.
    var isUpsert: Bool
    var pageByteCount: Int
    var cacheByteCount: Int
  }

  /// A command line, and what goes to its standard input.
  struct Command {
    var words: [String]
    var input: String?
  }

  /// Whether the table is there before the program starts.
  var needsTable: Bool { self != .sqlite3 }

  /// What the program is started with, and what it cannot do as the others.
  func command(_ task: Task) throws(UpsurgeError) -> Command {
    switch self {
    case .sqlite3: return try sqlite3(task)
    case .sqliteUtils:
      var words = [
        task.program, task.isUpsert ? "upsert" : "insert", task.database, task.table, task.csv, "--csv",
      ]
      for column in task.key { words += ["--pk", column] }
      return Command(words: words)
    case .duckdb: return try duckdb(task)
    }
  }

  /// Why it cannot take part; nil where it can.
  func obstacle(suite: BenchJob.Suite, key: [String]) -> Wording? {
    switch self {
    case .duckdb where suite != .new: "duckdb has no upsert into SQLite tables"
    case .sqliteUtils where suite != .new && key.isEmpty: "sqlite-utils upserts by a key, and none is given"
    default: nil
    }
  }

  /// What is said of its settings.
  var settings: String {
    switch self {
    case .sqlite3:
      "WAL, synchronous=NORMAL, page size and cache as the others; automatic checkpoints as it has them"
    case .sqliteUtils, .duckdb:
      "the table is made beforehand, in WAL mode with the others' page size; cache, synchronous and transactions as it "
        + "has them"
    }
  }

  private func sqlite3(_ task: Task) throws(UpsurgeError) -> Command {
    var lines = [
      "PRAGMA page_size=\(task.pageByteCount);", "PRAGMA journal_mode=WAL;", "PRAGMA synchronous=NORMAL;",
      "PRAGMA cache_size=-\(task.cacheByteCount >> 10);",
    ]
    let file = Self.shellWord(task.csv)
    if task.isUpsert {
      let columns = task.columns.map(\.name)
      let table = try SQLName.quote(task.table)
      var definitions: [String] = []
      for column in task.columns { definitions.append("\(try SQLName.quote(column.name)) \(column.type)") }
      lines += [
        "CREATE TEMP TABLE staging(\(definitions.joined(separator: ", ")));", ".mode csv",
        ".import --skip 1 --schema temp \(file) staging",
      ]
      let upsert = try PlainWriter.conflictClause(columns: columns, key: task.key)
      lines.append("INSERT INTO main.\(table) SELECT * FROM temp.staging WHERE true\(upsert);")
    } else {
      lines += [task.createSQL + ";", ".mode csv", ".import --skip 1 \(file) \(Self.shellWord(task.table))"]
    }
    // No file of the user's decides what it does.
    return Command(
      words: [task.program, "-batch", "-init", "/dev/null", task.database],
      input: lines.joined(separator: "\n") + "\n")
  }

  /// An argument of a dot-command: in double quotes, with C's escapes, so that it stays in its line.
  private static func shellWord(_ text: String) -> String {
    var word = "\""
    for scalar in text.unicodeScalars {
      if scalar.value < 0x20 || scalar.value == 0x7F {
        let digits = String(scalar.value, radix: 8)
        word += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
        continue
      }
      if scalar == "\"" || scalar == "\\" { word += "\\" }
      word.unicodeScalars.append(scalar)
    }
    return word + "\""
  }

  private func duckdb(_ task: Task) throws(UpsurgeError) -> Command {
    var types: [String] = []
    for column in task.columns {
      let type = ["INTEGER": "BIGINT", "REAL": "DOUBLE"][column.type] ?? "VARCHAR"
      types.append("\(try SQLName.literal(column.name)): \(try SQLName.literal(type))")
    }
    let sql = """
      INSTALL sqlite; LOAD sqlite; ATTACH \(try SQLName.literal(task.database)) AS target (TYPE sqlite);
      INSERT INTO target.\(try SQLName.quote(task.table))
        SELECT * FROM read_csv(
          \(try SQLName.literal(task.csv)), header = true, types = {\(types.joined(separator: ", "))});
      """
    return Command(words: [task.program, "-init", "/dev/null", "-batch", "-bail", "-c", sql])
  }
}
