import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Follows references from the rows of refused records to the records that have no parent once those rows are gone, and
/// so on, in the database of the notes.
///
/// Each reference to a row of a table whose records are tried is an *edge* to that row. Refused records have a level:
/// those whose parent is not there are on the first, those that refer to their rows on the next. A level is one indexed
/// look-up for each of its records, so that a chain takes as long as its records are many, in whatever order they came.
///
///     level 0   4 -> 9 (nowhere)      level 1   3 -> 4      level 2   2 -> 3
///
/// A row is gone when one of the records has made it, and all that are about it are refused. What else their absence
/// brings about is not looked for here: the others are stored once more after this.
struct OrphanChains {
  private let store: Connection
  private let notes: OrphanNotes
  private let addEdge: Statement
  private let expand: Statement

  init(_ notes: OrphanNotes) throws(UpsurgeError) {
    self.notes = notes
    store = notes.store
    let range = 0..<notes.rowValueCount
    let parents = range.map { "p\($0)" }.joined(separator: ", ")
    try store.execute(
      """
      CREATE TABLE edge(place, \(parents), id, PRIMARY KEY (place, \(parents), id)) WITHOUT ROWID;
      CREATE INDEX stored_row ON stored(place, \(range.map { "k\($0)" }.joined(separator: ", ")));
      """)
    let values = (1...notes.rowValueCount + 2).map { "?\($0)" }.joined(separator: ", ")
    addEdge = try store.prepare("INSERT OR IGNORE INTO edge VALUES(\(values))", isPersistent: true)
    func isAboutRow(_ name: String) -> String {
      "\(name).place = gone.place AND "
        + range.map { "\(name).k\($0) = gone.k\($0)" }.joined(separator: " AND ")
    }
    expand = try store.prepare(
      """
      INSERT OR IGNORE INTO refused
      SELECT edge.id, ?1 + 1
      FROM refused CROSS JOIN stored AS gone ON gone.id = refused.id
        CROSS JOIN edge ON edge.place = gone.place AND \(range.map { "edge.p\($0) = gone.k\($0)" }.joined(separator: " AND "))
      WHERE refused.level = ?1
        AND EXISTS (SELECT 1 FROM stored AS maker WHERE \(isAboutRow("maker")) AND maker.outcome = 'inserted')
        AND NOT EXISTS (SELECT 1 FROM stored AS other WHERE \(isAboutRow("other"))
          AND NOT EXISTS (SELECT 1 FROM refused AS left_out WHERE left_out.id = other.id))
      """, isPersistent: true)
  }

  /// Notes that the row of a record refers to one of the table at a place.
  func note(_ id: Int64, parent: [SQLValue], of place: Int) throws(UpsurgeError) {
    defer { addEdge.reset() }
    try addEdge.bind(Int64(place), at: 1)
    for index in 0..<notes.rowValueCount {
      try addEdge.bind(notes.value(index, of: parent), at: Int32(index + 2))
    }
    try addEdge.bind(id, at: Int32(notes.rowValueCount + 2))
    _ = try addEdge.step()
  }

  /// Refuses all that hang on refused records; the edges are used up.
  func follow() throws(UpsurgeError) {
    var level: Int64 = 0
    while true {
      try expand.bind(level, at: 1)
      defer { expand.reset() }
      _ = try expand.step()
      if sqlite3_changes(store.handle) == 0 { break }
      level += 1
    }
    try store.execute(
      """
      DROP TABLE edge; DROP INDEX stored_row;
      UPDATE refused SET level = -1 WHERE level >= 0;
      """)
  }
}
