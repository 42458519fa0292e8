import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// The SQL of the merge rules, tried alone, so that a mistake is told with the option that has it.
extension UpsertPlan {
  /// - Throws: `usage` where `--set` or `--update-if` is nothing that SQLite can compile.
  package func checkRules(on connection: Connection) throws(UpsurgeError) {
    for (name, rule) in rules.merge.columns.sorted(by: { $0.key < $1.key }) {
      guard case .expression(let sql) = rule else { continue }
      try check(
        sql, option: "\(.set, name.escapedForTerminal)",
        hint:
          "a rule is replace, coalesce, keep, min, max, sum, along, or SQL over excluded.COL and the row's columns",
        on: connection)
    }
    if let condition = rules.merge.condition {
      try check(
        condition, option: "\(.updateIf)", hint: "give SQL over excluded.COL and the row's columns",
        on: connection)
    }
  }

  private func check(
    _ sql: String, option: Wording, hint: Wording, on connection: Connection
  ) throws(UpsurgeError) {
    let fragment = SQLFragment(sql)
    let columns =
      "the columns of table \(schema.name) are: \(schema.columns.map(\.name).joined(separator: ", "))"
      .escapedForTerminal
    for (token, next) in zip(fragment.tokens, fragment.tokens.dropFirst(2))
    where token.isName && SQLName.isSame(token.text, "excluded") && schema.columnIndex(next.text) == nil {
      throw UpsurgeError(
        .usage, "\(saying: option): excluded.\(next.text.escapedForTerminal) is no column of the table", hint: Wording(columns)
      )
    }
    // In a WHERE no aggregate may stand, as in an UPDATE.
    let probe =
      "SELECT 1 FROM \(try SQLName.quote(schema.name)) WHERE (\(fragment.replacingExcluded { _ in "NULL" }))"
    do throws(UpsurgeError) {
      let isTable = schema.kind == .table
      // A view's own text may hold strings in double quotes.
      _ =
        isTable
        ? try connection.withoutQuotedStrings { () throws(UpsurgeError) in try connection.prepare(probe) }
        : try connection.prepare(probe)
    } catch {
      guard error.code == .database else { throw error }
      throw UpsurgeError(
        .usage, "\(saying: option): \(connection.lastMessage.escapedForTerminal): \(sql.escapedForTerminal)",
        hint: "\(hint); \(columns)")
    }
  }
}
