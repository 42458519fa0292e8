import UpsurgeRecords
import UpsurgeState

/// The table in which replays keep how far they have come, as `ReplayMark` has it on SQLite; a database has one.
///
/// Besides the marks it has a row for each replay at work, its fence. Each transaction of the replay locks it and counts it on,
/// so that a COMMIT that nobody has answered can be looked up.
struct PostgresReplays: Sendable {
  let schema: String

  private static let layout = ServerLayout(
    .replays, purpose: "replay keeps in one of this name how far it has come",
    columns: [
      ("path", "text NOT NULL"), ("done_bytes", "bigint NOT NULL"), ("done_hash", "bigint NOT NULL"),
      ("kept_bytes", "bigint NOT NULL"), ("kept_hash", "bigint NOT NULL"), ("whole", "boolean NOT NULL"),
      ("progress", "text"), ("updated_at", "timestamptz NOT NULL DEFAULT now()"),
    ])

  private var quotedName: String { Self.layout.quotedName(in: schema) }

  /// The one that a database has; where it has none, the one that would be made. Tables of strangers are none: they would say what
  /// is done.
  static func found(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresReplays {
    if let table = try ServerLayout.found(.replays, connection).first(where: \.isTrusted) {
      return PostgresReplays(schema: table.schema)
    }
    let own = try connection.run("SELECT current_schema()", []).first?.text(0)
    return PostgresReplays(schema: own ?? "public")
  }

  func look(_ connection: PostgresConnection) throws(PostgresFailure) -> ServerLayout.Look {
    try Self.layout.look(in: schema, connection)
  }

  /// Makes the table; no transaction is open.
  func make(_ connection: PostgresConnection) throws(PostgresFailure) {
    try Self.layout.make(in: schema, connection)
  }

  // MARK: - Marks

  /// All marks; the table is there. Files of several machines may have one path, and each its mark.
  func marks(_ text: ServerText, _ connection: PostgresConnection) throws(PostgresFailure) -> [ReplayMark] {
    try connection.run(
      """
      SELECT path, done_bytes, done_hash, kept_bytes, kept_hash, whole, progress FROM \(quotedName)
      WHERE path NOT LIKE '\(Self.fencePrefix)%' ORDER BY path
      """, []
    ).rows.map { row in
      func bits(_ column: Int) -> UInt64 { UInt64(bitPattern: row.integer(column) ?? 0) }
      return ReplayMark(
        path: text.path(from: row.text(0) ?? ""), doneByteCount: bits(1), doneHash: bits(2),
        keptByteCount: bits(3),
        keptHash: bits(4), isWhole: row.flag(5) ?? false, progress: row.text(6))
    }
  }

  /// Writes a mark in the open transaction.
  /// - Parameter earlier: its earlier state, which it takes the place of; nil for one that is new.
  /// - Throws: `takenOver` where that is not there any more.
  func write(
    _ mark: ReplayMark, after earlier: ReplayMark?, _ text: ServerText, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    let values = parameters(of: mark, text)
    guard let earlier else {
      try connection.run(
        """
        INSERT INTO \(quotedName) (path, done_bytes, done_hash, kept_bytes, kept_hash, whole, progress)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, values)
      return
    }
    let changed = try connection.run(
      """
      UPDATE \(quotedName) SET path = $8, done_bytes = $9, done_hash = $10, kept_bytes = $11, kept_hash = $12, whole = $13,
        progress = $14, updated_at = now() WHERE \(Self.isSame)
      """, parameters(of: earlier, text) + values)
    if changed.affectedCount > 0 { return }
    throw PostgresFailure(
      .takenOver, "another process has taken this replay up, or its row of upsurge_replays was deleted")
  }

  private static let isSame = """
    path = $1 AND done_bytes = $2 AND done_hash = $3 AND kept_bytes = $4 AND kept_hash = $5 AND whole = $6
      AND progress IS NOT DISTINCT FROM $7
    """

  /// Removes a mark in the open transaction, unless a replay has changed it since.
  func remove(
    _ mark: ReplayMark, _ text: ServerText, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    try connection.run("DELETE FROM \(quotedName) WHERE \(Self.isSame)", parameters(of: mark, text))
  }

  private func parameters(of mark: ReplayMark, _ text: ServerText) -> [PostgresParameter] {
    let numbers = [mark.doneByteCount, mark.doneHash, mark.keptByteCount, mark.keptHash]
    return [.text(text.path(mark.path))]
      + numbers.map { .integer(Int64(bitPattern: $0)) } + [
        .flag(mark.isWhole), mark.progress.map { .text(text.json($0)) } ?? .null,
      ]
  }

  // MARK: - Fences

  private static let fencePrefix = "fence:"

  /// Makes the row of a replay that begins, and removes those that killed ones have left long ago.
  func begin(_ owner: String, _ connection: PostgresConnection) throws(PostgresFailure) {
    try connection.run(
      "DELETE FROM \(quotedName) WHERE path LIKE '\(Self.fencePrefix)%' AND updated_at < now() - interval '7 days'",
      [])
    try connection.run(
      """
      INSERT INTO \(quotedName) (path, done_bytes, done_hash, kept_bytes, kept_hash, whole, progress)
      SELECT $1::text, 0, 0, 0, 0, false, '0' WHERE NOT EXISTS (SELECT FROM \(quotedName) WHERE path = $1)
      """, [.text(Self.fencePrefix + owner)])
  }

  /// Waits for the transactions of replays whose process has ended: the server may still be at a COMMIT. Each has locked its
  /// row. Part of a transaction that is open, and whose locks have an end.
  func awaitEnded(_ connection: PostgresConnection) throws(PostgresFailure) {
    let rows = try connection.run(
      """
      SELECT path FROM \(quotedName)
      WHERE path LIKE '\(Self.fencePrefix)%' AND has_table_privilege($1::regclass, 'UPDATE') ORDER BY path
      """, [.text(quotedName)]
    ).rows
    for row in rows {
      guard let path = row.text(0), RunOwner.livePID(String(path.dropFirst(Self.fencePrefix.count))) == nil
      else {
        continue
      }
      try connection.run("SELECT FROM \(quotedName) WHERE path = $1 FOR UPDATE", [.text(path)])
    }
  }

  /// Removes the row of a replay that ends.
  func end(_ owner: String, _ connection: PostgresConnection) throws(PostgresFailure) {
    try connection.run("DELETE FROM \(quotedName) WHERE path = $1", [.text(Self.fencePrefix + owner)])
  }

  /// The fence of a replay.
  struct Fence: FenceRow {
    let replays: PostgresReplays
    let owner: String

    var loss: String { "the row of this replay has gone from upsurge_replays" }

    func lock(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresRuns.Standing? {
      let row = try connection.run(
        "SELECT progress FROM \(replays.quotedName) WHERE path = $1 FOR UPDATE",
        [.text(PostgresReplays.fencePrefix + owner)]
      ).first
      return row.map { PostgresRuns.Standing(owner: owner, position: $0.text(0) ?? "", progress: "") }
    }

    func advance(
      to standing: PostgresRuns.Standing, isComplete: Bool, _ connection: PostgresConnection
    ) throws(PostgresFailure) -> Bool {
      try connection.run(
        "UPDATE \(replays.quotedName) SET progress = $2, updated_at = now() WHERE path = $1",
        [.text(PostgresReplays.fencePrefix + owner), .text(standing.position)]
      ).affectedCount > 0
    }
  }
}
