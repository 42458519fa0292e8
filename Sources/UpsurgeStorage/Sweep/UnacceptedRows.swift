import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// The rows that deliveries of a feed have brought since one was accepted last; lives on the writer's thread.
///
/// A guard asks how many of the rows that the last accepted delivery has left would go. Rows that a refused delivery has
/// brought are in the table beside them, and must not count, or a delivery that comes twice dilutes the share that it
/// takes away:
///
///     accepted: 1 to 10      refused: 101 to 300      in the table: 1 to 10 and 101 to 300
///     the refused one again  10 of 10 rows would go, not 10 of 210
///     1 to 10 again          none of 10 would go; 101 to 300 go, as nobody has accepted them
///
/// A row that was there, and was not the feed's, does not become the feed's by such a delivery, either: its note in
/// `upsurge_rows` is provisional (see `RowStateKeeper.Standing`) until a delivery that has the row is accepted.
///
/// Where a delivery is one transaction, its rows are found when it is refused: those that it was about and that the last
/// commit does not have. Where it is many, each transaction notes its own. `upsurge_unaccepted` holds their keys, as
/// `upsurge_rows` spells them; an accepted delivery empties it.
final class UnacceptedRows {
  static let tableName = OwnTable.unaccepted.rawValue

  /// Whether there are some of earlier deliveries.
  let holdsAny: Bool
  /// Whether rows are noted as they come, as they are committed before the delivery is judged.
  private(set) var notesEach = false

  private let connection: Connection
  private let schema: TableSchema
  private let identity: [Int]
  /// SQL for a row's key.
  private let key: String
  /// SQL that is true of the rows that the feed is about.
  private let live: String
  private let hasScope: Bool
  /// Literals of the table and the feed.
  private let table: String
  private let owner: String
  private var insertion: Statement?
  /// What the feed notes of its rows, where those are all that it sweeps.
  private let rowState: RowStateKeeper?
  /// Whether rows were met that nobody can tell from those that were there.
  private var hasUntold = false
  /// nil before it was asked for.
  private var before: RowsBefore??
  private var changes: ChangedRowids?

  static let layout = OwnLayout(
    .unaccepted, purpose: "rows of refused deliveries are kept in one of this name",
    columns: ["table", "owned_by", "key"],
    body: """
      "table" TEXT NOT NULL COLLATE NOCASE,
      owned_by TEXT NOT NULL,
      "key" TEXT NOT NULL,
      PRIMARY KEY ("table", owned_by, "key")
      """, options: " WITHOUT ROWID")

  static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }

  /// - Parameter rowState: what the feed notes of its rows; nil where it notes nothing.
  init(
    _ plan: UpsertPlan, _ rules: SnapshotRules, rowState: RowStateKeeper?, on connection: Connection
  ) throws(UpsurgeError) {
    self.connection = connection
    self.rowState = rowState?.rules.isOwned == true ? rowState : nil
    hasScope = rules.scope != nil
    schema = plan.schema
    identity = plan.identityColumns
    key = try Self.keySQL(plan)
    live = try rules.liveScope(of: plan.schema)
    table = try SQLName.literal(plan.schema.name)
    owner = try SQLName.literal(rules.owner)
    let some = """
      SELECT 1 FROM main.upsurge_unaccepted WHERE "table" = \(table) AND owned_by = \(owner) LIMIT 1
      """
    holdsAny = try Self.exists(connection) ? try connection.integer(some) != nil : false
  }

  deinit { stop() }

  /// By the primary key, which another key of the feed does not change; else by the feed's columns, or the rowid.
  private static func keySQL(_ plan: UpsertPlan) throws(UpsurgeError) -> String {
    let schema = plan.schema
    var names = schema.columns.filter { $0.keyOrdinal > 0 }.sorted { $0.keyOrdinal < $1.keyOrdinal }.map(
      \.name)
    if names.isEmpty, let target = plan.targets.first, target.isPlain { names = target.columns ?? [] }
    if names.isEmpty { return "quote(\(schema.rowidName ?? "rowid"))" }
    return try RowStateTable.keySQL(names, of: schema)
  }

  /// SQL that is true of rows that an accepted delivery has left, or that have come from elsewhere.
  var acceptedTerm: String {
    // Names that no column of the table has, and a look-up for each row: a list of all keys would be in memory.
    """
    NOT EXISTS (SELECT 1 FROM (SELECT "table" AS upsurge_table, owned_by AS upsurge_owner, "key" AS upsurge_key
        FROM main.upsurge_unaccepted)
      WHERE upsurge_table = \(table) AND upsurge_owner = \(owner) AND upsurge_key = \(key))
    """
  }

  // MARK: - As they come

  /// Notes each row from now on.
  func noteEach(sweep: RowSweep) {
    notesEach = true
    if !schema.isWithoutRowid {
      // What enters the scope, or is there again, was not left by an accepted delivery either.
      changes = ChangedRowids(schema.name, withUpdates: sweep != .hard || hasScope, on: connection)
    }
  }

  /// Ends that.
  func stop() {
    notesEach = false
    changes?.stop()
    changes = nil
  }

  /// Notes the row whose identity a statement stands on, where rows have no rowids.
  func note(rowOf handle: OpaquePointer) throws(UpsurgeError) {
    guard notesEach, schema.isWithoutRowid else { return }
    guard let before = rowsBefore() else {
      hasUntold = true
      return
    }
    if try !before.holds(rowOf: handle) { try insert(rowOf: handle) }
  }

  /// What the note of a row that a record has become says of it, before the delivery is judged.
  /// - Parameter bind: binds what identifies the row.
  func standing(
    _ bind: (Statement) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) -> RowStateKeeper.Standing {
    guard notesEach, rowState != nil else { return .own }
    guard let before = rowsBefore() else {
      hasUntold = true
      return .provisional
    }
    return try before.holds(bind) ? .provisional : .own
  }

  /// Notes what has changed since it was done last, in the transaction of that.
  /// - Parameter count: fewer rows wait.
  func flush(atLeast count: Int = 1) throws(UpsurgeError) {
    guard let changes, changes.count >= count else { return }
    let changed = changes.take()
    for rowid in changed.inserted { try insert(rowid) }
    // A row that was marked as gone, and is there again, was not left by an accepted delivery either.
    if changed.updated.isEmpty { return }
    guard let before = rowsBefore() else {
      hasUntold = true
      return
    }
    for rowid in changed.updated where try !before.holds(rowid) { try insert(rowid) }
  }

  /// Forgets what has changed, as it was taken back.
  func didRollBack() { _ = changes?.take() }

  // MARK: - In the end

  /// Whether all rows that were noted as they came were told from those that were there.
  var areToldApart: Bool { !hasUntold }

  /// Notes the rows of a delivery that is refused, before its only transaction is committed.
  /// - Parameter condition: SQL that is true of the rows that its records were about.
  /// - Returns: false where nobody can tell which of them are new.
  func noteAll(where condition: String) throws(UpsurgeError) -> Bool {
    guard let before = rowsBefore() else { return false }
    let rows = try connection.prepare(
      """
      SELECT \(try schema.terms(identity)) FROM main.\(try SQLName.quote(schema.name))
      WHERE (\(live)) AND (\(condition))
      """)
    try connection.interruptible { () throws(UpsurgeError) in
      while try rows.step() {
        if try !before.holds(rowOf: rows.handle) {
          try insert(rowOf: rows.handle)
        } else if let rowState, try !before.isOwned(rowOf: rows.handle) {
          try rowState.unaccept(rowOf: rows.handle)
        }
      }
    }
    return true
  }

  private func insert(_ rowid: Int64) throws(UpsurgeError) {
    try insert { (statement) throws(UpsurgeError) in try statement.bind(rowid, at: 1) }
  }

  private func insert(rowOf handle: OpaquePointer) throws(UpsurgeError) {
    try insert { [identity] (statement) in statement.bind(rowOf: handle, count: identity.count) }
  }

  private func insert(_ bind: (Statement) throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    let insertion = try inserting()
    defer { insertion.reset() }
    try bind(insertion)
    _ = try insertion.step()
  }

  /// The statement that notes a row; makes the table, which a savepoint may have taken back since the last one.
  private func inserting() throws(UpsurgeError) -> Statement {
    let code = sqlite3_table_column_metadata(
      connection.handle, "main", Self.tableName, nil, nil, nil, nil, nil, nil)
    if code == SQLITE_OK, let insertion { return insertion }
    try Self.layout.prepare(on: connection)
    var conditions: [String] = []
    for (place, column) in identity.enumerated() {
      conditions.append("\(try schema.terms([column])) = ?\(place + 1)")
    }
    let made = try connection.prepare(
      """
      INSERT OR IGNORE INTO main.upsurge_unaccepted ("table", owned_by, "key")
      SELECT \(table), \(owner), \(key) FROM main.\(try SQLName.quote(schema.name))
      WHERE \(conditions.joined(separator: " AND ")) AND (\(live))
      """, isPersistent: true)
    insertion = made
    return made
  }

  /// nil where the last commit cannot be looked at: in memory, or where the scope asks for functions of this connection.
  private func rowsBefore() -> RowsBefore? {
    if case .some(let known) = before { return known }
    let made = try? RowsBefore(schema, identity, live: live, rowState: rowState, of: connection)
    before = .some(made)
    return made
  }
}

/// Collects the rowids of rows that statements insert into a table, or change, whatever brings that about.
private final class ChangedRowids {
  struct Changed {
    var inserted: [Int64] = []
    var updated: [Int64] = []
  }

  private var changed = Changed()
  private let table: String
  private let withUpdates: Bool
  private let connection: Connection

  var count: Int { changed.inserted.count + changed.updated.count }

  init(_ table: String, withUpdates: Bool, on connection: Connection) {
    self.table = table
    self.withUpdates = withUpdates
    self.connection = connection
    sqlite3_update_hook(
      connection.handle,
      { context, operation, database, table, rowid in
        guard let context, let database, let table else { return }
        Unmanaged<ChangedRowids>.fromOpaque(context).takeUnretainedValue()
          .note(operation, database, table, rowid)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func stop() { sqlite3_update_hook(connection.handle, nil, nil) }

  func take() -> Changed {
    defer { changed = Changed() }
    return changed
  }

  private func note(
    _ operation: Int32, _ database: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>, _ rowid: Int64
  ) {
    guard operation == SQLITE_INSERT || withUpdates && operation == SQLITE_UPDATE,
      sqlite3_stricmp(database, "main") == 0, sqlite3_stricmp(table, self.table) == 0
    else { return }
    if operation == SQLITE_INSERT { changed.inserted.append(rowid) } else { changed.updated.append(rowid) }
  }
}
