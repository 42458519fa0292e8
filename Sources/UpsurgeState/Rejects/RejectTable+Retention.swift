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

  static func rowCount(
    _ name: String, of table: String, on connection: Connection
  ) throws(UpsurgeError) -> UInt64 {
    let statement = try connection.prepare("SELECT count(*) FROM main.\(name) WHERE \"table\" = ?1")
    try statement.bind(table, at: 1)
    return try statement.step() ? UInt64(clamping: statement.integer(at: 0)) : 0
  }
}

extension KeptTable {
  /// Forgets kept records of a table and keeps the newest so many: what is forgotten is never stored. Part of the
  /// transaction that is open.
  /// - Returns: how many are gone.
  package static func prune(
    _ table: String, keeping count: UInt64, on connection: Connection
  ) throws(UpsurgeError) -> UInt64 {
    guard try exists(connection) else { return 0 }
    return try RejectTable.forgetOldest(name, of: table, order: "id DESC", keeping: count, on: connection)
  }

  /// How many records of a table are kept.
  package static func count(of table: String, on connection: Connection) throws(UpsurgeError) -> UInt64 {
    guard try exists(connection) else { return 0 }
    return try RejectTable.rowCount(name, of: table, on: connection)
  }
}
