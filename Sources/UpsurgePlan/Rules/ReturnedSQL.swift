import UpsurgeRecords
import UpsurgeSQLite

/// Which SQL is run of the rules that come back from a database or a file of rejects.
///
/// Whoever has made those may have written anything there. What only computes with the record and its row is harmless:
/// `hits + excluded.hits`. A subquery would read other tables, and a function that SQLite does not bring along could do
/// anything.
package struct ReturnedSQL: Sendable {
  /// Whether all of it is run: the caller knows who wrote it.
  package var isTrusted: Bool
  /// Expressions that the caller has given again.
  package var given: Set<String>

  package init(isTrusted: Bool = false, given: Set<String> = []) {
    (self.isTrusted, self.given) = (isTrusted, given)
  }

  /// All of it: for rules that are read and not run.
  package static let unchecked = ReturnedSQL(isTrusted: true)

  /// - Throws: `usage` for rules whose SQL is not run.
  package func check(_ rules: UpsertRules) throws(UpsurgeError) { try check(rules.expressions) }

  /// - Throws: `usage` for SQL that is not run.
  package func check(_ expressions: [String]) throws(UpsurgeError) {
    if isTrusted { return }
    for sql in expressions where !given.contains(sql) {
      guard let reason = SQLFragment(sql).foreignPart else { continue }
      throw Self.refusal(of: sql, " with \(reason)")
    }
  }

  /// - Parameter part: what is in it that is not run; empty where none is.
  package static func refusal(of sql: String, _ part: String = "") -> UpsurgeError {
    UpsurgeError(
      .usage,
      "the rules that were kept with the records hold SQL\(part), which is not run when it comes from a database or "
        + "a file: \(String(sql.prefix(120)).escapedForTerminal)",
      hint: "\(command: "upsurge replay \(.trustRules)") runs it; use that only where you know who wrote the rules")
  }
}

extension UpsertRules {
  /// The SQL that somebody wrote. That of a key does not count: it must stand in an index of the table, as it is.
  package var expressions: [String] {
    let setters = merge.columns.sorted { $0.key < $1.key }.compactMap { _, rule in
      if case .expression(let sql) = rule { return sql }
      return nil
    }
    return setters + (merge.condition.map { [$0] } ?? [])
  }
}
