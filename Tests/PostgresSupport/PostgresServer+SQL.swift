import Foundation

extension PostgresServer {
  /// The URL of a database that is made for one test.
  public func freshDatabase() throws -> String {
    let name = "fresh_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    try psql("CREATE DATABASE \(name)", in: socketURL())
    return socketURL(database: name)
  }

  /// The rows of a SELECT, as the tests write those of SQLite: `1|'text'|NULL`.
  public func rows(_ sql: String, in url: String) throws -> [String] {
    let wrapped = """
      SELECT string_agg(CASE WHEN json_typeof(raw_) = 'null' THEN 'NULL' WHEN json_typeof(raw_) = 'string' THEN '''' || (raw_ #>> '{}') || ''''
        ELSE raw_ #>> '{}' END, '|' ORDER BY place_)
      FROM (SELECT row_number() OVER () AS number_, * FROM (\(sql)) AS rows_) AS numbered_,
        LATERAL json_each(row_to_json(numbered_)) WITH ORDINALITY AS fields_(key_, raw_, place_)
      WHERE place_ > 1 GROUP BY number_ ORDER BY number_
      """
    return try psql(wrapped, in: url).split(separator: "\u{1E}").map(String.init)
  }

  /// Runs SQL by the server's own program.
  @discardableResult
  public func psql(_ sql: String, in url: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-R", "\u{1E}", "-d", url, "-c", sql]
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw Failure(description: said) }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
