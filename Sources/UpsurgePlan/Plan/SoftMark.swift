import UpsurgeRecords
import UpsurgeSQLite

/// How a column says that its row is gone.
package struct SoftMark {
  /// What asks for it.
  package static let term = Wording("sweep: soft:", call: "sweeping: .soft:")

  /// The index of the column.
  package let column: Int
  /// Quoted.
  package let name: String
  /// SQL for a row that is gone.
  package let gone: String
  /// SQL for a row that is there.
  package let there: String
  /// SQL that is true of a row that is there.
  package let isThere: String

  /// - Parameter rules: may say what the column has; it has what suits it otherwise.
  /// - Throws: `usage` where the table lacks the column, or has it in its primary key.
  package init(
    _ column: String, in schema: TableSchema, _ rules: SnapshotRules = SnapshotRules()
  ) throws(UpsurgeError) {
    guard let index = schema.columnIndex(column), schema.columns[index].generation == .none else {
      throw UpsurgeError(
        .usage,
        "\(saying: SoftMark.term) table \(schema.name.escapedForTerminal) has no column \(column.escapedForTerminal)",
        hint: "ALTER TABLE adds one such as deleted_at TEXT")
    }
    let found = schema.columns[index]
    if found.keyOrdinal > 0 {
      throw UpsurgeError(
        .usage,
        "\(saying: SoftMark.term) the column \(column.escapedForTerminal) is part of the primary key of table \(schema.name.escapedForTerminal)",
        hint: "ALTER TABLE adds one such as deleted_at TEXT")
    }
    self.column = index
    name = try SQLName.quote(found.name)
    switch found.affinity {
    case .text, .none: gone = rules.softMark ?? "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
    case .numeric, .integer, .real: gone = rules.softMark ?? "1"
    }
    let value = rules.softAbsence ?? found.defaultExpression.map { "(\($0))" } ?? "0"
    there = rules.softRevival ?? (found.isNotNull ? value : "NULL")
    isThere = "\(name) IS NULL OR \(name) IN (0, '', \(rules.softAbsence ?? "'0'"))"
  }
}

extension SnapshotRules {
  /// SQL that is true of the rows that a sweep is about: in scope, and not swept before.
  package func liveScope(of schema: TableSchema) throws(UpsurgeError) -> String {
    var terms = scope.map { ["(\($0))"] } ?? []
    if case .soft(let column) = sweep { terms.append("(\(try SoftMark(column, in: schema, self).isThere))") }
    return terms.isEmpty ? "1" : terms.joined(separator: " AND ")
  }
}
