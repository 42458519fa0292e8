import Foundation

/// What the history of a database says of each run, the oldest first.
package func ledgers(_ database: String) throws -> [[String: Int]] {
  let output = try Command.run(["runs", database, "--json"]).output
  let runs = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]] ?? []
  return runs.map { ($0["ledger"] as? [String: NSNumber] ?? [:]).mapValues(\.intValue) }
}
