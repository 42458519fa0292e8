import CSQLite
import SQLiteSupport
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite

/// The oracle: records one by one, each by a plain SELECT and then an UPDATE, an INSERT or a DELETE in a savepoint.
/// Knows nothing of ON CONFLICT, statement forms, shapes, batches, or how the engine reads a schema.
///
/// Two TEMP tables say what SQLite makes of a record: `said` holds its values after the columns' conversions, and the
/// default where it says nothing; `stored` holds what an INSERT of it would store. A third, `result`, holds the row
/// that the rules make, to be compared with the row that is there.
struct OneByOne {
  /// Why a record is not stored, where SQLite has no word for it.
  private struct Rejected: Error { var code: String }

  let connection: Connection
  let table: ModelTable
  let rules: ModelRules
  private(set) var ledger = Ledger()
  private(set) var rejects: [String] = []

  private var merge: Merge { rules.rules.merge }
  private let names: [String]

  init(_ connection: Connection, _ table: ModelTable, _ rules: ModelRules) throws {
    self.connection = connection
    self.table = table
    self.rules = rules
    names = table.storedColumns.map(\.name)
    try connection.execute(table.shadowSQL("said", replacesNull: false))
    try connection.execute(table.shadowSQL("stored", replacesNull: true))
    try connection.execute(table.shadowSQL("result", replacesNull: true))
  }

  mutating func feed(_ load: ModelCase.Load, name: Int) throws {
    for (index, record) in load.records.enumerated() {
      ledger.read += 1
      let number = "\(name).\(index + 1)"
      if record.isRagged {
        reject(number, "ragged")
        continue
      }
      try connection.execute("SAVEPOINT one")
      do {
        let outcome = try decide(Dictionary(uniqueKeysWithValues: zip(load.columns, record.values)))
        count(outcome)
        try connection.execute("RELEASE one")
      } catch {
        let code = (error as? Rejected)?.code ?? (error as? UpsurgeError).map(Self.code) ?? "\(error)"
        reject(number, code)
        try connection.execute("ROLLBACK TO one; RELEASE one")
      }
    }
  }

  private mutating func reject(_ number: String, _ code: String) {
    ledger.rejected += 1
    rejects.append("\(number) \(code)")
  }

  private mutating func count(_ outcome: Outcome) {
    switch outcome {
    case .inserted: ledger.inserted += 1
    case .updated: ledger.updated += 1
    case .unchanged: ledger.unchanged += 1
    case .stale: ledger.stale += 1
    case .ignored: ledger.ignored += 1
    case .deleted: ledger.deleted += 1
    case .rejected, .quarantined: break
    }
  }

  // MARK: - One record

  private func decide(_ record: [String: Value]) throws -> Outcome {
    let values = names.compactMap { name in
      record[name].flatMap { $0 == .absent ? nil : (name: name, value: $0) }
    }
    for shadow in ["said", "stored"] {
      try run("DELETE FROM \(shadow)")
      try insert(values, into: shadow)
    }
    let mode = isTombstone(record) ? .delete : rules.mode
    switch mode {
    case .insert:
      // It has a key only where one is named, or deletes need one.
      if rules.rules.target != .primaryKey || rules.rules.tombstone != nil { try checkKeys(mode, values.map(\.name)) }
      return try insert(values, into: "t") ? .inserted : .ignored
    case .ignore:
      try checkKeys(mode, values.map(\.name))
      do {
        return try insert(values, into: "t") ? .inserted : .ignored
      } catch let error as UpsurgeError {
        let code = Self.code(error)
        if code == "unique" && rules.keys.isEmpty { return .ignored }
        guard ["unique", "not-null", "check", "type-mismatch"].contains(code) else { throw error }
        for key in rules.keys where try find(key) != nil { return .ignored }
        throw error
      }
    case .upsert, .update, .delete: break
    }
    let present = values.map(\.name)
    try checkKeys(mode, present)
    for key in rules.keys {
      guard let place = try find(key) else { continue }
      return mode == .delete ? try delete(place, present) : try update(present, place, key)
    }
    if mode != .upsert { return .ignored }
    return try insert(values, into: "t") ? .inserted : .ignored
  }

  private func isTombstone(_ record: [String: Value]) -> Bool {
    guard let tombstone = rules.rules.tombstone else { return false }
    switch record[tombstone.column] ?? .absent {
    case .null: return tombstone.value.isEmpty
    case .text(let text): return text == tombstone.value
    case .real(let number): return number == Double(tombstone.value)
    case .integer(let number):
      return "\(number)" == tombstone.value || number == 1 && tombstone.value == "true"
    default: return false
    }
  }

  /// A record that none of its keys can tell is rejected, unless storing it is wanted or gives it a key.
  private func checkKeys(_ mode: WriteMode, _ present: [String]) throws {
    let inserts = [.upsert, .insert, .ignore].contains(mode)
    if rules.keys.isEmpty || inserts && rules.rules.nullKeys == .insert { return }
    for key in rules.keys {
      if inserts && key.columns == [table.rowidColumn ?? ""] { return }
      if !inserts && !key.columns.allSatisfy(present.contains) { continue }
      let shadow = inserts ? "stored" : "said"
      let isNull = key.parts.map { $0.sql(on: shadow) + " IS NULL" }.joined(separator: " OR ")
      if try one("SELECT \(isNull) FROM \(shadow)") == 0 { return }
    }
    throw Rejected(code: "null-key")
  }

  // MARK: - Rows

  /// Where a row is: SQL, and the values of its parameters.
  private struct Place {
    var sql: String
    var values: [Value]
  }

  private func find(_ key: ModelTable.Key) throws -> Place? {
    var terms = key.parts.map { "\($0.sql(on: "t")) = \($0.sql(on: "stored"))" }
    if let predicate = key.predicate {
      terms += ["(\(ModelTable.on("t", predicate)))", "(\(ModelTable.on("stored", predicate)))"]
    }
    let identity = table.isWithoutRowid ? table.primaryKey?.columns ?? [] : ["rowid"]
    let wanted = identity.map { "t.\($0)" }.joined(separator: ", ")
    let rows = try query("SELECT \(wanted) FROM t, stored WHERE \(terms.joined(separator: " AND "))")
    precondition(rows.count < 2, "a key of the table has two rows")
    return rows.first.map {
      Place(sql: identity.map { "t.\($0) IS ?" }.joined(separator: " AND "), values: $0)
    }
  }

  /// - Returns: false when a trigger ignored the row.
  @discardableResult
  private func insert(_ values: [(name: String, value: Value)], into table: String) throws -> Bool {
    if values.isEmpty {
      try run("INSERT INTO \(table) DEFAULT VALUES")
    } else {
      let names = values.map(\.name).joined(separator: ", ")
      let marks = values.map { _ in "?" }.joined(separator: ", ")
      try run("INSERT INTO \(table)(\(names)) VALUES(\(marks))", values.map(\.value))
    }
    return try hasChanged()
  }

  private func delete(_ place: Place, _ present: [String]) throws -> Outcome {
    if try !isNewer(place, present) { return .stale }
    try run("DELETE FROM t WHERE \(place.sql)", place.values)
    return try hasChanged() ? .deleted : .ignored
  }

  private func update(
    _ present: [String], _ place: Place, _ key: ModelTable.Key
  ) throws -> Outcome {
    let changed = names.filter { name in
      // SQL sets its column even where the record does not mention it.
      let isSetBySQL = merge.columns[name]?.isExpression == true
      if table.primaryKey?.columns.contains(name) == true && (isSetBySQL || !key.isPrimary) { return false }
      return isSetBySQL || present.contains(name) && !key.columns.contains(name)
    }
    if changed.isEmpty { return .unchanged }
    let list = names.joined(separator: ", ")
    let marks = changed.map { "\($0) = ?" }.joined(separator: ", ")
    let values = try changed.map { try evaluate(sql(of: $0), place) }
    try run("DELETE FROM result")
    try run("INSERT INTO result(\(list)) SELECT \(list) FROM t WHERE \(place.sql)", place.values)
    try run("UPDATE result SET \(marks)", values)
    // What only comes along makes no difference.
    let compared = names.filter { merge.columns[$0] != .along }.joined(separator: ", ")
    let before = try query("SELECT \(compared) FROM t WHERE \(place.sql)", place.values)
    if try query("SELECT \(compared) FROM result") == before { return .unchanged }
    if try !isNewer(place, present) { return .stale }
    if let condition = merge.condition, try evaluate("(\(condition)) IS TRUE", place) != 1 {
      return .stale
    }
    try run("UPDATE t SET \(marks) WHERE \(place.sql)", values + place.values)
    return try hasChanged() ? .updated : .ignored
  }

  // MARK: - Rules

  private func sql(of column: String) -> String {
    let (new, old) = ("excluded.\(column)", "t.\(column)")
    switch merge.columns[column] ?? merge.rule {
    case .replace, .along: return new
    case .coalesce: return "ifnull(\(new), \(old))"
    case .keep: return "ifnull(\(old), \(new))"
    case .min: return "CASE WHEN \(old) IS NULL OR \(new) < \(old) THEN \(new) ELSE \(old) END"
    case .max: return "CASE WHEN \(old) IS NULL OR \(new) > \(old) THEN \(new) ELSE \(old) END"
    case .sum:
      return "CASE WHEN \(old) IS NULL THEN \(new) WHEN \(new) IS NULL THEN \(old) ELSE \(old) + \(new) END"
    case .expression(let text): return text
    }
  }

  private func isNewer(_ place: Place, _ present: [String]) throws -> Bool {
    guard let newer = merge.newer else { return true }
    let new = present.contains(newer.column) ? "excluded.\(newer.column)" : "NULL"
    let old = "t.\(newer.column)"
    let sql =
      newer.isStrict
      ? "(\(old) IS NULL AND \(new) IS NOT NULL) OR \(new) > \(old)" : "\(old) IS NULL OR \(new) >= \(old)"
    return try evaluate("(\(sql)) IS TRUE", place) == 1
  }

  /// SQL over the row, whose columns need no name before them, and the record as `excluded`: its values are those that
  /// the columns would store, but they are plain values, without a column's affinity and collation.
  private func evaluate(_ sql: String, _ place: Place) throws -> Value {
    let record = try query("SELECT * FROM said").first ?? []
    var sql = sql
    for (index, name) in names.enumerated() {
      sql = sql.replacing("excluded.\(name)", with: "?\(index + 1)")
    }
    var found = place.sql
    for index in place.values.indices {
      found = found.replacing("?", with: "@\(names.count + index + 1)", maxReplacements: 1)
    }
    found = found.replacing("@", with: "?")
    return try one("SELECT \(sql) FROM t WHERE \(found)", record + place.values)
  }

  // MARK: - SQL

  private func query(_ sql: String, _ arguments: [Value] = []) throws -> [[Value]] {
    try connection.rows(sql, arguments)
  }

  private func one(_ sql: String, _ arguments: [Value] = []) throws -> Value {
    try query(sql, arguments).first?.first ?? .null
  }

  private func run(_ sql: String, _ arguments: [Value] = []) throws { _ = try query(sql, arguments) }

  /// Whether the last statement changed a row itself.
  private func hasChanged() throws -> Bool { sqlite3_changes(connection.handle) > 0 }

  private static func code(_ error: UpsurgeError) -> String {
    switch (error.underlyingCode ?? 0, (error.underlyingCode ?? 0) & 0xFF) {
    case (_, SQLITE_MISMATCH), (SQLITE_CONSTRAINT | 12 << 8, _): "type-mismatch"
    case (SQLITE_CONSTRAINT | 5 << 8, _): "not-null"
    case (SQLITE_CONSTRAINT | 1 << 8, _): "check"
    case (SQLITE_CONSTRAINT | 3 << 8, _): "foreign-key"
    case (SQLITE_CONSTRAINT | 7 << 8, _): "trigger"
    case (SQLITE_CONSTRAINT | 8 << 8, _), (SQLITE_CONSTRAINT | 6 << 8, _), (SQLITE_CONSTRAINT | 10 << 8, _):
      "unique"
    default: error.message
    }
  }
}
