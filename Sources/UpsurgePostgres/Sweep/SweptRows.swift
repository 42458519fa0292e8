import Upsurge
import UpsurgeRecords

/// The rows of a table that a feed is about, as SQL over that table.
struct SweptRows: Sendable {
  /// The table, by the schema and the name that it has during the load; without the rows of tables that inherit from it.
  let quotedName: String
  /// What stands for a row of it: the table's own name, as SQL of a scope may use it.
  let alias: String
  /// The columns of the key.
  let key: [PostgresColumn]
  /// What follows a column of the key where texts are compared by another collation than its own; empty for the others.
  let collations: [String]
  /// SQL over the table: only rows for which it is true belong to the feed.
  let scope: String?
  let mark: RowMark?

  /// These rows, where the table has got another name since; quoted.
  func named(_ name: String) -> SweptRows {
    SweptRows(quotedName: name, alias: alias, key: key, collations: collations, scope: scope, mark: mark)
  }

  /// `FROM` takes it.
  var table: String { "\(quotedName) AS \(alias)" }

  /// SQL that is true of the feed's rows. A comment at the end of the scope ends with its line.
  var isInScope: String { scope.map { "(\($0)\n)" } ?? "true" }

  var isOutside: String { "(\(isInScope)) IS NOT TRUE" }

  /// SQL that is true of the feed's rows that are not marked as gone.
  var isLive: String { mark.map { "\(isInScope) AND \($0.isThere)" } ?? isInScope }

  /// The columns of a table of keys.
  var keyNames: [String] { key.indices.map { "upsurge_k\($0)" } }

  /// The key of a row, as a list that SELECT takes.
  var keyList: String {
    zip(key, keyNames).map { "\(alias).\($0.name.quotedForPostgres) AS \($1)" }.joined(separator: ", ")
  }

  /// SQL that is true of a row whose key a table of keys holds.
  func isIn(_ keys: KeyTable) -> String { isIn(keys, "=") }

  /// SQL that is true of a row and a key of a table of keys that are the same.
  /// - Parameter entry: what stands for the key.
  func matches(_ entry: String) -> String {
    zip(zip(key, keyNames), collations).map { pair, collation in
      "\(entry).\(pair.1) = \(alias).\(pair.0.name.quotedForPostgres)\(collation)"
    }.joined(separator: " AND ")
  }

  /// SQL that is true of a row that has no value of some column of its key, and whose key a table of keys holds; nil where each row
  /// has all. No record is about such a row.
  func isWithoutKey(in keys: KeyTable) -> String? {
    let terms = key.filter { !$0.isNotNull }.map { "\(alias).\($0.name.quotedForPostgres) IS NULL" }
    if terms.isEmpty { return nil }
    return "(\(terms.joined(separator: " OR "))) AND \(isIn(keys, "IS NOT DISTINCT FROM"))"
  }

  private func isIn(_ keys: KeyTable, _ comparison: String) -> String {
    let terms = key.indices.map {
      "upsurge_s.\(keyNames[$0]) \(comparison) \(alias).\(key[$0].name.quotedForPostgres)\(collations[$0])"
    }
    return "EXISTS (SELECT FROM \(keys.quotedName) AS upsurge_s WHERE \(terms.joined(separator: " AND ")))"
  }

  /// SQL for a row's key as one text, as it is noted. Longer ones are noted by what stands for them: an index takes no more.
  var keyText: String { Self.keyText(of: key.map(\.name), alias) }

  /// SQL for a key of a table of keys as one text, as that of its row is noted.
  func keyText(ofEntry entry: String) -> String { Self.keyText(of: keyNames, entry) }

  /// SQL for a row's key as one text.
  /// - Parameter row: what stands for the row.
  static func keyText(of names: [String], _ row: String) -> String {
    let texts = names.map { "\(row).\($0.quotedForPostgres)::text" }
    let text = texts.count == 1 ? texts[0] : "jsonb_build_array(\(texts.joined(separator: ", ")))::text"
    return "CASE WHEN octet_length(\(text)) > 1000 THEN md5(\(text)) ELSE \(text) END"
  }
}

/// A temporary table of keys, which goes away with the transaction.
struct KeyTable: Sendable {
  /// The rows that records were about.
  static let seen = KeyTable(name: "upsurge_seen")
  /// The rows that no record was about.
  static let gone = KeyTable(name: "upsurge_gone")
  /// The rows that the last commit has.
  static let before = KeyTable(name: "upsurge_before")

  /// The rows that were edited here, and are to be kept.
  static let kept = KeyTable(name: "upsurge_kept")
  /// The records of a batch, of which is asked whether they are about such rows.
  static let asked = KeyTable(name: "upsurge_asked")

  /// The keys of parts that the last delivery had, and this one has not.
  static let left = KeyTable(name: "upsurge_left")

  let name: String

  var quotedName: String { "pg_temp.\(name)" }

  /// Makes it, without rows, with the types and collations of the table's own columns.
  /// - Parameter hasSource: whether each key has the number of its record's source, or NULL.
  func creation(for rows: SweptRows, hasSource: Bool = false) -> String {
    let source = hasSource ? ", 0::int4 AS upsurge_source" : ""
    return
      "CREATE TEMPORARY TABLE \(name) ON COMMIT DROP AS SELECT \(rows.keyList)\(source) FROM \(rows.table) WITH NO DATA"
  }

  var copy: String { "COPY \(quotedName) FROM STDIN (FORMAT binary)" }
}
