import SQLiteSupport
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// What a run left behind.
struct ModelOutcome: Equatable {
  var ledger = Ledger()
  /// `load.number code` of each reject.
  var rejects: [String] = []
  var tables: [[[Value]]] = []
  /// What SQLite 3.40 says of itself; of generated columns in WITHOUT ROWID tables it is wrong.
  var integrity = "ok"
}

extension ModelCase {
  /// What the oracle makes of the case.
  func expected() throws -> ModelOutcome {
    let connection = try open()
    try connection.execute("BEGIN")
    var oracle = try OneByOne(connection, table, rules)
    for (index, load) in loads.enumerated() { try oracle.feed(load, name: index + 1) }
    return try outcome(connection, oracle.ledger, oracle.rejects)
  }

  /// What the engine makes of it, and the forms of its statements.
  /// - Parameter observer: makes who is told of the records of each load.
  func actual(
    _ cut: Cut, settings given: WriterSettings = WriterSettings(),
    observer: (Connection) throws -> (any RecordObserver)? = { _ in nil }
  ) throws -> (outcome: ModelOutcome, forms: [StatementForm], sortedCount: Int) {
    let connection = try open()
    var settings = given
    cut.apply(to: &settings)
    settings.onError = .reject
    let kept = Kept()
    var (ledger, rejects, forms) = (Ledger(), [String](), [StatementForm]())
    var sortedCount = 0
    var writer: TableWriter?
    for (index, load) in loads.enumerated() {
      var maker = BatchMaker(load.columns)
      if let writer, hasOneWriter {
        try writer.setColumns(maker.columns)
      } else {
        guard let schema = try TableSchema.read(connection, table: "t") else { continue }
        let plan = try UpsertPlan(schema: schema, rules: rules.rules, columns: maker.columns)
        writer = try TableWriter(
          connection: connection, plan: plan, sourceNames: ["in.csv"], settings: settings,
          observer: try observer(connection)
        ) { (reject) throws(UpsurgeError) in kept.rejects.append(reject) }
      }
      guard let writer else { continue }
      forms.append(writer.plan.form)
      try write(load, to: writer, &maker, cut)
      let isLast = index == loads.count - 1
      if isLast || !hasOneWriter {
        try writer.finish()
        ledger += writer.ledger
        sortedCount += writer.statistics.sortedRecordCount
      }
      try writer.storeGathered(isLast: isLast)
      rejects += kept.rejects.map { "\(index + 1).\($0.position.record ?? 0) \($0.code.rawValue)" }
      kept.rejects = []
    }
    return (try outcome(connection, ledger, rejects), forms, sortedCount)
  }

  private func write(
    _ load: Load, to writer: TableWriter, _ maker: inout BatchMaker, _ cut: Cut
  ) throws {
    let all = maker.columns
    maker.columns = []
    var at = 0
    while at < load.records.count {
      let part = load.records[at..<min(at + cut.batchSize, load.records.count)]
      let ragged = part.indices.filter { part[$0].isRagged }.map { $0 - at }
      // As with JSON, a batch has no cells for columns that nobody has spoken of so far.
      let used = part.map { $0.values.lastIndex { $0 != .absent } ?? 0 }.max() ?? 0
      maker.columns = Array(all.prefix(max(maker.columns.count, used + 1)))
      var batch = maker.batch(
        part.map { Array($0.values.prefix(maker.columns.count)) }, rejecting: Set(ragged))
      try writer.write(&batch)
      at += cut.batchSize
    }
  }

  /// A database with the table and the rows that are there before.
  func open() throws -> Connection {
    let connection = try Connection(path: ":memory:", createIfMissing: true)
    try connection.configure(durability: .normal, pageCacheByteCount: 1 << 20)
    try connection.execute(table.sql)
    let marks = table.storedColumns.map { _ in "?" }.joined(separator: ", ")
    let names = table.storedColumns.map(\.name).joined(separator: ", ")
    for row in before { _ = try? connection.rows("INSERT INTO t(\(names)) VALUES(\(marks))", row) }
    if table.extras.contains(where: { $0.contains("child") }), let key = table.primaryKey?.columns.first {
      try connection.execute(
        "INSERT INTO child SELECT 'row', \(key) FROM t WHERE \(key) IS NOT NULL ORDER BY 2 LIMIT 4")
    }
    return connection
  }

  private func outcome(
    _ connection: Connection, _ ledger: Ledger, _ rejects: [String]
  ) throws -> ModelOutcome {
    ModelOutcome(
      ledger: ledger, rejects: rejects, tables: try table.dumps.map { try connection.rows($0) },
      integrity: try connection.text("PRAGMA integrity_check") ?? "")
  }
}

// MARK: - Shrinking

extension ModelCase {
  /// How engine and oracle differ; nil when they do not.
  func difference(_ cut: Cut) -> String? {
    let expected: ModelOutcome
    do { expected = try self.expected() } catch { return "the oracle failed: \(error)" }
    let actual: ModelOutcome
    do { actual = try self.actual(cut).outcome } catch { return "the engine failed: \(error)" }
    return Self.difference(actual, expected)
  }

  static func difference(_ actual: ModelOutcome, _ expected: ModelOutcome) -> String? {
    var lines: [String] = []
    if actual.ledger != expected.ledger {
      lines += ["ledger    \(actual.ledger.text)", "expected  \(expected.ledger.text)"]
    }
    if !isSame(actual.rejects, expected.rejects) {
      lines += ["rejects   \(actual.rejects)", "expected  \(expected.rejects)"]
    }
    if actual.tables != expected.tables {
      lines += ["tables    \(actual.tables)", "expected  \(expected.tables)"]
    }
    if actual.integrity != expected.integrity { lines.append("integrity \(actual.integrity)") }
    return lines.isEmpty ? nil : lines.joined(separator: "\n")
  }

  /// Of a record with a wrong type and another fault, an upsert may name the other one than an INSERT.
  private static func isSame(_ actual: [String], _ expected: [String]) -> Bool {
    actual.count == expected.count
      && zip(actual, expected).allSatisfy { actual, expected in
        let words = [actual, expected].map { $0.split(separator: " ", maxSplits: 1) }
        return words[0] == words[1]
          || words[0][0] == words[1][0] && words.contains { $0[1] == "type-mismatch" }
      }
  }

  /// The same case with as few rows and records as still make a difference.
  func shrunk(_ cut: Cut) -> ModelCase {
    var small = self
    let fails = { (candidate: ModelCase) in candidate.difference(cut) != nil }
    for index in small.loads.indices.reversed() where small.loads.count > 1 {
      var candidate = small
      candidate.loads.remove(at: index)
      if fails(candidate) { small = candidate }
    }
    for _ in 0..<2 {
      for index in small.loads.indices {
        Self.shrink(&small, at: { $0.loads[index].records.count }, fails) {
          $0.loads[index].records.removeSubrange($1)
        }
      }
      Self.shrink(&small, at: { $0.before.count }, fails) { $0.before.removeSubrange($1) }
    }
    return small
  }

  /// Takes away halves, quarters and so on, as long as the case fails without them.
  private static func shrink(
    _ small: inout ModelCase, at count: (ModelCase) -> Int, _ fails: (ModelCase) -> Bool,
    remove: (inout ModelCase, Range<Int>) -> Void
  ) {
    var size = max(count(small) / 2, 1)
    while true {
      var start = 0
      while start < count(small) {
        var candidate = small
        remove(&candidate, start..<min(start + size, count(small)))
        if fails(candidate) { small = candidate } else { start += size }
      }
      if size == 1 { return }
      size /= 2
    }
  }
}
