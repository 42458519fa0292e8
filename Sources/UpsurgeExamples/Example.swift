import Foundation

/// One example of the README or of an article. It runs in an empty folder, may need files there, and prints what it has done.
///
/// The tests run each and compare what it prints. They also look whether every Swift block of the README and of the articles
/// stands in one of these files.
struct Example: Sendable {
  let name: String
  /// Files that must be there: names and texts.
  var files: [String: String] = [:]
  let run: @Sendable () async throws -> Void

  static let all: [Example] = loading + upserting + mirroring + models + grdb

  /// Makes the files, and runs.
  func start() async throws {
    for (name, text) in files { try text.write(toFile: name, atomically: true, encoding: .utf8) }
    try await run()
  }
}
