import UpsurgeRecords
import UpsurgeSQLite

extension RejectTable {
  /// Forgets rejected records of a table and keeps the newest so many; part of the transaction that is open.
  /// - Returns: how many are gone.
  package static func prune(
    _ table: String, keeping count: UInt64, on connection: Connection
  ) throws(UpsurgeError) -> UInt64 {
    guard let found = try look(connection).rejects else { return 0 }
    let last = "coalesce(\(found.term("last_at")), added_at)"
    let gone = try forgetOldest(
      name, of: table, order: "\(last) DESC, id DESC", keeping: count, on: connection)
    if gone > 0 { try StoredReject.deleteUnusedContexts(connection) }
    return gone
  }

  /// Deletes rows of one of the engine's tables.
  static func forgetOldest(
    _ name: String, of table: String, order: String, keeping count: UInt64, on connection: Connection
  ) throws(UpsurgeError) -> UInt64 {
    let before = connection.totalChanges
    let statement = try connection.prepare(
      """
      DELETE FROM main.\(name) WHERE "table" = ?1 AND id NOT IN
        (SELECT id FROM main.\(name) WHERE "table" = ?1 ORDER BY \(order) LIMIT ?2)
      """)
    try statement.bind(table, at: 1)
    try statement.bind(Int64(clamping: count), at: 2)
    _ = try statement.step()
    return UInt64(clamping: connection.totalChanges - before)
  }

  /// How many records of a table are kept.
  package static func count(of table: String, on connection: Connection) throws(UpsurgeError) -> UInt64 {
    guard try exists(connection) else { return 0 }
    return try rowCount(name, of: table, on: connection)
  }

  /// How many records of a table are kept for each reason, the most frequent first.
  package static func countByCode(
    of table: String, on connection: Connection
  ) throws(UpsurgeError) -> [(reason: String, count: UInt64)] {
    guard try exists(connection) else { return [] }
    return try counts(
      "SELECT code, count(*) FROM main.\(name) WHERE \"table\" = ?1 GROUP BY code ORDER BY 2 DESC, 1",
      of: table, on: connection)
  }

  static func counts(
    _ sql: String, of table: String, on connection: Connection
  ) throws(UpsurgeError) -> [(reason: String, count: UInt64)] {
    let statement = try connection.prepare(sql)
    try statement.bind(table, at: 1)
    var found: [(reason: String, count: UInt64)] = []
    while try statement.step() {
      found.append((statement.text(at: 0) ?? "", UInt64(clamping: statement.integer(at: 1))))
    }
    return found
  }

  static func rowCount(
    _ name: String, of table: String, on connection: Connection
  ) throws(UpsurgeError) -> UInt64 {
    let statement = try connection.prepare("SELECT count(*) FROM main.\(name) WHERE \"table\" = ?1")
    try statement.bind(table, at: 1)
    return try statement.step() ? UInt64(clamping: statement.integer(at: 0)) : 0
  }
}

extension QuarantineTable {
  /// Forgets kept records of a table and keeps the newest so many: what is forgotten is never stored. Part of the
  /// transaction that is open.
  /// - Returns: how many are gone.
  package static func prune(
    _ table: String, keeping count: UInt64, on connection: Connection
  ) throws(UpsurgeError) -> UInt64 {
    guard try exists(connection) else { return 0 }
    return try RejectTable.forgetOldest(name, of: table, order: "id DESC", keeping: count, on: connection)
  }

  /// How many records of a table wait for each missing column or row, the most frequent first.
  package static func countByReason(
    of table: String, on connection: Connection
  ) throws(UpsurgeError) -> [(reason: String, count: UInt64)] {
    guard try exists(connection) else { return [] }
    let reason = try hasReason(connection) ? "coalesce(reason, columns)" : "columns"
    return try RejectTable.counts(
      "SELECT \(reason), count(*) FROM main.\(name) WHERE \"table\" = ?1 GROUP BY 1 ORDER BY 2 DESC, 1",
      of: table, on: connection)
  }

  /// How many records of a table are kept.
  package static func count(of table: String, on connection: Connection) throws(UpsurgeError) -> UInt64 {
    guard try exists(connection) else { return 0 }
    return try RejectTable.rowCount(name, of: table, on: connection)
  }
}
