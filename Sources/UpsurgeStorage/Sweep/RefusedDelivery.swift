import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// A delivery that a guard has refused, as `upsurge_refusals` remembers it.
package struct RefusedDelivery: Sendable, Equatable {
  /// What distinguishes its bytes from those of others; nil where they were never seen as a whole.
  package var contentHash: UInt64?
  /// What accepts it: 16 hexadecimal digits, made anew for each refusal, so that no other delivery has the same.
  package var digest: String
  /// The guards that have judged it, in the words of a job file.
  package var guards: String
  /// What the guard said.
  package var reason: String
  /// When it was refused first: UTC, ISO 8601.
  package var refusedAt = ""
  /// Whether `upsurge_unaccepted` holds the rows that it has brought.
  package var areRowsKnown: Bool

  package init(
    contentHash: UInt64? = nil, digest: String, guards: String, reason: String, refusedAt: String = "", areRowsKnown: Bool
  ) {
    (self.contentHash, self.digest, self.guards) = (contentHash, digest, guards)
    (self.reason, self.refusedAt, self.areRowsKnown) = (reason, refusedAt, areRowsKnown)
  }
}

/// The table of refused deliveries: one row for each; the rows of a feed go when one of its deliveries is accepted.
///
///     judged by a guard    refused -> a row, in the transaction of the delivery's own rows
///     comes again          refused again, as long as the guards are those that have refused it
///     --accept-delivery    its digest lets it through; then, as with each delivery that is accepted, the feed's rows go
package enum RefusalTable {
  package static let name = OwnTable.refusals.rawValue

  /// More of a feed are not remembered; those whose rows nobody knows are, and the newest.
  private static let feedLimit = 100

  package static let layout = OwnLayout(
    .refusals, purpose: "refused deliveries are kept in one of this name",
    columns: ["table", "owned_by", "content", "digest", "guards", "reason", "refused_at", "rows_known"],
    body: """
      "table" TEXT NOT NULL COLLATE NOCASE,
      owned_by TEXT NOT NULL,
      content TEXT,
      digest TEXT NOT NULL,
      guards TEXT NOT NULL,
      reason TEXT NOT NULL,
      refused_at TEXT NOT NULL,
      rows_known INTEGER NOT NULL,
      PRIMARY KEY ("table", owned_by, digest)
      """, options: " WITHOUT ROWID")

  static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }

  /// The refused deliveries of a feed, the newest first.
  /// - Parameter owner: the feed's name; empty for one that has none.
  package static func all(
    of table: String, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) -> [RefusedDelivery] {
    guard try exists(connection) else { return [] }
    let rows = try connection.prepare(
      """
      SELECT content, digest, guards, reason, refused_at, rows_known FROM main.upsurge_refusals
      WHERE "table" = \(try SQLName.literal(table)) AND owned_by = \(try SQLName.literal(owner))
      ORDER BY refused_at DESC
      """)
    var found: [RefusedDelivery] = []
    while try rows.step() {
      found.append(
        RefusedDelivery(
          contentHash: rows.text(at: 0).flatMap { UInt64($0, radix: 16) }, digest: rows.text(at: 1) ?? "",
          guards: rows.text(at: 2) ?? "", reason: rows.text(at: 3) ?? "", refusedAt: rows.text(at: 4) ?? "",
          areRowsKnown: rows.integer(at: 5) != 0))
    }
    return found
  }

  /// The digest of the delivery of a feed that a refusal is about; nil where that is about none that is remembered.
  /// - Parameter message: what the refusal says.
  package static func digest(
    in message: String, of table: String, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) -> String? {
    digest(in: message, among: try all(of: table, ownedBy: owner, on: connection))
  }

  /// The digest of the delivery that a refusal is about; nil where that is about none of these, which are the newest first.
  package static func digest(in message: String, among all: [RefusedDelivery]) -> String? {
    let refused = all.filter { $0.contentHash != nil && message.contains($0.reason) }
    // Where it has come again, the message says when it came first; else it is the newest.
    return (refused.first { message.contains("refused at \($0.refusedAt)") } ?? refused.first)?.digest
  }

  /// Notes one, in the transaction that is open; that nobody knows which rows came with some delivery is noted once.
  static func write(
    _ delivery: RefusedDelivery, of table: String, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) {
    let isMark = delivery.contentHash == nil && !delivery.areRowsKnown
    if isMark, try all(of: table, ownedBy: owner, on: connection).contains(where: { !$0.areRowsKnown }) {
      return
    }
    try layout.prepare(on: connection)
    let insertion = try connection.prepare(
      """
      INSERT INTO main.upsurge_refusals
        ("table", owned_by, content, digest, guards, reason, rows_known, refused_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
      ON CONFLICT DO UPDATE SET guards = excluded.guards, reason = excluded.reason,
        rows_known = rows_known AND excluded.rows_known
      """)
    let values: [SQLValue] = [
      .text(table), .text(owner), delivery.contentHash.map { .text(String($0, radix: 16)) } ?? .null,
      .text(delivery.digest), .text(delivery.guards), .text(delivery.reason),
      .integer(delivery.areRowsKnown ? 1 : 0),
    ]
    for (index, value) in values.enumerated() { try insertion.bind(value, at: Int32(index + 1)) }
    _ = try insertion.step()
    insertion.reset()
    let feed = "\"table\" = \(try SQLName.literal(table)) AND owned_by = \(try SQLName.literal(owner))"
    try connection.execute(
      """
      DELETE FROM main.upsurge_refusals WHERE \(feed) AND digest NOT IN (
        SELECT digest FROM main.upsurge_refusals WHERE \(feed) ORDER BY rows_known, refused_at DESC LIMIT \(feedLimit))
      """)
  }
}

/// What is kept of deliveries that no guard has let through, in tables of a row for each feed's delivery or row.
package enum UnacceptedState {
  /// The tables of that.
  package static let layouts = [RefusalTable.layout, rowLayout]

  /// The table of rows that refused deliveries have brought.
  package static var rowLayout: OwnLayout { UnacceptedRows.layout }

  /// Whether anything is kept of a feed's deliveries.
  static func isAny(
    _ table: String, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) -> Bool {
    for layout in layouts where try layout.exists(on: connection) {
      let found = try connection.integer(
        """
        SELECT 1 FROM main.\(layout.name)
        WHERE "table" = \(try SQLName.literal(table)) AND owned_by = \(try SQLName.literal(owner)) LIMIT 1
        """)
      if found != nil { return true }
    }
    return false
  }

  /// Forgets what a feed's deliveries have left; part of the transaction that is open.
  static func forget(_ table: String, ownedBy owner: String, on connection: Connection) throws(UpsurgeError) {
    for layout in layouts where try layout.exists(on: connection) {
      try connection.execute(
        """
        DELETE FROM main.\(layout.name)
        WHERE "table" = \(try SQLName.literal(table)) AND owned_by = \(try SQLName.literal(owner))
        """)
      if try connection.integer("SELECT 1 FROM main.\(layout.name) LIMIT 1") == nil {
        // Where something still reads, it stays, and is empty.
        try? connection.execute("DROP TABLE main.\(layout.name)")
      }
    }
  }

  /// Gives what is kept of the feed without a name to one with a name; part of the transaction that is open.
  package static func adopt(
    _ table: String, by owner: String, on connection: Connection
  ) throws(UpsurgeError) {
    for layout in layouts where try layout.exists(on: connection) {
      let unnamed = "\"table\" = \(try SQLName.literal(table)) AND owned_by = ''"
      try connection.execute(
        """
        UPDATE OR IGNORE main.\(layout.name) SET owned_by = \(try SQLName.literal(owner)) WHERE \(unnamed);
        DELETE FROM main.\(layout.name) WHERE \(unnamed);
        """)
    }
  }

  /// Says that a replay has stored records into a table, some of which a refused delivery may have brought: nobody knows
  /// from then on which rows those are. Part of the transaction that is open.
  package static func noteReplay(into table: String, on connection: Connection) throws(UpsurgeError) {
    var owners: Set<String> = []
    for layout in layouts where try layout.exists(on: connection) {
      let rows = try connection.prepare(
        "SELECT DISTINCT owned_by FROM main.\(layout.name) WHERE \"table\" = \(try SQLName.literal(table))")
      while try rows.step() { owners.insert(rows.text(at: 0) ?? "") }
    }
    for owner in owners {
      try RefusalTable.write(.storedByReplay, of: table, ownedBy: owner, on: connection)
    }
  }
}
