import TestSupport
import Upsurge

@testable import UpsurgeMirror

/// What a table and the notes of its rows must be, told row by row: the oracle of mirrors that sweep only what they
/// own.
struct OwnedTable {
  /// A way to make the table, and to spell a number as its key.
  struct Shape: Sendable {
    var sql: String
    var key: [String]
    /// SQL for the column `key` of `upsurge_rows`.
    var quoted: String
    var values: @Sendable (Int) -> [String]
  }

  static let shapes: [Shape] = [
    Shape(
      sql: "CREATE TABLE feed(id INTEGER PRIMARY KEY, v INT CHECK (v <> 13), gone INT)", key: ["id"],
      quoted: "quote(feed.id)", values: { ["\($0)"] }),
    Shape(
      sql: "CREATE TABLE feed(id TEXT PRIMARY KEY, v INT CHECK (v <> 13), gone INT)", key: ["id"],
      quoted: "quote(feed.id)", values: { ["it's, \($0)"] }),
    Shape(
      sql:
        "CREATE TABLE feed(n INTEGER PRIMARY KEY, id REAL NOT NULL UNIQUE, v INT CHECK (v <> 13), gone INT)",
      key: ["id"], quoted: "quote(feed.id)", values: { ["\($0).25"] }),
    Shape(
      sql: """
        CREATE TABLE feed(a TEXT COLLATE NOCASE, b, v INT CHECK (v <> 13), gone INT, PRIMARY KEY (b, a)) WITHOUT ROWID
        """, key: ["a", "b"], quoted: "quote(feed.b) || ',' || quote(feed.a)",
      values: { ["',X\($0 % 3)", "b\($0 / 3)"] }),
    Shape(
      sql:
        "CREATE TABLE feed(key TEXT, \"table\" INT, v INT CHECK (v <> 13), gone INT, UNIQUE (key, \"table\"))",
      key: ["key", "table"], quoted: "quote(feed.key) || ',' || quote(feed.\"table\")",
      values: { ["k\($0 % 5)", "\($0)"] }),
  ]

  let shape: Shape
  let isSoft: Bool
  /// Value and mark of each row.
  private(set) var rows: [Int: (value: Int, isGone: Bool)] = [:]
  /// Keys of rows that a feed has delivered, and whether it has them no more.
  private(set) var notes: [String: [Int: Bool]] = [:]
  /// Keys of rows that were there, and not the feed's, when a delivery that was refused had them.
  private var claimed: [String: Set<Int>] = [:]
  /// Keys of rows that refused deliveries have brought: they count for no guard.
  private var unaccepted: [String: Set<Int>] = [:]

  init(_ shape: Shape, isSoft: Bool) { (self.shape, self.isSoft) = (shape, isSoft) }

  /// What somebody does to the table.
  mutating func store(_ key: Int, _ value: Int) { rows[key] = (value, false) }
  mutating func remove(_ key: Int) { rows[key] = nil }

  /// A delivery.
  /// - Returns: how many rows are swept; nil where the guard speaks.
  mutating func deliver(_ records: [(key: Int, value: Int)], by owner: String, most: Int) -> Int? {
    let stored = Set(records.filter { $0.value != 13 }.map(\.key))
    let own = Set((notes[owner] ?? [:]).keys).subtracting(claimed[owner] ?? [])
    let claims = stored.filter { rows[$0]?.isGone == false && !own.contains($0) }
    // One that somebody has deleted since, and that is there again, the feed has brought.
    let brought = stored.filter { rows[$0]?.isGone != false }
    claimed[owner]?.subtract(brought)
    for record in records where record.value != 13 {
      rows[record.key] = (record.value, false)
      notes[owner, default: [:]][record.key] = false
    }
    let keys = Set(records.map(\.key))
    let others = notes.filter { $0.key != owner }.values
    let swept = rows.filter { key, row in
      !keys.contains(key) && !row.isGone && notes[owner]?[key] != nil
        && claimed[owner]?.contains(key) != true
        && !others.contains { $0[key] == false }
    }.keys
    defer {
      for name in notes.keys {
        notes[name] = notes[name]?.filter { rows[$0.key] != nil }
        claimed[name] = claimed[name]?.filter { rows[$0] != nil }
      }
    }
    if swept.count(where: { unaccepted[owner]?.contains($0) != true }) > most {
      unaccepted[owner, default: []].formUnion(brought)
      claimed[owner, default: []].formUnion(claims)
      return nil
    }
    for key in claimed[owner] ?? [] where !stored.contains(key) { notes[owner]?[key] = nil }
    (claimed[owner], unaccepted[owner]) = ([], [])
    for key in swept {
      if isSoft { rows[key]?.isGone = true } else { rows[key] = nil }
    }
    for key in keys { rows[key]?.isGone = false }
    for key in (notes[owner] ?? [:]).keys where !keys.contains(key) { notes[owner]?[key] = true }
    return swept.count
  }

  var listedRows: [String] {
    rows.map { key, row in "\(text(key))|\(row.value)|\(row.isGone ? 1 : 0)" }.sorted()
  }

  var listedNotes: [String] {
    notes.flatMap { name, keys in keys.map { "'\(name)'|\(text($0.key))|\($0.value ? 1 : 0)" } }.sorted()
  }

  private func text(_ key: Int) -> String { "'\(shape.values(key).joined(separator: ";"))'" }

  private var keyText: String {
    shape.key.map { "CAST(feed.\"\($0)\" AS TEXT)" }.joined(separator: " || ';' || ")
  }

  /// The rows that a database has, in words.
  func foundRows(_ database: Database) throws -> [String] {
    try database.rows("SELECT \(keyText), v, ifnull(gone, 0) FROM feed").sorted()
  }

  func foundNotes(_ database: Database) throws -> [String] {
    // Joined as the manual says; one without its row would be NULL.
    try database.rows(
      """
      SELECT r.owned_by, \(keyText), r.gone FROM upsurge_rows r
      LEFT JOIN feed ON r.key = \(shape.quoted) WHERE r."table" = 'feed'
      """
    ).sorted()
  }
}
