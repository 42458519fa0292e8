import Upsurge
import UpsurgeRecords

/// Notes that say the same of one thing after the other.
struct NoteKind: Hashable, Sendable {
  var kind: String
  var table: String?
}

/// Counts notes by kind: the first few are shown as they come, and the rest become one line.
struct NoteCounts: Sendable {
  private var counts: [NoteKind: (count: Int, last: RunNote)] = [:]
  private var order: [NoteKind] = []

  /// So many of a kind are shown one by one.
  static let shownLimit = 5

  /// - Returns: whether the note is to be shown now.
  mutating func take(_ note: RunNote) -> Bool {
    let kind = NoteKind(kind: note.kind, table: note.table)
    if counts[kind] == nil { order.append(kind) }
    let count = (counts[kind]?.count ?? 0) + 1
    counts[kind] = (count, note)
    return count <= Self.shownLimit
  }

  /// One note for each kind of which some were not shown; forgets all.
  mutating func takeRest() -> [RunNote] {
    defer { self = NoteCounts() }
    return order.compactMap { kind in
      guard let (count, last) = counts[kind], count > Self.shownLimit else { return nil }
      let rest = UInt64(count - Self.shownLimit)
      var note = last
      note.text = "\(Words.count(rest, "more note")) like this one: \(last.text)"
      return note
    }
  }
}
