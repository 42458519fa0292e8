import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Which records have set the references of rows, while any reference of the transaction is open; and which of those
/// records are not to be stored.
///
/// Records are named by their ordinals in `HeldRecords`, in whose database all of this stands.
struct ReferenceSetters {
  /// A record that is not to be stored, and its foreign key by index.
  struct Culprit: Equatable {
    var ordinal: Int64
    var key: Int
  }

  private let identityCount: Int
  private let set: Statement
  private let touch: Statement
  private let forget: Statement
  private let all: Statement
  private let accuse: Statement
  private let accused: Statement
  private let execute: (String) throws(UpsurgeError) -> Void

  /// SQL of the tables.
  /// - Parameter identityCount: how many values name a row.
  static func tables(identityCount: Int) -> String {
    let names = (0..<identityCount).map { "k\($0)" }.joined(separator: ", ")
    return """
      CREATE TABLE setter(\(names), key, ordinal, open, moved, alone, PRIMARY KEY (\(names), key)) WITHOUT ROWID;
      CREATE INDEX setting ON setter(ordinal, key);
      CREATE TABLE culprit(ordinal INTEGER PRIMARY KEY, key, level);
      CREATE INDEX accused ON culprit(level);
      \(ReferenceClosure.table(identityCount: identityCount))
      """
  }

  init(_ held: HeldRecords, identityCount: Int) throws(UpsurgeError) {
    self.identityCount = identityCount
    let range = 0..<identityCount
    let names = range.map { "k\($0)" }.joined(separator: ", ")
    let place = range.map { "k\($0) = ?\($0 + 1)" }.joined(separator: " AND ")
    let n = identityCount
    let values = (1...n + 5).map { "?\($0)" }.joined(separator: ", ")
    set = try held.prepare(
      """
      INSERT INTO setter VALUES(\(values)) ON CONFLICT DO UPDATE SET
        ordinal = excluded.ordinal, open = excluded.open, moved = excluded.moved, alone = 0
      """)
    touch = try held.prepare("UPDATE setter SET alone = 0 WHERE \(place)")
    forget = try held.prepare("DELETE FROM setter WHERE \(place) AND key = ?\(n + 1)")
    let columns = "\(names), key, ordinal, moved, alone"
    all = try held.prepare("SELECT \(columns) FROM setter WHERE open OR ?1 ORDER BY ordinal, key")
    accuse = try held.prepare("INSERT OR IGNORE INTO culprit VALUES(?1, ?2, 0)")
    accused = try held.prepare(
      "SELECT ordinal, key FROM culprit WHERE ordinal >= ?1 ORDER BY ordinal LIMIT 1")
    execute = { (sql) throws(UpsurgeError) in try held.execute(sql) }
  }

  // MARK: - Rows

  /// Notes that a record has set a foreign key of a row.
  /// - Parameters:
  ///   - isOpen: whether it has no parent yet.
  ///   - hasMoved: whether rows that referred to this one are without it now.
  ///   - isNew: whether the record has made the row.
  func note(
    _ identity: [SQLValue], key: Int, ordinal: Int64, isOpen: Bool, hasMoved: Bool, isNew: Bool
  ) throws(UpsurgeError) {
    let values: [SQLValue] = [
      .integer(Int64(key)), .integer(ordinal), .integer(isOpen ? 1 : 0), .integer(hasMoved ? 1 : 0),
      .integer(isNew ? 1 : 0),
    ]
    try run(set, identity + values)
  }

  /// Notes that more than one record has stored a row.
  func noteOther(_ identity: [SQLValue]) throws(UpsurgeError) { try run(touch, identity) }

  /// Notes that a foreign key of a row is NULL.
  func forget(_ identity: [SQLValue], key: Int) throws(UpsurgeError) {
    try run(forget, identity + [.integer(Int64(key))])
  }

  /// Visits foreign keys in the order of the records that have set them.
  /// - Parameters:
  ///   - includesHealed: whether those are visited too that had a parent when they were set.
  func visit(
    includesHealed: Bool = false,
    _ body: (_ identity: [SQLValue], Culprit, _ hasMoved: Bool, _ isAlone: Bool) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError) {
    try all.bind(includesHealed ? 1 : 0, at: 1)
    defer { all.reset() }
    let n = Int32(identityCount)
    while try all.step() {
      let identity = (0..<n).map { SQLValue(all.handle, column: $0) }
      let culprit = Culprit(ordinal: all.integer(at: n + 1), key: Int(all.integer(at: n)))
      let isAlone = all.integer(at: n + 3) != 0
      guard try body(identity, culprit, all.integer(at: n + 2) != 0, isAlone) else { return }
    }
  }

  func forgetRows() throws(UpsurgeError) { try execute("DELETE FROM setter") }

  // MARK: - Culprits

  /// Accuses a record, unless it is accused already.
  func add(_ culprit: Culprit) throws(UpsurgeError) {
    try run(accuse, [.integer(culprit.ordinal), .integer(Int64(culprit.key))])
  }

  /// The first culprit at or after a record.
  func culprit(from ordinal: Int64) throws(UpsurgeError) -> Culprit? {
    try accused.bind(ordinal, at: 1)
    defer { accused.reset() }
    guard try accused.step() else { return nil }
    return Culprit(ordinal: accused.integer(at: 0), key: Int(accused.integer(at: 1)))
  }

  func clear() throws(UpsurgeError) { try execute("DELETE FROM setter; DELETE FROM culprit") }

  private func run(_ statement: Statement, _ values: [SQLValue]) throws(UpsurgeError) {
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    defer { statement.reset() }
    _ = try statement.step()
  }
}
