import Upsurge
import UpsurgeRecords
import UpsurgeStorage

/// What a server remembers of deliveries of one feed that no guard has let through: which they were, and the keys of the rows
/// that they have brought. Written in the transaction of the rows; gone when a delivery is accepted.
struct AcceptanceNotes {
  let refusals: StateTable
  let rows: StateTable
  /// As notes name the table.
  let table: String
  /// The feed's name among those of the table; empty for one that has none.
  let owner: String

  /// More of a feed are not remembered, as in SQLite.
  private static let feedLimit = 100

  static let rowNotes = NoteTable(
    UnacceptedState.rowLayout,
    columns: [.init("table", isKey: true), .init("owned_by", isKey: true), .init("key", isKey: true)])

  /// - Parameter schema: that of the engine's own tables.
  init(schema: String, table: String, owner: String) {
    refusals = StateTable(RefusalTable.notes, schema: schema)
    rows = StateTable(Self.rowNotes, schema: schema)
    (self.table, self.owner) = (table, owner)
  }

  /// SQL that is true of the feed's notes.
  private var isOfFeed: String {
    "\"table\" = \(table.literalForPostgres) AND owned_by = \(owner.literalForPostgres)"
  }

  func make(_ connection: PostgresConnection) throws(PostgresFailure) {
    try refusals.make(connection)
    try rows.make(connection)
  }

  /// The feed's deliveries that were refused, the newest first.
  func refused(_ connection: PostgresConnection) throws(PostgresFailure) -> [RefusedDelivery] {
    guard try refusals.exists(connection) else { return [] }
    return try refusals.rows(where: isOfFeed, [], connection).map(RefusalTable.delivery).sorted { $0.refusedAt > $1.refusedAt }
  }

  /// Notes a delivery; that nobody knows which rows came with some delivery is noted once.
  func write(_ delivery: RefusedDelivery, _ connection: PostgresConnection) throws(PostgresFailure) {
    let isMark = delivery.contentHash == nil && !delivery.areRowsKnown
    if isMark, try refused(connection).contains(where: { !$0.areRowsKnown }) { return }
    let name = refusals.quotedName
    try connection.run(
      """
      INSERT INTO \(name) AS r ("table", owned_by, content, digest, guards, reason, refused_at, rows_known)
      VALUES ($1, $2, $3, $4, $5, $6, \(Self.now), $7)
      ON CONFLICT ("table", owned_by, digest) DO UPDATE SET guards = excluded.guards, reason = excluded.reason,
        rows_known = least(r.rows_known, excluded.rows_known)
      """,
      [
        .text(table), .text(owner), delivery.contentHash.map { .text(String($0, radix: 16)) } ?? .null,
        .text(delivery.digest), .text(delivery.guards), .text(delivery.reason),
        .integer(delivery.areRowsKnown ? 1 : 0),
      ])
    try connection.run(
      """
      DELETE FROM \(name) WHERE \(isOfFeed) AND digest NOT IN (SELECT digest FROM \(name) WHERE \(isOfFeed)
        ORDER BY rows_known, refused_at DESC LIMIT \(Self.feedLimit))
      """, [])
  }

  static let now = "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"

  /// Says that a replay has stored records into a table, some of which a refused delivery may have brought; part of the
  /// transaction that is open.
  /// - Parameter table: as notes name it.
  static func noteReplay(into table: String, _ connection: PostgresConnection) throws(PostgresFailure) {
    // Triggers of strangers would run with the rights of whoever replays.
    for refusals in try StateTable.found(RefusalTable.notes, connection) {
      if try ServerLayout.stranger(owning: .refusals, in: refusals.schema, connection) != nil { continue }
      var owners: Set<String> = []
      for notes in [refusals, StateTable(rowNotes, schema: refusals.schema)] where try notes.exists(connection) {
        let sql = "SELECT DISTINCT owned_by FROM \(notes.quotedName) WHERE \"table\" = $1"
        for row in try connection.run(sql, [.text(table)]).rows { owners.insert(row.text(0) ?? "") }
      }
      for owner in owners {
        try AcceptanceNotes(schema: refusals.schema, table: table, owner: owner).write(.storedByReplay, connection)
      }
    }
  }

  // MARK: - Rows

  /// Whether earlier deliveries have left rows that count for no guard.
  func holdsRows(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    guard try rows.exists(connection) else { return false }
    let sql = "SELECT EXISTS (SELECT FROM \(rows.quotedName) WHERE \(isOfFeed))"
    return try connection.run(sql, []).first?.flag(0) ?? false
  }

  /// SQL that is true of a row that an accepted delivery has left, or that has come from elsewhere.
  /// - Parameter key: SQL for the row's key, as it is noted.
  func acceptedTerm(key: String) -> String {
    "NOT EXISTS (SELECT FROM \(rows.quotedName) AS upsurge_u WHERE upsurge_u.\"table\" = \(table.literalForPostgres)"
      + " AND upsurge_u.owned_by = \(owner.literalForPostgres) AND upsurge_u.\"key\" = \(key))"
  }

  /// Notes the keys of rows.
  /// - Parameter keys: what follows SELECT, beginning with SQL for the key.
  func note(keys: String, _ connection: PostgresConnection) throws(PostgresFailure) {
    try connection.run(
      """
      INSERT INTO \(rows.quotedName) ("table", owned_by, "key")
      SELECT \(table.literalForPostgres), \(owner.literalForPostgres), \(keys) ON CONFLICT DO NOTHING
      """, [])
  }

  /// Forgets all, as a delivery is accepted.
  func forget(_ connection: PostgresConnection) throws(PostgresFailure) {
    for notes in [refusals, rows] { try notes.remove(where: isOfFeed, [], connection) }
  }
}
