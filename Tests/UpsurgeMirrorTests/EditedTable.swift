import TestSupport
import Upsurge

/// What a mirrored table must be whose rows are edited between the nights, told row by row: the oracle of `local-edits`.
struct EditedTable {
  /// What the feed writes of a row.
  struct Content: Equatable {
    var v: Int
    var w: String
  }

  struct Row {
    var content: Content
    /// A column that the feed does not have.
    var note: String?
    var isGone = false
  }

  /// What is known of a row that the feed has stored.
  struct Known {
    var content: Content
    var isGone = false
  }

  /// What a night comes to.
  struct Night: Equatable {
    var inserted: UInt64 = 0
    var updated: UInt64 = 0
    var unchanged: UInt64 = 0
    var ignored: UInt64 = 0
    var rejected: UInt64 = 0
    var swept: UInt64 = 0
    var edits = LocalEditCounts()
    var isRefused = false
  }

  let edits: LocalEdits
  let isSoft: Bool
  let isOwned: Bool
  private(set) var rows: [Int: Row] = [:]
  private(set) var known: [Int: Known] = [:]

  init(_ edits: LocalEdits, isSoft: Bool, isOwned: Bool) {
    (self.edits, self.isSoft, self.isOwned) = (edits, isSoft, isOwned)
  }

  // MARK: - Edits

  mutating func set(_ key: Int, _ row: Row?) { rows[key] = row }

  /// Rows that the feed has and whose values are others than it has stored.
  var changed: Set<Int> {
    Set(known.filter { key, known in rows[key].map { $0.content != known.content } ?? false }.keys)
  }

  /// Rows that the feed has and somebody has deleted.
  var deleted: Set<Int> { Set(known.filter { rows[$0.key] == nil && !$0.value.isGone }.keys) }

  /// Whether a delivery that is the same as the last one must be read.
  var needsRepair: Bool {
    edits == .repair && !deleted.union(changed.filter { known[$0]?.isGone == false }).isEmpty
  }

  // MARK: - A night

  /// - Parameter most: as many rows may be swept.
  mutating func deliver(_ records: [(key: Int, content: Content)], most: Int) -> Night {
    var night = Night()
    let (changed, deleted) = (changed, deleted)
    var (repaired, kept): (Set<Int>, Set<Int>) = ([], [])
    // Rows of which the feed says just what they were edited to.
    var caughtUp: Set<Int> = []
    for (key, content) in records {
      let isEdited = changed.contains(key) || deleted.contains(key)
      if isEdited && edits == .keep {
        night.ignored += 1
        known[key]?.isGone = false
        kept.insert(key)
      } else if content.v == 13 {
        night.rejected += 1
      } else {
        if let row = rows[key] {
          if row.content == content && !row.isGone {
            night.unchanged += 1
            if !repaired.contains(key) { caughtUp.insert(key) }
          } else {
            night.updated += 1
          }
        } else {
          night.inserted += 1
        }
        rows[key, default: Row(content: content)].content = content
        rows[key]?.isGone = false
        known[key] = Known(content: content)
        if isEdited && !caughtUp.contains(key) { repaired.insert(key) }
      }
    }
    let keys = Set(records.map(\.key))
    let lacking = rows.filter { key, row in
      !keys.contains(key) && !row.isGone && (!isOwned || known[key] != nil)
    }.keys
    let unswept = edits == .keep ? lacking.filter { changed.contains($0) } : []
    let swept = lacking.filter { !unswept.contains($0) }
    night.isRefused = swept.count > most
    if !night.isRefused {
      for key in swept {
        if isSoft { rows[key]?.isGone = true } else { rows[key] = nil }
      }
      for key in keys { rows[key]?.isGone = false }
      for key in known.keys where !keys.contains(key) && rows[key] != nil { known[key]?.isGone = true }
      night.swept = UInt64(swept.count)
      night.edits.unswept = UInt64(unswept.count)
    }
    known = known.filter { key, _ in
      rows[key] != nil || deleted.contains(key) && (night.isRefused || kept.contains(key))
    }
    (night.edits.repaired, night.edits.kept) = (UInt64(repaired.count), UInt64(kept.count))
    return night
  }

  // MARK: - Comparison

  func listed(_ shape: OwnedTable.Shape) -> [String] {
    rows.map { key, row in
      "'\(shape.values(key).joined(separator: ";"))'|\(row.content.v)|'\(row.content.w)'|"
        + "\(row.note.map { "'\($0)'" } ?? "NULL")|\(row.isGone ? 1 : 0)"
    }.sorted()
  }

  /// The rows that a database has, in words.
  static func found(_ shape: OwnedTable.Shape, _ database: Database) throws -> [String] {
    try database.rows("SELECT \(keyText(shape)), v, w, note, ifnull(gone, 0) FROM feed").sorted()
  }

  /// Keys of rows that are known and there, and how many are known and not there.
  func listedKnown(_ shape: OwnedTable.Shape) -> [String] {
    known.map { key, known in
      (rows[key] == nil ? "NULL" : "'\(shape.values(key).joined(separator: ";"))'")
        + "|\(known.isGone ? 1 : 0)"
    }.sorted()
  }

  static func foundKnown(_ shape: OwnedTable.Shape, _ database: Database) throws -> [String] {
    try database.rows(
      "SELECT \(keyText(shape)), r.gone FROM upsurge_rows r LEFT JOIN feed ON r.key = \(shape.quoted)"
    ).sorted()
  }

  private static func keyText(_ shape: OwnedTable.Shape) -> String {
    shape.key.map { "CAST(feed.\"\($0)\" AS TEXT)" }.joined(separator: " || ';' || ")
  }
}
