import UpsurgeRecords
import UpsurgeSQLite

/// The table of rejected records; users may read it, correct `raw` in it, and delete from it what they give up.
///
/// - `table`: where the record was to go.
/// - `context`: how it was read and was to be stored: a row of `upsurge_reject_contexts`, whose text is the line that
///   stands above such records in a file of rejects.
/// - `file`, `record`, `line`, `byte`, `column`, `code`, `reason`, `raw`: what is said of it in a file of rejects;
///   `raw` is a BLOB where the bytes are no text.
/// - `raw_cut`: 1 where the record had more than 64 KiB and its end is missing.
/// - `count`, `added_at`, `last_at`: in how many deliveries of a snapshot the record was rejected, and when first and last; all
///   else is what the last one said. `raw_hash` and `delivery` find it again; they are NULL in rows of other loads.
package enum RejectTable {
  package static let name = OwnTable.rejects.rawValue

  package static let purpose: Wording = "\(.rejects, "table") keeps records in one of this name"

  package static let contexts = OwnLayout(
    .rejectContexts, purpose: purpose, columns: ["id", "context"],
    body: """
      id INTEGER PRIMARY KEY,
      context TEXT NOT NULL UNIQUE
      """)

  /// Ids rise in the order of arrival.
  package static let layout = OwnLayout(
    .rejects, purpose: purpose,
    columns: [
      "id", "table", "context", "file", "record", "line", "byte", "column", "code", "reason", "raw",
      "raw_cut",
      "added_at",
    ],
    body: """
      id INTEGER PRIMARY KEY,
      "table" TEXT NOT NULL COLLATE NOCASE,
      context INTEGER NOT NULL,
      file TEXT,
      record INTEGER,
      line INTEGER,
      byte INTEGER,
      "column" TEXT,
      code TEXT NOT NULL,
      reason TEXT NOT NULL,
      raw NOT NULL,
      raw_cut INTEGER NOT NULL DEFAULT 0,
      added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
      count INTEGER NOT NULL DEFAULT 1,
      last_at TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
      raw_hash INTEGER,
      delivery TEXT
      """,
    steps: [
      .columns(
        [
          ("count", "INTEGER NOT NULL DEFAULT 1"), ("last_at", "TEXT"), ("raw_hash", "INTEGER"),
          ("delivery", "TEXT"),
        ],
        then: "UPDATE main.upsurge_rejects SET last_at = added_at WHERE last_at IS NULL")
    ])

  /// Makes the tables, or brings them up to date, in the open transaction.
  /// - Parameter counting: whether records are counted that come again; without that, layout 1 will do.
  static func prepare(counting: Bool, _ connection: Connection) throws(UpsurgeError) {
    let found = try look(connection)
    if found.contexts == nil { try connection.execute(contexts.creation) }
    try layout.prepare(found.rejects, atLeast: counting ? nil : 1, on: connection)
    if !counting { return }
    try connection.execute(
      """
      CREATE INDEX IF NOT EXISTS main.upsurge_rejects_raw ON upsurge_rejects (raw_hash) WHERE raw_hash IS NOT NULL
      """)
  }

  /// Whether the database holds the table.
  /// - Throws: `guardRefused` when a table of that name, or of the name of its contexts, is not ours, or of a newer layout.
  package static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try look(connection).rejects != nil
  }

  /// The tables as they stand in the database.
  static func look(
    _ connection: Connection
  ) throws(UpsurgeError) -> (contexts: FoundLayout?, rejects: FoundLayout?) {
    let found = try connection.reading { () throws(UpsurgeError) in
      (contexts: try contexts.find(on: connection), rejects: try layout.find(on: connection))
    }
    if found.rejects != nil && found.contexts == nil { throw contextsAreGone }
    return found
  }

  package static var contextsAreGone: UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "the table upsurge_reject_contexts is gone, which says how the records of upsurge_rejects were read",
      hint: "bring it back from a backup; or rename upsurge_rejects, and load its records from their inputs")
  }
}

/// Puts rejected records into their table, in whatever transaction is open; belongs to the connection's thread.
package final class RejectTableWriter {
  private let connection: Connection
  private let table: String
  /// Finds the rows of earlier deliveries of the same snapshot; nil where every record gets its own row.
  private let deliveries: RejectDeliveries?
  private var insertion: Statement?
  /// The ids of contexts that this transaction has seen.
  private var contextIDs: [String: Int64] = [:]
  private var tableExists = false

  /// - Parameters:
  ///   - table: where the records were to go.
  ///   - deliveries: counts records that were rejected in earlier deliveries, too.
  /// - Throws: `guardRefused` when a table of the name of ours is not ours.
  package init(
    _ connection: Connection, table: String, deliveries: RejectDeliveries? = nil
  ) throws(UpsurgeError) {
    self.connection = connection
    self.table = table
    self.deliveries = deliveries
    _ = try RejectTable.exists(connection)
  }

  /// Whether records are counted that were rejected in earlier deliveries, too.
  package var countsDeliveries: Bool { deliveries != nil }

  /// Keeps a record; without an open transaction nothing is kept, because its neighbours are gone too.
  /// - Parameter identity: a hash of what decides how its bytes are read, where deliveries are counted.
  package func write(_ reject: Reject, context: String, identity: UInt64 = 0) throws(UpsurgeError) {
    if connection.isInAutocommit { return }
    if !tableExists {
      try RejectTable.prepare(counting: deliveries != nil, connection)
      if let deliveries { try deliveries.begin(table, connection) }
      tableExists = true
    }
    let contextID = try id(of: context)
    let hash = deliveries?.hash(reject, identity) ?? 0
    if let deliveries, try deliveries.count(reject, of: table, contextID, hash, connection) { return }
    let insertion = try compiledInsertion()
    try insertion.bind(reject, of: table, contextID)
    if let deliveries {
      try insertion.bind(hash, at: 12)
      try insertion.bind(deliveries.token, at: 13)
    }
    defer { insertion.reset() }
    _ = try insertion.step()
  }

  /// A transaction has ended: what was seen may be gone, by a rollback or by another program.
  package func transactionEnded() {
    contextIDs.removeAll(keepingCapacity: true)
    tableExists = false
  }

  private func compiledInsertion() throws(UpsurgeError) -> Statement {
    if let insertion { return insertion }
    // Only snapshots need the columns that tables of earlier versions lack.
    let (columns, values) = deliveries == nil ? ("", "") : (", raw_hash, delivery", ", ?12, ?13")
    let made = try connection.prepare(
      """
      INSERT INTO main.upsurge_rejects
        ("table", context, file, record, line, byte, "column", code, reason, raw, raw_cut\(columns))
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11\(values))
      """, isPersistent: true)
    insertion = made
    return made
  }

  private func id(of context: String) throws(UpsurgeError) -> Int64 {
    if let id = contextIDs[context] { return id }
    let insertion = try connection.prepare(
      "INSERT INTO main.upsurge_reject_contexts (context) VALUES (?1) ON CONFLICT DO NOTHING")
    try insertion.bind(context, at: 1)
    _ = try insertion.step()
    let selection = try connection.prepare(
      "SELECT id FROM main.upsurge_reject_contexts WHERE context = ?1")
    try selection.bind(context, at: 1)
    guard try selection.step() else {
      throw UpsurgeError(.database, "a context of rejects could not be kept in upsurge_reject_contexts")
    }
    let id = selection.integer(at: 0)
    contextIDs[context] = id
    return id
  }
}

extension SQLValue {
  /// Raw bytes: text where they are text that any program can show, else a BLOB.
  package init(raw: [UInt8]) {
    if !raw.contains(0), let text = String(validating: raw, as: UTF8.self) {
      self = .text(text)
    } else {
      self = .blob(raw)
    }
  }
}
