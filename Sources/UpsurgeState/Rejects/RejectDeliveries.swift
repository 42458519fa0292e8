import UpsurgeRecords
import UpsurgeSQLite

/// Counts a record that one delivery of a snapshot after the other rejects, in the one row that it has.
///
/// A record is the same where table, feed, raw bytes and the way to read them are. Within one delivery every record has a row of its own, so
/// that two equal lines are two rows, each night the same two: a row that this delivery has written or counted is not
/// counted again. Rows know their delivery by a token.
///
///     night 1   rejects "7,x" twice   two rows, count 1
///     night 2   the same              the same two rows, count 2
package final class RejectDeliveries {
  /// Distinguishes this delivery from others.
  private(set) var token: String
  /// When the delivery has begun that goes on; nil for one that is new.
  private let resumedStart: String?
  /// The feed's name, where several feeds have rows of the table.
  private let owner: String
  private var hasBegun = false
  private var counting: Statement?

  /// - Parameters:
  ///   - token: what no other delivery has.
  ///   - owner: the feed's name; empty without one.
  ///   - resumedStart: when a run has begun that goes on: its token is found in its rows.
  package init(token: String, owner: String, resumedStart: String?) {
    self.token = token
    self.owner = owner
    self.resumedStart = resumedStart
  }

  /// A transaction has met its first reject, and the table counts.
  func begin(_ table: String, _ connection: Connection) throws(UpsurgeError) {
    if hasBegun { return }
    hasBegun = true
    guard let resumedStart else { return }
    // Without the last letter, which follows the fraction of a second in the table.
    let statement = try connection.prepare(
      """
      SELECT delivery FROM main.upsurge_rejects WHERE "table" = ?1 AND delivery IS NOT NULL AND last_at >= ?2
      ORDER BY last_at DESC, id DESC LIMIT 1
      """)
    try statement.bind(table, at: 1)
    try statement.bind(String(resumedStart.prefix(19)), at: 2)
    if try statement.step(), let found = statement.text(at: 0) { token = found }
  }

  /// Counts a record in the row that an earlier delivery has left.
  /// - Returns: false without one.
  func count(
    _ reject: Reject, of table: String, _ contextID: Int64, _ hash: Int64, _ connection: Connection
  ) throws(UpsurgeError) -> Bool {
    let statement = try compiled(connection)
    try statement.bind(reject, of: table, contextID)
    try statement.bind(hash, at: 12)
    try statement.bind(token, at: 13)
    defer { statement.reset() }
    return try statement.step()
  }

  private func compiled(_ connection: Connection) throws(UpsurgeError) -> Statement {
    if let counting { return counting }
    let made = try connection.prepare(
      """
      UPDATE main.upsurge_rejects SET count = count + 1, last_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
        delivery = ?13, context = ?2, file = ?3, record = ?4, line = ?5, byte = ?6, "column" = ?7, code = ?8, reason = ?9
      WHERE id = (SELECT id FROM main.upsurge_rejects
        WHERE raw_hash = ?12 AND "table" = ?1 AND raw IS ?10 AND raw_cut = ?11 AND delivery IS NOT ?13
        ORDER BY id LIMIT 1)
      RETURNING 1
      """, isPersistent: true)
    counting = made
    return made
  }

  /// What finds the row of a record: a hash of its bytes, its feed and the way to read it.
  func hash(_ reject: Reject, _ identity: UInt64) -> Int64 { Self.hash(reject, owner: owner, identity) }

  /// - Parameters:
  ///   - owner: the feed's name; empty without one.
  ///   - identity: a hash of what decides how raw bytes are read.
  package static func hash(_ reject: Reject, owner: String, _ identity: UInt64) -> Int64 {
    let raw = reject.raw.withUnsafeBytes { ContentHash.hash($0) }
    let name = Array(owner.utf8).withUnsafeBytes { ContentHash.hash($0) }
    return Int64(bitPattern: withUnsafeBytes(of: (raw, name, identity)) { ContentHash.hash($0) })
  }
}

extension Statement {
  /// Binds what a row of `upsurge_rejects` holds, as parameters 1 to 11.
  func bind(_ reject: Reject, of table: String, _ contextID: Int64) throws(UpsurgeError) {
    let position = reject.position
    try bind(table, at: 1)
    try bind(contextID, at: 2)
    try bind(position.file, at: 3)
    try bind(position.record, at: 4)
    try bind(position.line, at: 5)
    try bind(position.byte, at: 6)
    try bind(reject.column, at: 7)
    try bind(reject.code.rawValue, at: 8)
    try bind(reject.reason, at: 9)
    try bind(SQLValue(raw: reject.raw), at: 10)
    try bind(Int64(reject.isRawCut ? 1 : 0), at: 11)
  }
}
