import CSQLite
import UpsurgeRecords

@testable import UpsurgeStorage

/// The oracle: the same records fed one by one to a plain SELECT, then UPDATE or INSERT, each in a savepoint.
/// Knows nothing of ON CONFLICT, statement forms, shapes or batches.
struct OneByOne {
  let connection: Connection
  let table: String
  let columns: [String]
  /// Columns of the conflict target; empty for none.
  let key: [String]
  let mode: UpsertPlan.Mode
  let keysWithDefault: Set<String>
  let rowidAlias: String?
  private(set) var ledger = Ledger()
  private(set) var rejects: [String] = []

  init(
    _ connection: Connection, _ schema: TableSchema, _ columns: [String], key: [String], mode: UpsertPlan.Mode
  ) {
    self.connection = connection
    table = schema.name
    self.columns = columns
    self.key = key
    self.mode = mode
    rowidAlias = schema.rowidAlias.map { schema.columns[$0].name }
    keysWithDefault = Set(schema.columns.filter { $0.defaultExpression != nil }.map(\.name))
  }

  mutating func feed(_ rows: [[Value]], rejecting: Set<Int> = []) throws {
    for (index, row) in rows.enumerated() {
      ledger.read += 1
      if rejecting.contains(index) {
        ledger.rejected += 1
        rejects.append("\(index + 1) ragged")
        continue
      }
      try connection.execute("SAVEPOINT one")
      do throws(UpsurgeError) {
        let isKept = try store(Dictionary(uniqueKeysWithValues: zip(columns, row)))
        try connection.execute(isKept ? "RELEASE one" : "ROLLBACK TO one; RELEASE one")
      } catch {
        ledger.rejected += 1
        rejects.append("\(index + 1) \(word(error))")
        try connection.execute("ROLLBACK TO one; RELEASE one")
      }
    }
  }

  /// - Returns: false when what was done must be taken back.
  private mutating func store(_ record: [String: Value]) throws(UpsurgeError) -> Bool {
    let present = columns.filter { record[$0] != .absent }
    if mode == .upsert {
      for column in key where column != rowidAlias {
        let value = record[column] ?? .null
        if value == .null || (value == .absent && !keysWithDefault.contains(column)) {
          throw UpsurgeError(.badInput, "null-key")
        }
      }
      // The tests give defaults to no key column, so every key value is in the record.
      let place = key.map { "\"\($0)\" = ?" }.joined(separator: " AND ")
      let arguments = key.map { record[$0] ?? .null }
      if key.allSatisfy({ record[$0] != .absent }), let before = try row(place, arguments) {
        return try update(record, present.filter { !key.contains($0) }, place, arguments, before: before)
      }
    }
    let before = try count()
    if present.isEmpty {
      try run("INSERT INTO \"\(table)\" DEFAULT VALUES", [])
    } else {
      let names = present.map { "\"\($0)\"" }.joined(separator: ",")
      let marks = present.map { _ in "?" }.joined(separator: ",")
      do throws(UpsurgeError) {
        try run("INSERT INTO \"\(table)\"(\(names)) VALUES(\(marks))", present.map { record[$0] ?? .null })
      } catch {
        let codes = [SQLITE_CONSTRAINT | 8 << 8, SQLITE_CONSTRAINT | 6 << 8, SQLITE_CONSTRAINT | 10 << 8]
        guard mode == .ignore, codes.contains(error.underlyingCode ?? 0) else { throw error }
      }
    }
    if try count() > before { ledger.inserted += 1 } else { ledger.ignored += 1 }
    return true
  }

  private mutating func update(
    _ record: [String: Value], _ changed: [String], _ place: String, _ arguments: [Value], before: [Value]
  ) throws(UpsurgeError) -> Bool {
    if !changed.isEmpty {
      let assignments = changed.map { "\"\($0)\" = ?" }.joined(separator: ",")
      try run(
        "UPDATE \"\(table)\" SET \(assignments) WHERE \(place)",
        changed.map { record[$0] ?? .null } + arguments)
    }
    // AFTER triggers of the tests change nothing in the row itself.
    let after = try row(place, arguments)
    if changed.isEmpty || after == before {
      ledger.unchanged += 1
      return false
    }
    ledger.updated += 1
    return true
  }

  private func row(_ place: String, _ arguments: [Value]) throws(UpsurgeError) -> [Value]? {
    try connection.rows("SELECT * FROM \"\(table)\" WHERE \(place)", arguments).first
  }

  private func count() throws(UpsurgeError) -> Int64 {
    try connection.integer("SELECT count(*) FROM \"\(table)\"") ?? 0
  }

  private func run(_ sql: String, _ arguments: [Value]) throws(UpsurgeError) {
    _ = try connection.rows(sql, arguments)
  }

  private func word(_ error: UpsurgeError) -> String {
    switch (error.underlyingCode ?? 0, (error.underlyingCode ?? 0) & 0xFF) {
    case (_, SQLITE_MISMATCH), (SQLITE_CONSTRAINT | 12 << 8, _): "type-mismatch"
    case (SQLITE_CONSTRAINT | 5 << 8, _): "not-null"
    case (SQLITE_CONSTRAINT | 1 << 8, _): "check"
    case (SQLITE_CONSTRAINT | 3 << 8, _): "foreign-key"
    case (SQLITE_CONSTRAINT | 7 << 8, _): "trigger"
    case (SQLITE_CONSTRAINT | 8 << 8, _), (SQLITE_CONSTRAINT | 6 << 8, _): "unique"
    default: error.message
    }
  }
}
