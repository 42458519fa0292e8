/// A database of SQLite whose rejected records are tried again.
final class SQLiteReplay: ReplayStore {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  var place: String { connection.path }

  func isSame(_ table: String, _ other: String) -> Bool { SQLName.isSame(table, other) }

  func runs() throws(UpsurgeError) -> [RunRecord] { try RunTable.all(connection) }

  func marks() throws(UpsurgeError) -> [ReplayMark] { try ReplayMark.all(connection) }

  func shelves() throws(UpsurgeError) -> [RejectShelf] {
    guard try RejectTable.exists(connection) else { return [] }
    return [
      RejectShelf(
        schema: "", lastID: try StoredReject.lastID(connection), count: try StoredReject.count(connection))
    ]
  }

  func transaction<Result>(
    _ body: (any ReplayTransaction) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    try connection.beginWriting()
    do throws(UpsurgeError) {
      return try body(self)
    } catch {
      if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  func writeDurably(_ mark: ReplayMark, after earlier: ReplayMark?) throws(UpsurgeError) {
    // With FULL this commit syncs the log, and with it all commits before.
    try connection.execute("PRAGMA synchronous=FULL; BEGIN IMMEDIATE")
    do throws(UpsurgeError) {
      try mark.write(connection)
      try connection.execute("COMMIT")
    } catch {
      if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  func deleteUnusedContexts(of shelf: RejectShelf) throws(UpsurgeError) {
    try transaction { (transaction) throws(UpsurgeError) in
      try StoredReject.deleteUnusedContexts(connection)
      try transaction.commit()
    }
  }
}

extension SQLiteReplay: ReplayTransaction {
  func write(_ mark: ReplayMark, after earlier: ReplayMark?) throws(UpsurgeError) {
    try mark.write(connection)
  }

  func remove(_ mark: ReplayMark) throws(UpsurgeError) { try mark.remove(connection) }

  func rejects(
    of shelf: RejectShelf, after: Int64, through: Int64, count: Int, recordByteLimit: Int
  ) throws(UpsurgeError) -> [StoredReject] {
    try StoredReject.page(
      connection, after: after, through: through, count: count, recordByteLimit: recordByteLimit)
  }

  func delete(_ id: Int64, of shelf: RejectShelf) throws(UpsurgeError) {
    try StoredReject.delete(id, connection)
  }

  func update(_ id: Int64, to reject: Reject, of shelf: RejectShelf) throws(UpsurgeError) {
    try StoredReject.update(id, to: reject, connection)
  }

  func store(
    _ page: inout RejectPage, keep: (borrowing RejectPage) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError) {
    try page.store(on: connection, keep: keep)
  }

  func commit() throws(UpsurgeError) { try connection.execute("COMMIT") }

  func rollback() throws(UpsurgeError) { try connection.execute("ROLLBACK") }
}
