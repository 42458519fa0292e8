import Upsurge
import UpsurgeRecords
import UpsurgeState

/// What a server notes of each row that a feed has delivered, in `upsurge_rows`: part of the only transaction of a delivery.
///
///     settle    before the first record: what earlier runs have left is brought in order
///     note      after the sweep was judged: one statement notes the rows of all records
///     finish    rows that the delivery does not have are gone; rows that are no more lose their notes
///
/// A row's key is noted as one text: the value itself, or a JSON array of several. See `RowStateKeeper` for what the columns mean.
struct RowNotes {
  let notes: StateTable
  let rules: RowStateRules
  /// As notes name the table.
  let table: String
  /// The table's columns of the key.
  private let key: [String]
  /// The sources as they may be shown.
  private let sources: [String]
  private let isTrial: Bool
  /// The number of the run that notes rows; nil for a trial.
  var run: Int64?
  /// Whether there is a table of notes; not before a trial of the first run.
  private(set) var isThere = true
  /// The columns that the feed writes, where edits are looked for.
  var written: [String] = []
  /// The table's columns; none of one that the run makes.
  let columns: Set<String>
  /// Whether edited rows are in a temporary table.
  var hasMarked = false
  /// Whether any row was changed, or deleted, that is to be kept so.
  var keepsChanged = false
  var keepsDeleted = false

  /// - Parameters:
  ///   - table: as notes name it.
  ///   - key: the columns by which records find their rows.
  ///   - columns: those of the table; none of one that the run makes.
  init(
    _ rules: RowStateRules, of table: String, key: [String], columns: [String] = [], sources: [String],
    schema: String,
    isTrial: Bool
  ) {
    (self.rules, self.table, self.key, self.isTrial) = (rules, table, key, isTrial)
    self.columns = Set(columns)
    self.sources = rules.source.map { source in sources.map { _ in source } } ?? sources
    notes = StateTable(RowStateTable.notes, schema: schema)
  }

  // MARK: - Terms

  private var name: String { notes.quotedName }
  var ofTable: String { "\"table\" = \(table.literalForPostgres)" }
  var owner: String { rules.owner.literalForPostgres }
  var ours: String { "\(ofTable) AND owned_by = \(owner)" }
  var keyColumns: String { RowStateTable.text(ofColumns: key).literalForPostgres }

  /// SQL that is true of rows which a sweep of the feed may be about: they are its own, and no other feed's.
  func sweptTerm(_ rows: SweptRows) -> String {
    if !isThere { return "false" }
    let note =
      "SELECT FROM \(name) AS upsurge_n WHERE upsurge_n.\(ofTable) AND upsurge_n.\"key\" = \(rows.keyText)"
    return """
      EXISTS (\(note) AND upsurge_n.owned_by = \(owner) AND upsurge_n.stored = 1 AND upsurge_n.key_columns = \(keyColumns))
      AND NOT EXISTS (\(note) AND upsurge_n.owned_by <> \(owner) AND upsurge_n.gone = 0)
      """
  }

  // MARK: - The beginning

  /// Brings in order what earlier runs have left.
  /// - Parameters:
  ///   - isTableNew: whether the run makes the table, so that nothing is known of its rows.
  ///   - refuse: makes a failure of an error of ours, with which the transaction ends.
  mutating func settle(
    isTableNew: Bool, _ connection: PostgresConnection, refuse: (UpsurgeError) -> PostgresFailure
  ) throws(PostgresFailure) {
    if isTrial { isThere = try notes.exists(connection) }
    if !isThere { return }
    if isTableNew { try connection.run("DELETE FROM \(name) WHERE \(ofTable)") }
    if rules.adoptsUnnamed {
      try connection.run(
        """
        UPDATE \(name) AS n SET owned_by = \(owner) WHERE n.\(ofTable) AND n.owned_by = '' AND NOT EXISTS (
          SELECT FROM \(name) AS o WHERE o.\(ofTable) AND o."key" = n."key" AND o.owned_by = \(owner));
        DELETE FROM \(name) WHERE \(ofTable) AND owned_by = ''
        """)
    }
    // Keys of other columns may have the same text.
    try connection.run("DELETE FROM \(name) WHERE \(ours) AND key_columns <> \(keyColumns)")
    let other = try connection.run(
      "SELECT owned_by, key_columns FROM \(name) WHERE \(ofTable) AND key_columns <> \(keyColumns) LIMIT 1",
      []
    ).first
    guard let other else { return }
    throw refuse(
      RowStateTable.otherKey(key, of: table, other: other.text(0) ?? "", columns: other.text(1) ?? ""))
  }

  // MARK: - The end

  /// Which rows a delivery was about.
  enum Delivered {
    /// All rows of a table that the delivery has made.
    case all
    /// Rows whose keys are in the table of keys that were seen.
    case seen
  }

  /// What has become of a delivery.
  struct Verdict {
    /// Whether a guard has refused it, or its rows could not be swept.
    var isRefused: Bool
    /// Whether the rows that the last commit has are in a temporary table.
    var knowsBefore: Bool
    /// Whether rows that the delivery does not have are gone from the feed.
    var knowsUnseen: Bool
  }

  /// Notes the rows of a delivery, and brings the others' notes in step with their rows.
  func finish(
    _ delivered: Delivered, _ rows: SweptRows, _ verdict: Verdict, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    if isTrial { return }
    try note(delivered, rows, verdict, connection)
    if keepsDeleted { try noteDeleted(rows, sources: sources, connection) }
    if !verdict.isRefused {
      // The rows that it has are the feed's by now, and others that were it provisionally are not.
      if rules.isOwned { try connection.run("DELETE FROM \(name) WHERE \(ours) AND stored = 2") }
      if case .seen = delivered, verdict.knowsUnseen {
        try connection.run(
          """
          UPDATE \(name) SET gone = 1 WHERE \(ours) AND gone = 0
            AND "key" IN (SELECT \(rows.keyText) FROM \(rows.table) WHERE NOT \(rows.isIn(.seen)));
          DELETE FROM \(name) WHERE \(ours) AND gone = 1 AND stored = 0
          """)
      }
    }
    try connection.run(
      """
      DELETE FROM \(name) AS upsurge_n WHERE upsurge_n.\(ofTable)
        AND NOT EXISTS (SELECT FROM \(rows.table) WHERE \(rows.keyText) = upsurge_n."key") AND NOT (\(keptByOthers))\(exceptKept(verdict, seenKeys: seenKeys(rows)))
      """)
  }

  /// SQL for the notes of rows that were deleted here and stay noted, beginning with AND.
  private func exceptKept(_ verdict: Verdict, seenKeys: String) -> String {
    if keepsDeleted, verdict.knowsUnseen {
      return " AND NOT (\(keptByEdits) AND upsurge_n.\"key\" IN (\(seenKeys)))"
    }
    return hasMarked && !verdict.knowsUnseen ? " AND NOT (\(keptByEdits))" : ""
  }

  /// SQL that is true of notes by which another feed knows a row that somebody has deleted.
  private var keptByOthers: String {
    """
    upsurge_n.owned_by <> \(owner) AND upsurge_n.content IS NOT NULL AND NOT EXISTS (SELECT FROM \(name) AS o
      WHERE o."key" = upsurge_n."key" AND o.\(ofTable) AND o.owned_by <> upsurge_n.owned_by)
    """
  }

  private func note(
    _ delivered: Delivered, _ rows: SweptRows, _ verdict: Verdict, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    // A row that was there, and is not the feed's, becomes it when a delivery that has it is accepted.
    let isOld = verdict.isRefused && verdict.knowsBefore && rules.isOwned
    var stored = isOld ? "CASE WHEN \(rows.isIn(.before)) THEN 2 ELSE 1 END" : "1"
    // Its record was passed over: it says nothing else of the row than that the feed has it.
    if keepsChanged { stored = "CASE WHEN \(rows.isIn(.kept)) THEN 0 ELSE \(stored) END" }
    var (from, source) = (rows.table, "0")
    if case .seen = delivered {
      from +=
        " JOIN \(KeyTable.seen.quotedName) AS upsurge_s ON upsurge_s.upsurge_source IS NOT NULL AND \(rows.matches("upsurge_s"))"
      source = "upsurge_s.upsurge_source"
    }
    let shown = sources.map(\.literalForPostgres).joined(separator: ", ")
    // What triggers have made of the rows meanwhile is no edit.
    let content = rules.localEdits == nil ? "NULL::bigint" : Self.content(of: written.sorted(), rows.alias)
    let columns =
      rules.localEdits == nil ? "NULL" : RowStateTable.text(ofColumns: written.sorted()).literalForPostgres
    var isBack = "false"
    if case .seen = delivered, hasMarked { isBack = isBroughtBack(rows) }
    try connection.run(
      """
      INSERT INTO \(name) AS n
        ("table", "key", owned_by, key_columns, source, run, gone, stored, content, content_columns, edit)
      SELECT \(table.literalForPostgres), k, \(owner), \(keyColumns), (ARRAY[\(shown)]::text[])[max(s) + 1],
        \(run.map { "\($0)" } ?? "NULL"), 0, max(stored), max(content), \(columns), CASE WHEN bool_or(is_back) THEN 'repaired' END
      FROM (SELECT \(rows.keyText) AS k, \(source) AS s, \(stored) AS stored, \(content) AS content, \(isBack) AS is_back
        FROM \(from)) AS r GROUP BY k
      ON CONFLICT ("key", "table", owned_by) DO UPDATE SET key_columns = excluded.key_columns, source = excluded.source,
        run = excluded.run, gone = 0,
        stored = CASE WHEN n.stored = 1 OR excluded.stored = 0 THEN n.stored ELSE excluded.stored END,
        content = CASE WHEN excluded.stored = 0 THEN n.content ELSE excluded.content END,
        content_columns = CASE WHEN excluded.stored = 0 THEN n.content_columns ELSE excluded.content_columns END,
        edit = CASE WHEN excluded.stored = 0 THEN n.edit ELSE excluded.edit END
      """)
  }
}
