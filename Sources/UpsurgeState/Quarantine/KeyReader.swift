import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Says which row a record is about, in words that are the same for all records about that row: its key as the
/// table would hold it.
///
/// A key of `'7'` is 7 in an INTEGER column, and `'ANN'` is `'ann'` under NOCASE. SQLite itself does the converting:
/// one statement takes the record's fields, gives them the affinities of their columns and evaluates the key's terms
/// and the predicate of a partial index:
///
///     SELECT "id", lower("email"), "updated_at"
///     FROM (SELECT CASE WHEN ?1 = CAST(?1 AS NUMERIC) THEN CAST(?1 AS NUMERIC) ELSE ?1 END AS "id", ...) AS "t"
///     WHERE active = 1
///
/// What differs only by a collation is made the same afterwards. Where the table does not exist, values are taken
/// as they are: two records that should have been one are both kept then, and stored one after the other.
package final class KeyReader {
  /// A record's key and its version.
  struct Key {
    /// JSON array of the values; nil when there is no key, or a value of it is NULL.
    var text: String?
    var version: SQLValue
  }

  /// Says how keys are compared, as JSON; keys of one form can be compared as texts.
  let form: String
  /// The comparison of versions, with `?4` for the record's.
  let isNotOlder: String

  private let collations: [String]
  private let statement: Statement
  /// The cell of each parameter.
  private let cellIndexes: [Int]
  private let names: [String]

  /// - Returns: nil when the plan has no key, or it needs a column that the records lack.
  init?(_ plan: UpsertPlan, on connection: Connection) throws(UpsurgeError) {
    guard let terms = KeyTerms(plan) else { return nil }
    var inner: [String] = []
    var cellIndexes: [Int] = []
    let needed = terms.neededColumns.map(SQLName.folded)
    let version = plan.rules.merge.newer.map { SQLName.folded($0.column) }
    for (index, column) in plan.columns.enumerated() {
      let name = SQLName.folded(column.name)
      guard needed.contains(name) || name == version else { continue }
      cellIndexes.append(index)
      let affinity = plan.schema.columnIndex(column.name).map { plan.schema.columns[$0].affinity }
      let value = KeyReader.converted("?\(cellIndexes.count)", affinity: affinity ?? .none)
      inner.append("\(value) AS \(try SQLName.quote(column.name))")
    }
    let isCovered = needed.allSatisfy { name in
      plan.columns.contains { SQLName.folded($0.name) == name }
    }
    guard !inner.isEmpty, isCovered else { return nil }
    let sql = """
      SELECT \(terms.parts.map(\.sql).joined(separator: ", ")), \(try terms.versionSQL(plan))
      FROM (SELECT \(inner.joined(separator: ", "))) AS \(try SQLName.quote(plan.schema.name))
      \(terms.predicate.map { "WHERE \($0)" } ?? "")
      """
    // An expression may read a column that the records do not have.
    guard let statement = try? connection.prepare(sql, isPersistent: true) else { return nil }
    self.statement = statement
    self.cellIndexes = cellIndexes
    names = plan.columns.map(\.name)
    collations = terms.parts.map(\.collation)
    form = terms.form
    isNotOlder = terms.isNotOlder
  }

  /// The key of a record of a batch.
  func key(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) -> Key {
    let row = batch.cells + record * batch.columnCount
    for (parameter, index) in cellIndexes.enumerated() {
      let cell = index < batch.columnCount ? row[index] : .absent
      try statement.bind(cell, of: batch, at: Int32(parameter + 1))
    }
    return try read()
  }

  /// The key of a record that is kept.
  func key(_ fields: [QuarantinedRecord.Field]) throws(UpsurgeError) -> Key {
    for (parameter, index) in cellIndexes.enumerated() {
      let field = fields.first { SQLName.isSame($0.name, names[index]) }
      try statement.bind(field?.value ?? .null, at: Int32(parameter + 1))
    }
    return try read()
  }

  private func read() throws(UpsurgeError) -> Key {
    defer { statement.reset() }
    guard try statement.step() else { return Key(text: nil, version: .null) }
    let version = SQLValue(statement.handle, column: Int32(collations.count))
    var out = JSONText()
    out.beginArray()
    for (index, collation) in collations.enumerated() {
      let value = SQLValue(statement.handle, column: Int32(index))
      if value == .null { return Key(text: nil, version: version) }
      out.value(KeyReader.folded(value, collation: collation))
    }
    out.endArray()
    return Key(text: out.text, version: version)
  }

  /// SQL for what a column of this affinity makes of a value: the comparison with a CAST converts as the column would.
  package static func converted(_ value: String, affinity: Affinity) -> String {
    switch affinity {
    case .none: value
    case .text:
      "CASE WHEN typeof(\(value)) IN ('integer', 'real') THEN CAST(\(value) AS TEXT) ELSE \(value) END"
    case .numeric, .integer, .real:
      "CASE WHEN \(value) = CAST(\(value) AS NUMERIC) THEN CAST(\(value) AS NUMERIC) ELSE \(value) END"
    }
  }

  /// One spelling for all values that compare equal.
  private static func folded(_ value: SQLValue, collation: String) -> SQLValue {
    switch value {
    case .real(let number): Int64(exactly: number).map(SQLValue.integer) ?? value
    case .text(let text) where SQLName.isSame(collation, "NOCASE"): .text(SQLName.lowered(text))
    case .text(let text) where SQLName.isSame(collation, "RTRIM"):
      .text(String(decoding: text.utf8.reversed().drop { $0 == 0x20 }.reversed(), as: UTF8.self))
    default: value
    }
  }
}

/// The terms of a plan's key.
struct KeyTerms {
  var parts: [(sql: String, collation: String)] = []
  var predicate: String?
  /// The columns without which there is no key.
  var neededColumns: [String] = []
  var form = ""
  var isNotOlder = "1"
  private var newer: Merge.Newer?

  /// - Returns: nil when nothing says which row a record is about.
  init?(_ plan: UpsertPlan) {
    var shown: [String] = []
    if plan.schema.columns.isEmpty {
      if !plan.speaksOfRows { return nil }
      guard case .columns(let names, nil) = plan.rules.target, !names.isEmpty else { return nil }
      for name in names {
        guard add(column: name, collation: "BINARY", of: plan, to: &shown) else { return nil }
      }
    } else {
      // With several keys the first that matches a row decides, and a kept record has no row yet.
      guard plan.speaksOfRows, plan.targets.count == 1, let key = plan.key else { return nil }
      for part in key.parts {
        let isAdded =
          if let expression = part.expression {
            add(expression: expression, collation: part.collation, to: &shown)
          } else {
            add(column: part.column ?? "", collation: part.collation, of: plan, to: &shown)
          }
        if !isAdded { return nil }
      }
      if key.parts.contains(where: { $0.expression != nil }) || key.isPartial {
        neededColumns = key.columnIndexes(in: plan.schema).map { plan.schema.columns[$0].name }
      }
      predicate = key.predicate
      if let predicate { shown.append("where: " + predicate) } else if key.isPartial { return nil }
    }
    newer = plan.rules.merge.newer
    if let newer {
      let collation = plan.schema.columnIndex(newer.column).map { plan.schema.columns[$0].collation }
      guard let collate = try? SQLName.quote(collation ?? "BINARY") else { return nil }
      isNotOlder =
        newer.isStrict
        ? "(?4 IS NOT NULL AND version IS NULL OR ?4 > version COLLATE \(collate))"
        : "(version IS NULL OR ?4 >= version COLLATE \(collate))"
      shown.append("newer: " + KeyTerms.described(newer.column, plan))
    }
    var out = JSONText()
    out.beginArray()
    for term in shown { out.string(term) }
    out.endArray()
    form = out.text
  }

  private mutating func add(
    column: String, collation: String, of plan: UpsertPlan, to shown: inout [String]
  ) -> Bool {
    guard let sql = try? SQLName.quote(column) else { return false }
    parts.append((sql, collation))
    neededColumns.append(column)
    shown.append(KeyTerms.described(column, plan) + KeyTerms.collate(collation))
    return true
  }

  private mutating func add(expression: String, collation: String, to shown: inout [String]) -> Bool {
    parts.append(("(\(expression))", collation))
    shown.append("(\(expression))" + KeyTerms.collate(collation))
    return true
  }

  private static func collate(_ name: String) -> String {
    SQLName.isSame(name, "BINARY") ? "" : " COLLATE \(name.uppercased())"
  }

  /// A column and how it converts: `id INTEGER`.
  private static func described(_ name: String, _ plan: UpsertPlan) -> String {
    guard let index = plan.schema.columnIndex(name) else { return SQLName.folded(name) }
    switch plan.schema.columns[index].affinity {
    case .none: return SQLName.folded(name) + " BLOB"
    case .text: return SQLName.folded(name) + " TEXT"
    case .numeric, .integer, .real: return SQLName.folded(name) + " NUMERIC"
    }
  }

  /// The version as the column would hold it; of a column that the table lacks, numbers count as numbers.
  func versionSQL(_ plan: UpsertPlan) throws(UpsurgeError) -> String {
    guard let newer, plan.columns.contains(where: { SQLName.isSame($0.name, newer.column) }) else {
      return "NULL"
    }
    let name = try SQLName.quote(newer.column)
    return plan.schema.columnIndex(newer.column) == nil
      ? KeyReader.converted("(+\(name))", affinity: .numeric) : name
  }
}

extension UpsertPlan {
  /// Whether records may be about rows that exist; of a table that does not exist, the rules alone say so.
  var speaksOfRows: Bool {
    let mode = schema.columns.isEmpty ? rules.mode : mode
    return mode != .insert || rules.tombstone != nil
  }
}
