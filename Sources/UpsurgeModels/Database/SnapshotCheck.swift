import UpsurgeRecords

/// What the rows of a snapshot must say, beside what any row must.
struct SnapshotCheck: Sendable {
  /// The columns that tell which row is meant, by their index, where the table would give a row without them a key.
  var keys: [(index: Int, name: String)] = []
  var mark: SnapshotMark?

  /// Why the row that was encoded last cannot be one of the snapshot; nil where it can.
  func refusal(of rows: borrowing RowEncoder) -> (reason: String, hint: String)? {
    if let key = keys.first(where: { rows.isLastNull(at: $0.index) }) {
      return (
        "the row has no \(key.name.escapedForTerminal), by which a mirror finds it: each call would insert it anew",
        "give the row its \(key.name.escapedForTerminal), or name another key by on: \\.name, and none in BulkOptions.key"
      )
    }
    if let mark, !mark.isThere(rows.lastValue(at: mark.index)) {
      return (
        "the row says in the column \(mark.name.escapedForTerminal) that it is gone, and is in the snapshot",
        "leave out rows that are gone: the sweep marks them"
      )
    }
    return nil
  }
}
