import Upsurge
import UpsurgeBench
import UpsurgePostgres
import UpsurgeRecords

/// The server that a benchmark ran on, and the way to it.
package struct ServerFacts: Sendable {
  /// The URL as it may be shown.
  package var name: String
  /// `PostgreSQL 15.20`
  package var version: String
  /// Settings that its speed depends on, as the server says them; those that it does not know are left out.
  package var settings: [(name: String, value: String)] = []
  /// Seconds from a question to its answer: the median of several.
  package var roundTripSeconds: Double

  private static let names = [
    "fsync", "synchronous_commit", "full_page_writes", "wal_level", "shared_buffers", "max_wal_size", "track_counts",
  ]
  private static let questionCount = 21

  /// Asks the server.
  init(_ connection: PostgresConnection, _ capabilities: Capabilities) throws(PostgresFailure) {
    name = connection.target.shown
    version = capabilities.version.split(separator: " ").prefix(2).joined(separator: " ")
    for name in Self.names {
      let row = try connection.run("SELECT current_setting($1, true)", [.text(name)]).first
      if let value = row?.text(0) { settings.append((name, value)) }
    }
    var times: [Double] = []
    for _ in 0..<Self.questionCount {
      let watch = Stopwatch()
      try connection.run("SELECT 1")
      times.append(watch.seconds)
    }
    roundTripSeconds = times.sorted()[Self.questionCount / 2]
  }

  /// What the server says of a setting; nil where it does not know it.
  func setting(_ name: String) -> String? { settings.first { $0.name == name }?.value }

  /// `0.051 ms`
  package var roundTripText: String { "\(BenchReport.decimal(roundTripSeconds * 1_000, digits: 3)) ms" }
}
