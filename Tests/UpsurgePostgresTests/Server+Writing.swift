import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Server {
  /// Does something while another session has written, and has not committed. That one commits when somebody waits for it.
  static func writing<Result>(_ sql: String, in url: String, _ body: () throws -> Result) throws -> Result {
    let target = try #require(PostgresTarget(url))
    let steps = Guarded<[String]>([])
    let thread = try WorkerThread {
      let failure = Server.failure {
        let other = try PostgresConnection(to: target)
        try other.run("BEGIN; \(sql)")
        steps.withLock { $0.append("begun") }
        let waiting =
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
        var patience = 2_000
        while try patience > 0 && other.texts(waiting) == [["0"]] {
          patience -= 1
          usleep(5_000)
        }
        try other.run("COMMIT")
      }
      steps.withLock { $0.append(failure.map { "\($0)" } ?? "ended") }
    }
    for _ in 0..<1_000 where steps.withLock({ $0.isEmpty }) { usleep(10_000) }
    defer {
      thread.join()
      #expect(steps.withLock { $0 } == ["begun", "ended"])
    }
    return try body()
  }
}
