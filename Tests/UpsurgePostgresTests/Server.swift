import Foundation
import PostgresSupport
import Synchronization
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// Connections of the tests to the server that they share.
enum Server {
  private static let count = Atomic<Int>(0)

  static func connect(_ url: String, cancellation: ReadCancellation? = nil) throws -> PostgresConnection {
    try PostgresConnection(to: try #require(PostgresTarget(url)), cancellation: cancellation)
  }

  /// A connection to a database that only this test uses.
  static func database(cancellation: ReadCancellation? = nil) throws -> PostgresConnection {
    try connect(try freshURL(), cancellation: cancellation)
  }

  /// The URL of a database that only this test uses.
  /// - Parameter server: nil is the one that tests share.
  static func freshURL(on server: PostgresServer? = nil) throws -> String {
    let server = try server ?? PostgresServer.shared()
    let name = "test_\(count.add(1, ordering: .relaxed).newValue)"
    try connect(server.url()).run("CREATE DATABASE \(name)")
    return server.url(database: name)
  }

  /// What a call has thrown.
  static func failure<Result>(_ call: () throws -> Result) -> PostgresFailure? {
    do {
      _ = try call()
      return nil
    } catch {
      return error as? PostgresFailure
    }
  }
}

extension PostgresConnection {
  /// Sends bytes of a copy.
  func put(_ bytes: ArraySlice<UInt8>) throws {
    try bytes.withUnsafeBytes { bytes in try self.put(bytes) }
  }

  /// The rows of a SELECT, each as the texts of its columns.
  func texts(_ sql: String) throws -> [[String?]] {
    try run(sql).last.map { result in result.rows.map { row in (0..<result.columnCount).map { row.text($0) } } } ?? []
  }

  /// Whether the server can make collations of ICU. Those in wheels of PyPI are built without it.
  func hasICU() throws -> Bool {
    try run("BEGIN")
    defer { rollback() }
    let failure = Server.failure {
      try run("CREATE COLLATION upsurge_probe (provider = icu, locale = 'und')")
    }
    return failure?.sqlState != "0A000"
  }
}
