import Upsurge
import UpsurgeRecords
import UpsurgeState

/// A transaction of a replay on a server. What ends it is done by its caller, which may try all of it again.
final class PostgresReplayTransaction: ReplayTransaction {
  let replay: PostgresReplay
  let connection: PostgresConnection
  /// What the server has said against a statement.
  private(set) var failure: PostgresFailure?
  private(set) var isToCommit = false
  /// What leaves the tables of rejects, by schema; gone before the commit.
  private var deleted: [String: [Int64]] = [:]

  init(_ replay: PostgresReplay, _ connection: PostgresConnection) {
    (self.replay, self.connection) = (replay, connection)
  }

  /// Calls what talks to the server, with its failure as an error of the engine.
  func asking<Result>(_ body: () throws(PostgresFailure) -> Result) throws(UpsurgeError) -> Result {
    do throws(PostgresFailure) {
      return try body()
    } catch {
      failure = error
      throw error.asError(on: connection.target)
    }
  }

  func marks() throws(UpsurgeError) -> [ReplayMark] {
    try asking { () throws(PostgresFailure) in try replay.replays.marks(replay.text, connection) }
  }

  func write(_ mark: ReplayMark, after earlier: ReplayMark?) throws(UpsurgeError) {
    try asking { () throws(PostgresFailure) in
      try replay.replays.write(mark, after: earlier, replay.text, connection)
    }
  }

  func remove(_ mark: ReplayMark) throws(UpsurgeError) {
    try asking { () throws(PostgresFailure) in try replay.replays.remove(mark, replay.text, connection) }
  }

  func rejects(
    of shelf: RejectShelf, after: Int64, through: Int64, count: Int, recordByteLimit: Int
  ) throws(UpsurgeError) -> [StoredReject] {
    replay.noteRights(PostgresRejects(schema: shelf.schema))
    return try asking { () throws(PostgresFailure) in
      try PostgresRejects(schema: shelf.schema).page(
        after: after, through: through, count: count, recordByteLimit: recordByteLimit, connection)
    }
  }

  func delete(_ id: Int64, of shelf: RejectShelf) { deleted[shelf.schema, default: []].append(id) }

  func update(_ id: Int64, to reject: Reject, of shelf: RejectShelf) throws(UpsurgeError) {
    try asking { () throws(PostgresFailure) in
      try PostgresRejects(schema: shelf.schema).update(id, to: reject, replay.text, connection)
    }
  }

  func store(
    _ page: inout RejectPage, keep: (borrowing RejectPage) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError) {
    var ledger: Ledger?
    if page.fates.contains(where: \.isGone) {
      do throws(UpsurgeError) {
        ledger = try storeRecords(of: &page)
      } catch {
        guard let words = noPlaceWords(error) else { throw error }
        // The key is gone, or a column that the rules name, or a right is missing: it is so for all of them. Nothing can be written
        // after what the server has refused, so what the others have met with is not noted either.
        for index in page.fates.indices where page.fates[index].isGone || failure != nil {
          page.fates[index] = .untried(RejectPage.noPlace, words)
        }
        failure = nil
      }
    }
    page.account(ledger)
    if try keep(page) { try commit() } else { page.account(nil) }
  }

  /// Why no record of a page has a place; nil where something else is wrong.
  private func noPlaceWords(_ error: UpsurgeError) -> String? {
    guard let failure else { return error.noPlaceWords }
    let isOfTable =
      failure.kind == .privilege || failure.kind == .schemaChanged
      || failure.kind == .other && failure.sqlState.hasPrefix("42")
    if !isOfTable { return nil }
    var words = error.message
    if failure.kind == .privilege,
      let hint = try? replay.session.rights.hint(replay.session.connected())
    {
      words += " (\(hint))"
    }
    return words
  }

  func commit() throws(UpsurgeError) {
    try asking { () throws(PostgresFailure) in
      for (schema, ids) in deleted { try PostgresRejects(schema: schema).delete(ids, connection) }
    }
    isToCommit = true
  }

  func rollback() { isToCommit = false }

  /// Has the commit wait for the server's disk, whatever the role or the database says.
  func awaitDisk() throws(UpsurgeError) {
    try asking { () throws(PostgresFailure) in _ = try connection.run("SET LOCAL synchronous_commit = on") }
  }
}
