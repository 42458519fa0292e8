import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Follows references from the rows of culprits to the rows that are without a parent once those are gone, and so on.
///
/// Each setter whose parent is a row of the same table is an *edge* to that row. Culprits have a level: those that are
/// open are on the first, those that refer to their rows on the next. A level is one indexed look-up for each of its
/// records, so that a chain takes as long as its records are many, in whatever order they came.
///
///     level 0   5 -> 9 (nowhere)      level 1   7 -> 5      level 2   8 -> 7
///
/// A row is gone only when one record alone has made it. What else the absence of a culprit brings about is not looked
/// for here: the records are stored once more after this, and what is open then is followed anew.
struct ReferenceClosure {
  private let held: HeldRecords
  private let addEdge: Statement
  let expand: Statement
  let changing: Statement

  /// SQL of the table of edges: the parent, the row that refers to it, and what is known of that from its setter.
  static func table(identityCount n: Int) -> String {
    let (parent, child) = (names("p", n), names("k", n))
    return """
      CREATE TABLE edge(\(parent), \(child), key, ordinal, alone, PRIMARY KEY (\(parent), ordinal, key)) WITHOUT ROWID;
      """
  }

  init(_ held: HeldRecords, identityCount n: Int) throws(UpsurgeError) {
    self.held = held
    let values = (1...2 * n + 3).map { "?\($0)" }.joined(separator: ", ")
    addEdge = try held.prepare("INSERT OR REPLACE INTO edge VALUES(\(values))")
    func same(_ one: String, _ other: String) -> String {
      (0..<n).map { "\(one)\($0) = \(other)\($0)" }.joined(separator: " AND ")
    }
    // The `+` takes the affinity off, with which the index of setters could not be used. A record that stores a row of an
    // earlier culprit may do otherwise without that.
    expand = try held.prepare(
      """
      INSERT OR IGNORE INTO culprit
      SELECT edge.ordinal, min(edge.key), ?1 + 1
      FROM culprit CROSS JOIN setter ON setter.ordinal = +culprit.ordinal AND setter.alone
        CROSS JOIN edge ON \(same("edge.p", "setter.k"))
      WHERE culprit.level = ?1 AND (edge.alone OR ?2 AND NOT EXISTS (
        SELECT 1 FROM setter AS other CROSS JOIN culprit AS earlier ON earlier.ordinal = other.ordinal
        WHERE \(same("other.k", "edge.k")) AND earlier.level <= ?1))
      GROUP BY edge.ordinal
      """)
    changing = try held.prepare(
      """
      SELECT 1 FROM culprit CROSS JOIN setter ON setter.ordinal = +culprit.ordinal
      WHERE culprit.level = ?1 AND NOT setter.alone LIMIT 1
      """)
  }

  /// Notes which row of the same table a row refers to.
  func note(
    parent: [SQLValue], of child: [SQLValue], _ setter: ReferenceSetters.Culprit, isAlone: Bool
  ) throws(UpsurgeError) {
    let rest: [SQLValue] = [
      .integer(Int64(setter.key)), .integer(setter.ordinal), .integer(isAlone ? 1 : 0),
    ]
    for (index, value) in (parent + child + rest).enumerated() {
      try addEdge.bind(value, at: Int32(index + 1))
    }
    defer { addEdge.reset() }
    _ = try addEdge.step()
  }

  /// Accuses all that hangs on the culprits of level 0; the edges are used up.
  /// - Parameters:
  ///   - stopsAtChanges: whether a culprit that has changed a row which is there without it ends the search, because
  ///     records of other rows may fare differently without it.
  ///   - includesChanged: whether records are accused that have changed a row which is there without them.
  func follow(stopsAtChanges: Bool, includesChanged: Bool) throws(UpsurgeError) {
    var level: Int64 = 0
    while true {
      if stopsAtChanges, try isChanging(level) { break }
      try expand.bind(level, at: 1)
      try expand.bind(includesChanged ? 1 : 0, at: 2)
      defer { expand.reset() }
      _ = try expand.step()
      if sqlite3_changes(expand.connection.handle) == 0 { break }
      level += 1
    }
    // What is found after the next try has levels of its own.
    try held.execute("DELETE FROM edge; UPDATE culprit SET level = -1 WHERE level >= 0")
  }

  private func isChanging(_ level: Int64) throws(UpsurgeError) -> Bool {
    try changing.bind(level, at: 1)
    defer { changing.reset() }
    return try changing.step()
  }

  /// `p0, p1`: as many names as a row has.
  private static func names(_ prefix: String, _ count: Int) -> String {
    (0..<count).map { "\(prefix)\($0)" }.joined(separator: ", ")
  }
}
