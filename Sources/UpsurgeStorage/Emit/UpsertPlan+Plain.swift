import UpsurgePlan
import UpsurgeRecords

/// The plan's statements as another program could run them: without the terms that count (see `WriteNotes`).
extension UpsertPlan {
  /// The statements that store one record of a shape, to be run one after the other; parameters `?1`, `?2` … by place.
  func plainStatements(shape: SlotShape, isTombstone: Bool) throws(UpsurgeError) -> [String] {
    let spelling = Spelling.plain
    if isTombstone || mode == .delete { return [try deleteSQL(shape: shape, spelling)] }
    if looksUp { return [try updateSQL(shape: shape, spelling)] }
    let insert = try insertSQL(shape: shape, rowCount: 1, spelling)
    if targets.isEmpty || mode == .insert || schema.kind == .table && !looksBeforeInsert { return [insert] }
    // Views and virtual tables know no ON CONFLICT, nor do some keys: an INSERT only where there is no row.
    let found = try findSQL(shape: shape, columns: [0], spelling)
    let template = StatementTemplate(insert)
    var values: [UInt8] = []
    template.append(to: &values) { $1 += Array("?\($0 + 1)".utf8) }
    let start = String(decoding: template.head.dropLast("VALUES ".utf8.count), as: UTF8.self)
    let list = String(decoding: values.dropFirst().dropLast(), as: UTF8.self)
    let guarded = "\(start)SELECT \(list) WHERE NOT EXISTS (\(found))"
    return mode == .ignore ? [guarded] : [try updateSQL(shape: shape, spelling), guarded]
  }

  /// The statements for records that speak of every column, for people to read.
  package func shownStatements() throws(UpsurgeError) -> [(title: String, sql: String)] {
    let full = SlotShape(full: slots.count)
    var shown: [(title: String, sql: String)] = []
    for sql in try plainStatements(shape: full, isTombstone: false) {
      shown.append((shown.isEmpty ? "records that speak of every column" : "then", sql))
    }
    if tombstoneCell != nil && mode != .delete {
      shown.append(("records that are deletes", try plainStatements(shape: full, isTombstone: true)[0]))
    }
    return shown
  }
}

extension UpsertPlan {
  /// Whether a record of a table may go into the row that exists by an UPDATE. SQLite checks what would be inserted before it
  /// looks for the conflict. So it may refuse a record that would change nothing but a row that is there.
  var mayUpdateInstead: Bool {
    guard mode == .upsert && schema.kind == .table else { return false }
    return updatesFirst || schema.hasCheck || schema.isStrict || schema.rowidAlias != nil
      || schema.columns.contains(where: \.isNotNull)
  }
}

extension Spelling {
  /// `?1`, `?2` … by place, without the terms that count.
  static var plain: Spelling { Spelling(isCounted: false) { _, place in "?\(place + 1)" } }
}
