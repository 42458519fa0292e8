import UpsurgeRecords

/// Looks at SQL of a user before any of it runs beside records.
///
/// Statements of the paths may hold several commands, so SQL of a user could bring one of its own, or leave the place where it is
/// put. A probe puts it into two pairs of brackets that no text can leave both, and goes as one command: the server refuses a second.
///
///     SELECT CASE WHEN true THEN sql END, (sql) FROM … WHERE false
///
///     1; DROP TABLE t       two commands
///     1) + (2               leaves the second, and cannot leave the first so
///     1 ELSE 2              leaves the first, and cannot leave the second so
///     a, b                  is not one expression in the first
///
/// Nothing is read and nothing is stored by it. A transaction that is open would fail with it.
package struct ExpressionCheck {
  private let shape: RecordShape

  package init(_ shape: RecordShape) { self.shape = shape }

  /// What is wrong with the SQL of the rules, by the name of its option; nil where all of it is right.
  /// - Throws: what is not the fault of the SQL.
  package func objection(_ connection: PostgresConnection) throws(PostgresFailure) -> UpsurgeError? {
    let rules = shape.rules
    for (name, change) in rules.changes.sorted(by: { $0.key < $1.key }) {
      guard case .expression(let sql) = change else { continue }
      let option: Wording = "\(.set, name.escapedForTerminal)"
      if let error = try objection(to: sql, isCondition: false, option: option, connection) { return error }
    }
    guard let condition = rules.condition else { return nil }
    return try objection(to: condition, isCondition: true, option: "\(.updateIf)", connection)
  }

  /// What is wrong with a condition over the table's rows; nil where it is right.
  package func objection(
    toScope scope: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> UpsurgeError? {
    try objection(to: scope, isCondition: true, option: "scope", connection)
  }

  /// - Parameter isCondition: whether it must be true or false.
  private func objection(
    to sql: String, isCondition: Bool, option: Wording, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> UpsurgeError? {
    let shown = sql.escapedForTerminal
    // The server would see no more than what is before it.
    if sql.utf8.contains(0) {
      return UpsurgeError(.usage, "\(saying: option): the SQL holds the character U+0000: \(shown)")
    }
    do throws(PostgresFailure) {
      try connection.run(probe(sql, isCondition: isCondition), [])
      return nil
    } catch {
      // 08P01: a parameter that nobody gives.
      let isOfSQL =
        ["42", "0A"].contains { error.sqlState.hasPrefix($0) } || ["08P01"].contains(error.sqlState)
      guard isOfSQL || error.kind == .record else { throw error }
      return UpsurgeError(.usage, "\(saying: option): \(error.message.escapedForTerminal): \(shown)")
    }
  }

  /// What is sent: one command, by the extended protocol.
  func probe(_ sql: String, isCondition: Bool) -> String {
    // A comment at the end of the SQL ends with its line.
    let first = isCondition ? "CASE WHEN \(sql)\nTHEN 1 END" : "CASE WHEN true THEN \(sql)\nEND"
    let list = [first, "(\(sql)\n)"].map { shape.scoped($0, row: "upsurge_row", record: "s") }
    let table = shape.table.quotedName
    return "SELECT \(list.joined(separator: ", ")) FROM \(table) AS upsurge_row, \(table) AS s WHERE false"
  }
}
