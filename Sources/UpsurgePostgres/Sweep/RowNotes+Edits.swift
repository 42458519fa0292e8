import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Rows that somebody has edited since their feed has stored them (see `RowEdits` for SQLite's).
///
/// Each note holds a hash of the columns that the feed writes, as they were at the end of its delivery, and their names. Where the row
/// says something else now, or has gone, it was edited. Such rows are put into a temporary table before the first record, with the place
/// where each stands. A record that writes its row gives it another place: then the row is brought back.
extension RowNotes {
  private static let edits = "pg_temp.upsurge_edits"

  /// SQL for the hash of some columns of a row, as text and settings of a transaction have them. MD5 is the same on each server.
  static func content(of names: [String], _ row: String) -> String {
    let list = names.map { "\(row).\($0.quotedForPostgres)" }.joined(separator: ", ")
    return "('x' || substr(md5(ROW(\(list))::text), 1, 16))::bit(64)::bigint"
  }

  /// SQL that is true of a row and its note `upsurge_n` that says something else.
  /// - Returns: nil where no note says anything.
  private func differs(
    _ rows: SweptRows, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> String? {
    let lists = try connection.run(
      "SELECT DISTINCT content_columns FROM \(notes.quotedName) WHERE \(ours) AND content IS NOT NULL", [])
    let cases = lists.rows.compactMap { row -> String? in
      let text = row.text(0) ?? ""
      guard let names = try? JSONValue(text).names, columns.isSuperset(of: names) else { return nil }
      return " WHEN \(text.literalForPostgres) THEN \(Self.content(of: names, rows.alias))"
    }
    if cases.isEmpty { return nil }
    return "upsurge_n.content <> CASE upsurge_n.content_columns\(cases.joined()) END"
  }

  /// SQL that is true of a note `upsurge_n` of a row that no other feed has delivered: else nobody knows which has changed it.
  private var isOnly: String {
    """
    NOT EXISTS (SELECT FROM \(notes.quotedName) AS o WHERE o."key" = upsurge_n."key" AND o.\(ofTable)
      AND o.owned_by <> upsurge_n.owned_by)
    """
  }

  private var isNoted: String {
    "upsurge_n.\(ofTable) AND upsurge_n.owned_by = \(owner) AND upsurge_n.key_columns = \(keyColumns) AND upsurge_n.content IS NOT NULL"
  }

  /// The edited rows, as a query with their keys and places; those of rows that have gone are NULL.
  /// - Parameter isThere: whether only rows count that the last delivery has had.
  private func found(
    _ rows: SweptRows, isThere: Bool, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> String {
    let gone = """
      SELECT upsurge_n."key" AS k, NULL::tid AS place, NULL::oid AS home FROM \(notes.quotedName) AS upsurge_n
      WHERE \(isNoted) AND upsurge_n.gone = 0 AND \(isOnly)
        AND NOT EXISTS (SELECT FROM \(rows.table) WHERE \(rows.keyText) = upsurge_n."key")
      """
    guard let differs = try differs(rows, connection) else { return gone }
    return """
      SELECT upsurge_n."key" AS k, \(rows.alias).ctid AS place, \(rows.alias).tableoid AS home
      FROM \(rows.table) JOIN \(notes.quotedName) AS upsurge_n ON upsurge_n."key" = \(rows.keyText)
      WHERE \(isNoted)\(isThere ? " AND upsurge_n.gone = 0" : "") AND \(differs) AND \(isOnly)
      UNION ALL \(gone)
      """
  }

  /// Whether any row was edited that the last delivery has had.
  func holdsEdits(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    let edits = try found(rows, isThere: true, connection)
    return try connection.run("SELECT EXISTS (\(edits))", []).first?.flag(0) ?? false
  }

  /// Marks the notes of edited rows, before the first record, where edits are looked for and notes may hold some.
  /// - Parameter refuse: makes a failure of an error of ours, with which the transaction ends.
  mutating func markEdits(
    _ rows: SweptRows, _ connection: PostgresConnection, refuse: (UpsurgeError) -> PostgresFailure
  ) throws(PostgresFailure) {
    if rules.localEdits == nil || !isThere { return }
    if rules.localEdits == .keep, let column = try missingColumn(connection) {
      throw refuse(RowStateTable.missing(column, of: table))
    }
    hasMarked = true
    let edits = try found(rows, isThere: false, connection)
    try connection.run(
      """
      UPDATE \(notes.quotedName) SET edit = NULL WHERE \(ours) AND edit IS NOT NULL;
      CREATE TEMPORARY TABLE upsurge_edits ON COMMIT DROP AS \(edits);
      UPDATE \(notes.quotedName) AS n SET edit = CASE WHEN e.place IS NULL THEN 'deleted' ELSE 'changed' END
      FROM \(Self.edits) AS e WHERE n.\(ofTable) AND n.owned_by = \(owner) AND n."key" = e.k
      """)
    if rules.localEdits != .keep { return }
    let counts = try connection.run("SELECT count(place), count(*) - count(place) FROM \(Self.edits)", [])
      .first
    (keepsChanged, keepsDeleted) = ((counts?.integer(0) ?? 0) > 0, (counts?.integer(1) ?? 0) > 0)
    if !keepsChanged && !keepsDeleted { return }
    try connection.run(
      """
      CREATE TEMPORARY TABLE \(KeyTable.kept.name) ON COMMIT DROP AS SELECT \(rows.keyList) FROM \(rows.table)
      WHERE \(isEdited(rows))
      """)
  }

  /// A column that the feed has written into rows that it has, and that the table lacks now; nil without one.
  private func missingColumn(_ connection: PostgresConnection) throws(PostgresFailure) -> String? {
    let sql =
      "SELECT DISTINCT content_columns FROM \(notes.quotedName) WHERE \(ours) AND content IS NOT NULL AND gone = 0"
    for row in try connection.run(sql, []).rows {
      let names = (try? JSONValue(row.text(0) ?? "").names) ?? []
      if let missing = names.first(where: { !columns.contains($0) }) { return missing }
    }
    return nil
  }

  /// SQL that is true of a row that was edited before the first record.
  func isEdited(_ rows: SweptRows) -> String {
    "EXISTS (SELECT FROM \(Self.edits) AS upsurge_e WHERE upsurge_e.k = \(rows.keyText))"
  }

  /// SQL that is true of a row that was edited, and that its record has written since.
  func isBroughtBack(_ rows: SweptRows) -> String {
    """
    EXISTS (SELECT FROM \(Self.edits) AS upsurge_e WHERE upsurge_e.k = \(rows.keyText)
      AND (upsurge_e.place, upsurge_e.home) IS DISTINCT FROM (\(rows.alias).ctid, \(rows.alias).tableoid))
    """
  }

  /// SQL that is true of notes that stay although their row is not there: somebody has deleted it, and nobody knows whether the feed
  /// still has it.
  var keptByEdits: String {
    "upsurge_n.owned_by = \(owner) AND upsurge_n.edit IS NOT DISTINCT FROM 'deleted'"
  }

  /// How many rows were brought back.
  func repairedCount(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> UInt64 {
    let seen =
      "\(KeyTable.seen.quotedName) AS upsurge_s WHERE upsurge_s.upsurge_source IS NOT NULL AND \(rows.matches("upsurge_s"))"
    let sql =
      "SELECT count(*) FROM \(rows.table) WHERE \(isBroughtBack(rows)) AND EXISTS (SELECT FROM \(seen))"
    return UInt64(try connection.run(sql, []).first?.integer(0) ?? 0)
  }

  // MARK: - Rows that are kept

  /// The keys of the records that were not refused, as rows' keys are noted.
  func seenKeys(_ rows: SweptRows) -> String {
    "SELECT \(rows.keyText(ofEntry: "upsurge_s")) FROM \(KeyTable.seen.quotedName) AS upsurge_s WHERE upsurge_s.upsurge_source IS NOT NULL"
  }

  /// A record that is about an edited row.
  struct AboutEdited {
    let record: Int
    /// The key, where the row was deleted and keys are wanted.
    let deletedKey: String?
  }

  /// The records about rows that are kept, in their order. Their keys are in the table of those that are asked for.
  /// - Parameter withKeys: whether keys of rows that were deleted are wanted, too: they may be long.
  func aboutEdited(
    _ rows: SweptRows, withKeys: Bool, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [AboutEdited] {
    let terms = zip(rows.keyNames, rows.collations).map { "upsurge_s.\($0) = upsurge_a.\($0)\($1)" }
    let result = try connection.run(
      """
      SELECT upsurge_a.upsurge_source\(withKeys ? ", upsurge_e.k" : "") FROM \(KeyTable.asked.quotedName) AS upsurge_a
        LEFT JOIN \(Self.edits) AS upsurge_e ON upsurge_e.place IS NULL AND upsurge_e.k = \(rows.keyText(ofEntry: "upsurge_a"))
      WHERE upsurge_e.k IS NOT NULL
        OR EXISTS (SELECT FROM \(KeyTable.kept.quotedName) AS upsurge_s WHERE \(terms.joined(separator: " AND ")))
      ORDER BY 1
      """, [])
    return result.rows.compactMap { row in
      row.integer(0).map { AboutEdited(record: Int($0), deletedKey: withKeys ? row.text(1) : nil) }
    }
  }

  /// Forgets rows that were deleted here, and that the feed says are gone.
  func forgetDeleted(_ keys: [String], _ connection: PostgresConnection) throws(PostgresFailure) {
    var list = JSONText()
    list.strings(keys)
    let array: [PostgresParameter] = [.text(String(decoding: list.bytes, as: UTF8.self))]
    let isOne = "IN (SELECT jsonb_array_elements_text($1::jsonb))"
    try connection.run("DELETE FROM \(Self.edits) WHERE k \(isOne)", array)
    try connection.run(
      "DELETE FROM \(notes.quotedName) WHERE \(ours) AND edit = 'deleted' AND \"key\" \(isOne)", array)
  }

  /// Notes that the feed still has rows that were deleted here.
  func noteDeleted(
    _ rows: SweptRows, sources: [String], _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    let shown = sources.map(\.literalForPostgres).joined(separator: ", ")
    try connection.run(
      """
      UPDATE \(notes.quotedName) AS n SET source = (ARRAY[\(shown)]::text[])[r.s + 1], run = \(run.map { "\($0)" } ?? "NULL"), gone = 0
      FROM (SELECT \(rows.keyText(ofEntry: "upsurge_s")) AS k, max(upsurge_s.upsurge_source) AS s
        FROM \(KeyTable.seen.quotedName) AS upsurge_s WHERE upsurge_s.upsurge_source IS NOT NULL GROUP BY 1) AS r
      WHERE n.\(ofTable) AND n.owned_by = \(owner) AND n.edit = 'deleted' AND n."key" = r.k
      """)
  }

  /// How many rows were edited that the delivery has, and whose records were passed over.
  func keptCount(_ rows: SweptRows, _ connection: PostgresConnection) throws(PostgresFailure) -> UInt64 {
    let seen =
      "\(KeyTable.seen.quotedName) AS upsurge_s WHERE upsurge_s.upsurge_source IS NOT NULL AND \(rows.matches("upsurge_s"))"
    let row = try connection.run(
      """
      SELECT (SELECT count(*) FROM \(rows.table) WHERE \(rows.isIn(.kept)) AND EXISTS (SELECT FROM \(seen))),
        (SELECT count(*) FROM \(Self.edits) WHERE place IS NULL AND k IN (\(seenKeys(rows))))
      """, []
    ).first
    return UInt64((row?.integer(0) ?? 0) + (row?.integer(1) ?? 0))
  }
}
