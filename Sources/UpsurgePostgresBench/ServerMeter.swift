import Upsurge
import UpsurgePostgres
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a run costs the server besides time: bytes of its write-ahead log, and dead rows of the table.
struct ServerMeter {
  private let schema: BenchSchema
  private let versionNumber: Int
  /// Why there are no figures of the log.
  private(set) var logObjection: String?
  /// Why there are none of dead rows.
  private(set) var deadRowObjection: String?

  /// Seconds for the sessions of a run to end.
  private static let patience = 2.0

  init(_ schema: BenchSchema, _ facts: ServerFacts, _ versionNumber: Int) {
    self.schema = schema
    self.versionNumber = versionNumber
    if facts.setting("track_counts") != "on" { deadRowObjection = "the server does not count them (track_counts)" }
  }

  /// Where the log ends, in bytes; nil where that may not be known.
  mutating func logPosition(_ connection: PostgresConnection) throws(PostgresFailure) -> Int64? {
    if logObjection != nil { return nil }
    do throws(PostgresFailure) {
      return try connection.run("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')", []).first?.integer(0)
    } catch {
      if !connection.isOpen || error.kind == .interrupted { throw error }
      logObjection = error.message
      return nil
    }
  }

  /// Dead rows of the table, counted when the run's sessions have ended; nil where that is not known.
  mutating func deadRows(_ connection: PostgresConnection) throws(PostgresFailure) -> Int64? {
    if deadRowObjection != nil { return nil }
    do throws(PostgresFailure) {
      guard try haveSessionsEnded(connection) else {
        deadRowObjection = "the sessions of a run stay open, as they do through a pooler"
        return nil
      }
      // Before 15 a process of its own gathers the counts, and is read twice a second.
      if versionNumber < 15_00_00 { try connection.run("SELECT pg_sleep(0.6)") }
      return try connection.run(
        "SELECT pg_stat_get_dead_tuples(to_regclass($1)::oid)", [.text(schema.table)]
      ).first?.integer(0)
    } catch {
      if !connection.isOpen || error.kind == .interrupted { throw error }
      deadRowObjection = error.message
      return nil
    }
  }

  /// Waits until the sessions of the run have ended, as each of them says at its end what it has done.
  private func haveSessionsEnded(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    let deadline = MonotonicClock.seconds + Self.patience
    repeat {
      let others = try connection.run(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()",
        [.text(schema.name)]
      ).first?.integer(0)
      if others == 0 { return true }
      usleep(10_000)
    } while MonotonicClock.seconds < deadline
    return false
  }
}
