import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Notes which rows of a table a feed has delivered, in `upsurge_rows`; lives on the writer's thread.
///
///     a record is stored   its row's key is noted with the source and the run, after it and in its transaction
///     the sweep            is about rows that the feed has delivered and that no other feed delivers
///     after the sweep      gone = 1 for rows that are no longer in the delivery; rows that are no more lose theirs
///
/// As each note is a statement after that of its record, what rolls a record back (a savepoint, a kill) takes its note
/// back, too. A record that is refused is no delivery: it notes nothing, and takes no note away. One that is stale or ignored keeps its row from
/// being swept by other feeds, and does not make it this one's.
package final class RowStateKeeper {
  /// What a note says of its row: the column `stored`.
  package enum Standing: Int64 {
    /// All records about it were stale or ignored: it is not the feed's.
    case another = 0
    /// A record of the feed has become the row.
    case own = 1
    /// One has, of a delivery that is not accepted yet, and the row was there before it and not the feed's: it becomes the
    /// feed's when a delivery that has it is accepted.
    case provisional = 2
  }

  package let rules: RowStateRules
  /// Whether rows that the feed has delivered were counted, before the first record.
  package var hasCounted = false
  /// Whether what earlier runs have left was brought in order, in a transaction that is committed.
  package var isSettled = false

  let connection: Connection
  private(set) var schema: TableSchema
  private let identity: [Int]
  /// SQL for a row's key.
  private let key: String
  package let keyNames: [String]
  /// Literals of the table, the feed and the key's columns.
  let table: String
  let owner: String
  private let keyColumns: String
  private(set) var run: Int64?
  private var insertion: Statement?
  private var boundSource: String?
  private var unacceptance: Statement?
  /// SQL for the hash of what the feed writes of a row, and a literal of the columns that it writes; NULL where nobody looks
  /// for edits.
  private(set) var content = "NULL"
  private(set) var contentColumns = "NULL"
  /// What is known of rows that were edited here (`RowStateKeeper+Edits`).
  package var edits = Edits()

  /// - Throws: `usage` where a stored record need not be found by its key again.
  package init(_ rules: RowStateRules, _ plan: UpsertPlan, on connection: Connection) throws(UpsurgeError) {
    keyNames = try Self.keyNames(plan)
    self.rules = rules
    self.connection = connection
    schema = plan.schema
    identity = plan.identityColumns
    key = try RowStateTable.keySQL(keyNames, of: plan.schema)
    table = try SQLName.literal(plan.schema.name)
    owner = try SQLName.literal(rules.owner)
    keyColumns = try SQLName.literal(RowStateTable.text(ofColumns: keyNames))
    try adopt(plan)
  }

  /// Takes another plan, of records with other columns.
  package func adopt(_ plan: UpsertPlan) throws(UpsurgeError) {
    schema = plan.schema
    insertion = nil
    boundSource = nil
    unacceptance = nil
    edits.forgetStatements()
    if rules.localEdits == nil { return }
    try RowContent.register(on: connection)
    edits.rows = try RowEdits(schema, key: keyNames, ownedBy: rules.owner)
    var names: [String] = []
    for index in plan.slots.map(\.columnIndex) + plan.assignments.map(\.columnIndex) {
      let name = schema.columns[index].name
      // The sweep's mark is the sweep's.
      if !SQLName.isSame(name, plan.rules.softColumn ?? "") && !names.contains(name) { names.append(name) }
    }
    names.sort()
    content = try RowEdits.contentSQL(names, of: schema) ?? "NULL"
    contentColumns = try SQLName.literal(RowStateTable.text(ofColumns: names))
  }

  private static func keyNames(_ plan: UpsertPlan) throws(UpsurgeError) -> [String] {
    let schema = plan.schema
    let shown = schema.name.escapedForTerminal
    let hint = "key: [COLS] names them; or leave out row-state and owned-by"
    guard schema.kind == .table, schema.isWithoutRowid || schema.rowidName != nil else {
      throw UpsurgeError(
        .usage, "row-state: the rows of \(shown) cannot be told apart",
        hint: "leave out row-state and owned-by")
    }
    guard plan.mode == .upsert, plan.targets.count == 1, let target = plan.targets.first else {
      throw UpsurgeError(
        .usage, "row-state needs one key by which the records of table \(shown) are upserted", hint: hint)
    }
    guard target.isPlain, let names = target.columns, plan.rules.nullKeys != .insert else {
      throw UpsurgeError(
        .usage,
        "row-state: \(target.description.escapedForTerminal) does not tell every row of table \(shown) by its columns",
        hint: "give a key of columns alone, without key-where and null-keys: insert")
    }
    return names
  }

  /// The notes under names that no column of the table has. They are looked up by their key for each row: a list of all keys
  /// would be in memory, and be made anew by each look at one row.
  private static func notes(stored: String = "stored") -> String {
    """
    (SELECT "key" AS upsurge_key, "table" AS upsurge_table, owned_by AS upsurge_owner, \(stored) AS upsurge_stored,
      gone AS upsurge_gone, key_columns AS upsurge_columns FROM main.upsurge_rows)
    """
  }

  /// SQL that is true of rows that are the feed's.
  var ownTerm: String { ownTerm(stored: "stored") }

  /// SQL that is true of rows that are the feed's, in a table of notes that another connection sees. That table may be of an
  /// older layout.
  package func ownTerm(in found: FoundLayout) -> String { ownTerm(stored: found.term("stored", else: "1")) }

  private func ownTerm(stored: String) -> String {
    """
    EXISTS (SELECT 1 FROM \(Self.notes(stored: stored))
      WHERE upsurge_key = \(key) AND upsurge_table = \(table) AND upsurge_owner = \(owner) AND upsurge_stored = 1
        AND upsurge_columns = \(keyColumns))
    """
  }

  /// The row's own feeds, in SQL that is true of rows which a sweep of this feed may be about.
  package var sweptTerm: String {
    """
    \(ownTerm) AND NOT EXISTS (SELECT 1 FROM \(Self.notes())
      WHERE upsurge_key = \(key) AND upsurge_table = \(table) AND upsurge_owner <> \(owner) AND upsurge_gone = 0)
    """
  }

  // MARK: - Transactions

  /// Makes the table of notes in a transaction that begins.
  package func makeTable() throws(UpsurgeError) {
    try RowStateTable.layout.prepare(on: connection)
  }

  /// The largest number of a run that a note has.
  package func lastRun() throws(UpsurgeError) -> Int64 {
    try connection.integer("SELECT max(run) FROM main.upsurge_rows") ?? 0
  }

  /// Says which run notes rows from now on; nil for a trial.
  package func begin(run: Int64?) { self.run = run }

  /// Brings in order what earlier runs have left.
  /// - Parameter isTableNew: whether this part of the run has made the table, so that nothing is known of its rows.
  /// - Throws: `guardRefused` where another feed distinguishes rows by other columns.
  package func settle(isTableNew: Bool) throws(UpsurgeError) {
    if isTableNew { try connection.execute("DELETE FROM main.upsurge_rows WHERE \"table\" = \(table)") }
    if rules.adoptsUnnamed { try RowStateTable.adopt(schema.name, by: rules.owner, on: connection) }
    // Keys of other columns may have the same text.
    try connection.execute(
      """
      DELETE FROM main.upsurge_rows
      WHERE "table" = \(table) AND owned_by = \(owner) AND key_columns <> \(keyColumns)
      """)
    let other = try connection.prepare(
      """
      SELECT owned_by, key_columns FROM main.upsurge_rows
      WHERE "table" = \(table) AND key_columns <> \(keyColumns) LIMIT 1
      """)
    guard try other.step() else { return }
    throw RowStateTable.otherKey(
      keyNames, of: schema.name, other: other.text(at: 0) ?? "", columns: other.text(at: 1) ?? "")
  }

  // MARK: - Rows

  /// Notes the row whose identity a statement stands on.
  /// - Parameters:
  ///   - source: the file of its record.
  ///   - standing: whether the record has become the row; one that is stale or ignored only keeps other feeds from
  ///     sweeping it.
  ///   - bringsBack: whether a row that was edited is what the feed says again.
  package func note(
    rowOf handle: OpaquePointer, source: String, _ standing: Standing, bringsBack: Bool
  ) throws(UpsurgeError) {
    let statement = try statement(source: source, standing, bringsBack: bringsBack)
    defer { statement.reset() }
    bindIdentity(of: handle, to: statement)
    _ = try statement.step()
  }

  func bindIdentity(of handle: OpaquePointer, to statement: Statement) {
    statement.bind(rowOf: handle, count: identity.count)
  }

  /// SQL that is true of the row whose identity is bound to the first parameters.
  func identityCondition() throws(UpsurgeError) -> String {
    var conditions: [String] = []
    for (place, column) in identity.enumerated() {
      conditions.append("\(try schema.terms([column])) = ?\(place + 1)")
    }
    return conditions.joined(separator: " AND ")
  }

  /// Notes a row by what names it.
  package func note(_ row: [SQLValue], source: String, _ standing: Standing) throws(UpsurgeError) {
    let statement = try statement(source: source, standing, bringsBack: true)
    defer { statement.reset() }
    for (index, value) in row.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    _ = try statement.step()
  }

  /// The source as it is noted.
  func shown(_ source: String) -> String { rules.source ?? source }

  private func statement(
    source: String, _ standing: Standing, bringsBack: Bool
  ) throws(UpsurgeError) -> Statement {
    let made: Statement
    if let insertion {
      made = insertion
    } else {
      made = try connection.prepare(insertSQL(), isPersistent: true)
    }
    insertion = made
    let shown = shown(source)
    if boundSource != shown {
      try made.bind(shown, at: Int32(identity.count + 1))
      boundSource = shown
    }
    // The number may be another one since the transaction began.
    try made.bind(run.map { .integer($0) } ?? .null, at: Int32(identity.count + 2))
    try made.bind(.integer(standing.rawValue), at: Int32(identity.count + 3))
    if rules.localEdits == .repair {
      try made.bind(.integer(bringsBack ? 1 : 0), at: Int32(identity.count + 4))
    }
    return made
  }

  private func insertSQL() throws(UpsurgeError) -> String {
    var conditions = [try identityCondition()]
    for name in keyNames { conditions.append("\(try SQLName.quote(name)) IS NOT NULL") }
    return """
      INSERT INTO main.upsurge_rows
        ("table", "key", owned_by, key_columns, source, run, gone, stored, content, content_columns)
      SELECT \(table), \(key), \(owner), \(keyColumns), ?\(identity.count + 1), ?\(identity.count + 2), 0,
        ?\(identity.count + 3), CASE WHEN ?\(identity.count + 3) THEN \(content) END, \(contentColumns)
      FROM main.\(try SQLName.quote(schema.name)) WHERE \(conditions.joined(separator: " AND "))
      ON CONFLICT ("table", "key", owned_by) DO UPDATE SET key_columns = excluded.key_columns,
        source = excluded.source, run = excluded.run, gone = 0,
        stored = CASE WHEN stored = 1 OR NOT excluded.stored THEN stored ELSE excluded.stored END,
        content = CASE WHEN excluded.stored THEN excluded.content ELSE content END,
        content_columns = CASE WHEN excluded.stored THEN excluded.content_columns ELSE content_columns END,
        edit = CASE WHEN NOT excluded.stored THEN edit \(repaired) END
      """
  }

  /// Of a row that the feed has stored, and that is marked as edited.
  private var repaired: String {
    rules.localEdits == .repair
      ? "WHEN edit = 'repaired' OR edit IS NOT NULL AND ?\(identity.count + 4) THEN 'repaired'" : ""
  }

  // MARK: - Whether the delivery is accepted

  /// Notes of a row that it is only provisionally the feed's, as the delivery that has noted it is not accepted.
  package func unaccept(rowOf handle: OpaquePointer) throws(UpsurgeError) {
    let statement: Statement
    if let unacceptance {
      statement = unacceptance
    } else {
      statement = try connection.prepare(
        """
        UPDATE main.upsurge_rows SET stored = 2
        WHERE "table" = \(table) AND owned_by = \(owner) AND stored = 1 AND run IS \(runText)
          AND "key" = (SELECT \(key) FROM main.\(try SQLName.quote(schema.name)) WHERE \(try identityCondition()))
        """, isPersistent: true)
      unacceptance = statement
    }
    defer { statement.reset() }
    bindIdentity(of: handle, to: statement)
    _ = try statement.step()
  }

  /// The delivery is accepted: the rows that it has are the feed's, and others that were it provisionally are not.
  package func accept() throws(UpsurgeError) {
    let provisional = "\"table\" = \(table) AND owned_by = \(owner) AND stored = 2"
    try connection.interruptible { () throws(UpsurgeError) in
      if try connection.integer("SELECT 1 FROM main.upsurge_rows WHERE \(provisional) LIMIT 1") == nil { return }
      try connection.execute(
        """
        UPDATE main.upsurge_rows SET stored = 1 WHERE \(provisional) AND run IS \(runText);
        DELETE FROM main.upsurge_rows WHERE \(provisional);
        """)
    }
  }

  private var runText: String { run.map { "\($0)" } ?? "NULL" }

  // MARK: - The end

  /// Brings the notes in step with the rows, after the sweep.
  /// - Parameters:
  ///   - unseen: SQL that is true of rows that are not in the delivery; nil where nobody knows them.
  ///   - hasPlainRows: whether nothing but its record can have taken a row of this delivery away.
  package func finish(unseen: String?, hasPlainRows: Bool) throws(UpsurgeError) {
    let rows = "SELECT \(key) FROM main.\(try SQLName.quote(schema.name))"
    let run = runText
    if let unseen {
      try connection.interruptible { () throws(UpsurgeError) in
        try connection.execute(
          """
          UPDATE main.upsurge_rows SET gone = 1
          WHERE "table" = \(table) AND owned_by = \(owner) AND gone = 0 AND run IS NOT \(run)
            AND "key" IN (\(rows) WHERE \(unseen));
          DELETE FROM main.upsurge_rows
          WHERE "table" = \(table) AND owned_by = \(owner) AND gone = 1 AND NOT stored;
          """)
      }
    }
    let others = hasPlainRows ? "AND NOT (owned_by = \(owner) AND run IS \(run))" : ""
    try connection.interruptible { () throws(UpsurgeError) in
      try connection.execute(
        """
        DELETE FROM main.upsurge_rows
        WHERE "table" = \(table) \(others) AND "key" NOT IN (\(rows)) AND NOT (\(keptNotes(isWhole: unseen != nil)))
        """)
    }
  }
}
