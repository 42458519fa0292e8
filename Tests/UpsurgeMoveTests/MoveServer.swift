import PostgresSupport
import Synchronization
import Testing
import Upsurge
import UpsurgeMove
import UpsurgePostgres
import UpsurgeRecords

/// Databases of the tests on the server that they share.
enum MoveServer {
  private static let count = Atomic<Int>(0)

  /// The URL of a database that only this test uses.
  static func freshURL() throws -> String {
    PostgresModule.register()
    let server = try PostgresServer.shared()
    let name = "move_\(count.add(1, ordering: .relaxed).newValue)"
    _ = try texts("CREATE DATABASE \(name)", server.url())
    return server.url(database: name)
  }

  /// The rows of the last statement, each with `|` between its columns.
  @discardableResult
  static func texts(_ sql: String, _ url: String) throws -> [String] {
    let connection = try PostgresConnection(to: try #require(PostgresTarget(url)))
    guard let result = try connection.run(sql).last else { return [] }
    return result.rows.map { row in
      (0..<result.columnCount).map { row.text($0) ?? "NULL" }.joined(separator: "|")
    }
  }

  static func move(_ source: String, _ target: String, _ change: (inout MoveJob) -> Void = { _ in })
    -> MoveSummary
  {
    var job = MoveJob(source: source, target: target)
    change(&job)
    return job.run(control: RunControl()) { _ in }
  }
}
