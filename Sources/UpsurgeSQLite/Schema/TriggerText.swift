import UpsurgeRecords

/// A trigger by its text, for what no pragma says.
package struct TriggerText: Sendable, Equatable {
  package var name: String
  /// The table or view whose changes fire it.
  package var table: String
  package var sql: String
  /// Whether it is of this connection only.
  package var isTemporary: Bool

  /// The triggers of a table, or of all tables, by name; TEMP ones last.
  package static func read(
    _ connection: Connection, table: String? = nil
  ) throws(UpsurgeError) -> [TriggerText] {
    let statement = try connection.prepare(
      """
      SELECT name, tbl_name, sql, 0 FROM sqlite_schema WHERE type = 'trigger'
      UNION ALL SELECT name, tbl_name, sql, 1 FROM sqlite_temp_schema WHERE type = 'trigger' ORDER BY 4, 1
      """)
    var triggers: [TriggerText] = []
    while try statement.step() {
      let trigger = TriggerText(
        name: statement.text(at: 0) ?? "", table: statement.text(at: 1) ?? "",
        sql: statement.text(at: 2) ?? "", isTemporary: statement.integer(at: 3) != 0)
      if table.map({ SQLName.isSame($0, trigger.table) }) ?? true { triggers.append(trigger) }
    }
    return triggers
  }

  /// The change that an INSTEAD OF trigger takes the place of: `INSERT`, `UPDATE` or `DELETE`; nil for another trigger.
  package var insteadOf: String? {
    let tokens = SQLScanner.tokens(of: sql)
    let start = tokens.indices.dropLast(2).first {
      tokens[$0].isWord("INSTEAD") && tokens[$0 + 1].isWord("OF")
    }
    return start.flatMap { start in
      ["INSERT", "UPDATE", "DELETE"].first { tokens[start + 2].isWord($0) }
    }
  }

  /// Whether the text calls the function.
  package func calls(_ function: String) -> Bool { Self.calls(in: sql).contains(SQLName.folded(function)) }

  /// The functions that some SQL calls, in lower case and in the order of the text; a name that only stands before
  /// a parenthesis for another reason (`INSERT INTO t(a)`, a keyword) does not count.
  package static func calls(in sql: String) -> [String] {
    var scanner = SQLScanner(sql)
    var names: [String] = []
    var previous: SQLScanner.Token?
    var last: SQLScanner.Token?
    while let token = scanner.next() {
      if token.isMark("("), let name = last, name.kind == .word || name.kind == .quotedName {
        let folded = name.text.lowercased()
        let isTable = previous.map { before in
          before.isMark(".")
            || ["INTO", "TABLE", "ON", "REFERENCES", "INDEX", "VIEW"].contains { before.isWord($0) }
        }
        let isKeyword = name.kind == .word && keywords.contains(folded)
        if isTable != true && !isKeyword && !names.contains(folded) { names.append(folded) }
      }
      previous = last
      last = token
    }
    return names
  }

  /// Words that may stand before a parenthesis and are no functions.
  private static let keywords: Set<String> = [
    "all", "and", "as", "between", "by", "case", "cast", "conflict", "distinct", "do", "else", "end",
    "except",
    "exists", "filter", "from", "having", "in", "intersect", "is", "isnull", "join", "key", "limit", "not",
    "notnull", "of", "offset", "on", "or", "over", "raise", "returning", "select", "set", "then", "union",
    "using", "values", "when", "where",
  ]
}
