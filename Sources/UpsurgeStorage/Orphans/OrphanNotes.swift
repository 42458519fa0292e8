import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// What became of each record, in a temporary database.
final class OrphanNotes {
  let store: Connection
  private let insertion: Statement
  private let refusal: Statement
  private let question: Statement
  private let passing: Statement
  private let passedQuestion: Statement
  private let all: Statement
  /// So many values name a row, at most.
  let rowValueCount: Int
  /// Whether each record has stored its row, or would be none to be stored without the others, too.
  var isPlain = true

  init(rowValueCount: Int) throws(UpsurgeError) {
    self.rowValueCount = rowValueCount
    store = try Connection(path: "the temporary database", createIfMissing: true, isTemporary: true)
    let values = (0..<rowValueCount).map { "k\($0)" }.joined(separator: ", ")
    try store.execute(
      """
      PRAGMA page_size=16384; PRAGMA temp_store=FILE; PRAGMA cache_size=-512; PRAGMA synchronous=OFF; BEGIN;
      CREATE TABLE stored(id INTEGER PRIMARY KEY, place, outcome, value_count, \(values));
      CREATE TABLE refused(id INTEGER PRIMARY KEY, level INTEGER);
      CREATE INDEX refused_level ON refused(level);
      CREATE TABLE passed(id INTEGER PRIMARY KEY, place);
      """)
    let places = (1...rowValueCount + 4).map { "?\($0)" }.joined(separator: ", ")
    insertion = try store.prepare("INSERT OR REPLACE INTO stored VALUES(\(places))", isPersistent: true)
    refusal = try store.prepare("INSERT OR IGNORE INTO refused VALUES(?1, 0)", isPersistent: true)
    question = try store.prepare("SELECT 1 FROM refused WHERE id = ?1", isPersistent: true)
    passing = try store.prepare("INSERT OR IGNORE INTO passed VALUES(?1, ?2)", isPersistent: true)
    passedQuestion = try store.prepare("SELECT 1 FROM passed WHERE id = ?1", isPersistent: true)
    all = try store.prepare("SELECT * FROM stored ORDER BY id", isPersistent: true)
  }

  /// Forgets what became of the records; those that are refused stay so.
  func clear() throws(UpsurgeError) {
    try store.execute("DELETE FROM stored")
    isPlain = true
  }

  func holdsAny() throws(UpsurgeError) -> Bool { try store.integer("SELECT 1 FROM stored LIMIT 1") != nil }

  func add(_ id: Int64, table: Int, _ outcome: Outcome, row: [SQLValue]?) throws(UpsurgeError) {
    defer { insertion.reset() }
    try insertion.bind(id, at: 1)
    try insertion.bind(Int64(table), at: 2)
    try insertion.bind(outcome.rawValue, at: 3)
    try insertion.bind(Int64(row?.count ?? 0), at: 4)
    for index in 0..<rowValueCount {
      try insertion.bind(row.map { value(index, of: $0) } ?? .null, at: Int32(index + 5))
    }
    _ = try insertion.step()
  }

  /// A value that names a row; after the last one there are others, so that all rows have equally many.
  func value(_ index: Int, of row: [SQLValue]) -> SQLValue { index < row.count ? row[index] : .integer(0) }

  func refuse(_ id: Int64) throws(UpsurgeError) {
    defer { refusal.reset() }
    try refusal.bind(id, at: 1)
    _ = try refusal.step()
  }

  func isRefused(_ id: Int64) throws(UpsurgeError) -> Bool {
    defer { question.reset() }
    try question.bind(id, at: 1)
    return try question.step()
  }

  /// Notes that a record is passed over, as its row was edited here; it is not tried any more.
  func passOver(_ id: Int64, table: Int) throws(UpsurgeError) {
    defer { passing.reset() }
    try passing.bind(id, at: 1)
    try passing.bind(Int64(table), at: 2)
    _ = try passing.step()
    try refuse(id)
  }

  func isPassedOver(_ id: Int64) throws(UpsurgeError) -> Bool {
    defer { passedQuestion.reset() }
    try passedQuestion.bind(id, at: 1)
    return try passedQuestion.step()
  }

  /// Visits the records that are passed over, in the order of arrival.
  func visitPassedOver(_ body: (Int64, _ table: Int) throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    let passed = try store.prepare("SELECT id, place FROM passed ORDER BY id")
    while try passed.step() { try body(passed.integer(at: 0), Int(passed.integer(at: 1))) }
  }

  func visit(
    _ body: (Int64, _ table: Int, Outcome, _ row: [SQLValue]?) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) {
    defer { all.reset() }
    while try all.step() {
      let outcome = Outcome(rawValue: all.text(at: 2) ?? "") ?? .unchanged
      let row = (0..<all.integer(at: 3)).map { SQLValue(all.handle, column: Int32($0 + 4)) }
      try body(all.integer(at: 0), Int(all.integer(at: 1)), outcome, row.isEmpty ? nil : row)
    }
  }
}

/// Notes what becomes of records of the quarantine, whose numbers are their ids.
final class OrphanObserver: RecordObserver {
  private let notes: OrphanNotes
  private let table: Int
  /// Where the values that name a row stand among those that are observed.
  private var places: [Int] = []

  let wantedRows = ObservedRows.after
  let wantsRowid = true

  init(_ notes: OrphanNotes, table: Int) { (self.notes, self.table) = (notes, table) }

  func begin(_ plan: UpsertPlan, columns: [Int]) {
    // The rowid comes after all columns.
    places =
      plan.schema.isWithoutRowid
      ? plan.identityColumns.compactMap { columns.firstIndex(of: $0) } : [columns.count]
  }

  func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    // Without the record that was in its way, it might be stored.
    if outcome == .rejected || outcome == .ignored { notes.isPlain = false }
    // What is refused, or has no place, stays where it is.
    guard outcome != .rejected, outcome != .quarantined, let id = position.record else { return }
    let row = after.map { row in places.compactMap { $0 < row.count ? row[$0] : nil } }
    try notes.add(Int64(clamping: id), table: table, outcome, row: row)
  }
}
