import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Records that wait in the database until the schema has a place for them.
///
/// A record is kept in the transaction of its neighbours. Once a later record about the same row is stored, or is
/// kept in turn, what was kept of that row is gone in the same transaction. With `newer:COL` that column decides,
/// and an older arrival takes nothing away. What other programs write to a row is not seen: a kept record is stored
/// over their edits, unless `newer:COL` says otherwise.
///
/// A later record takes the place of a kept one as a whole, also of the columns that it does not speak of. Where rules
/// read the row (sums, SQL), a record is a step and not a state. Then nothing takes the place of anything, and all are
/// stored in the order of their arrival. Only a delete makes what was kept before it superfluous.
///
/// Belongs to one writer. Costs nothing while no record is kept for the table: whether one is, is looked up when a
/// transaction begins and another connection has written meanwhile, and noted with each record that is kept.
package final class Quarantine {
  /// Whether records are kept for the table, so that what is stored may supersede one.
  package private(set) var holdsRecords = false
  /// Kept records that a later one took the place of.
  package private(set) var supersededCount: UInt64 = 0

  private let connection: Connection
  private let table: String
  private let rules: UpsertRules
  private lazy var rulesText = RulesText.encode(rules)
  private let plan: UpsertPlan
  /// How keys are read; made when it is first needed, and nil where nothing says which row a record is about.
  private var madeReader: KeyReader??
  private var tableExists = false
  /// Whether it is of the current layout.
  private var isPrepared = false
  private var seenVersion: Int64 = -1
  /// The largest id that was there at any time, as far as it is known: what arrives later gets a larger one.
  private var lastID: Int64?
  private var dataVersion: Statement?
  private var insertion: Statement?
  private var deletion: Statement?
  private var releasing: Statement?
  private var lookUp: Statement?

  package init(_ plan: UpsertPlan, on connection: Connection) {
    self.connection = connection
    self.plan = plan
    table = plan.schema.name
    var rules = plan.rules
    if !plan.schema.columns.isEmpty { rules.mode = rules.mode ?? plan.mode }
    self.rules = rules
  }

  /// Begins again from a place to which everything was rolled back.
  package func begin(supersededCount: UInt64) throws(UpsurgeError) {
    self.supersededCount = supersededCount
    (tableExists, isPrepared, holdsRecords, seenVersion) = (false, false, false, -1)
    try look()
  }

  /// What was counted and seen before the plan changed.
  package func takeOver(from other: Quarantine) {
    supersededCount += other.supersededCount
    lastID = other.lastID
  }

  /// Looks whether records are kept for the table; called when a transaction has begun.
  package func look() throws(UpsurgeError) {
    if !plan.speaksOfRows { return }
    let version = try currentVersion()
    if version == seenVersion { return }
    seenVersion = version
    // A table of somebody else's holds nothing of ours; only a record that must be kept is a reason to stop.
    tableExists = try QuarantineTable.layout.findIfOurs(on: connection) != nil
    lastID = max(lastID ?? 0, tableExists ? try QuarantinedRecord.lastID(connection) : 0)
    if !tableExists { return }
    let statement = try connection.prepare(
      "SELECT EXISTS (SELECT 1 FROM main.upsurge_quarantine WHERE \"table\" = ?1)")
    try statement.bind(table, at: 1)
    holdsRecords = try statement.step() && statement.integer(at: 0) != 0
    if holdsRecords { try rekey() }
  }

  /// Keeps a record whole, in the place of what was kept of the same row.
  /// - Parameters:
  ///   - unknown: the cells with a value for which the table has no column.
  ///   - parent: what the record refers to that is not there, in words.
  /// - Throws: `guardRefused` when the table of kept records is not ours; `database`.
  package func keep(
    _ batch: borrowing Batch, _ record: Int, unknown: [Int], file: String, waitingFor parent: String? = nil
  ) throws(UpsurgeError) {
    if !tableExists || !isPrepared {
      try QuarantineTable.layout.prepare(on: connection)
      (tableExists, isPrepared) = (true, true)
    }
    let reader = try reader()
    let key = try reader?.key(batch, record)
    if let key, !plan.readsRow { try remove(key) }
    let insertion = try compiled(&self.insertion, Self.insertionSQL)
    try insertion.bind(table, at: 1)
    try insertion.bind(key?.text, at: 2)
    try insertion.bind(reader?.form, at: 3)
    try insertion.bind(key?.version ?? .null, at: 4)
    try insertion.bind(rulesText, at: 5)
    try bind(batch, record, unknown: unknown, to: insertion)
    let position = batch.position(of: record, file: file)
    try insertion.bind(position.file, at: 8)
    try insertion.bind(position.record, at: 9)
    try insertion.bind(position.line, at: 10)
    try insertion.bind(position.byte, at: 11)
    try insertion.bind(parent, at: 12)
    // The id of one that has gone is not given again.
    if let id = lastID { lastID = id + 1 }
    try insertion.bind(lastID.map { .integer($0) } ?? .null, at: 13)
    defer { insertion.reset() }
    _ = try insertion.step()
    holdsRecords = true
  }

  /// What is to leave the quarantine because a record was stored.
  package struct Settlement {
    /// What is kept of the same row and arrived before `before`.
    var key: KeyReader.Key?
    var before: Int64
    /// The record itself, if it was kept.
    var id: Int64?
  }

  /// What a record makes superfluous; nil for nothing.
  /// - Parameters:
  ///   - isStored: whether its row says now what the record says.
  ///   - isDelete: whether the record takes its row away.
  ///   - id: its own id, where it comes from the quarantine.
  package func settlement(
    _ batch: borrowing Batch, _ record: Int, isStored: Bool, isDelete: Bool = false, id: Int64? = nil
  ) throws(UpsurgeError) -> Settlement? {
    var settlement = Settlement(key: nil, before: id ?? .max, id: id)
    if isStored, isDelete || !plan.readsRow, holdsRecords, let key = try reader()?.key(batch, record),
      try holds(key)
    {
      settlement.key = key
      // Nothing that is kept from now on is meant.
      if id == nil { settlement.before = try QuarantinedRecord.lastID(connection) + 1 }
    }
    return settlement.key == nil && id == nil ? nil : settlement
  }

  /// Whether any record is kept for the table now.
  package func keepsAny() throws(UpsurgeError) -> Bool {
    if !holdsRecords { return false }
    let statement = try connection.prepare(
      "SELECT EXISTS (SELECT 1 FROM main.upsurge_quarantine WHERE \"table\" = ?1)")
    try statement.bind(table, at: 1)
    return try statement.step() && statement.integer(at: 0) != 0
  }

  package func apply(_ settlement: Settlement) throws(UpsurgeError) {
    if let key = settlement.key { try remove(key, before: settlement.before) }
    guard let id = settlement.id else { return }
    let statement = try compiled(&releasing, "DELETE FROM main.upsurge_quarantine WHERE id = ?1")
    try statement.bind(id, at: 1)
    defer { statement.reset() }
    _ = try statement.step()
  }

  /// Whether anything is kept under a key.
  private func holds(_ key: KeyReader.Key) throws(UpsurgeError) -> Bool {
    guard let text = key.text else { return false }
    let statement = try compiled(
      &lookUp, "SELECT 1 FROM main.upsurge_quarantine WHERE \"table\" = ?1 AND key = ?2 LIMIT 1")
    try statement.bind(table, at: 1)
    try statement.bind(text, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }

  /// Forgets records of the table that waited for their parents, up to one.
  /// - Parameter files: only those that came from one of these; nil for all.
  package func forgetOrphans(through id: Int64, of files: [String]?) throws(UpsurgeError) {
    guard id > 0, try QuarantineTable.hasReason(connection) else { return }
    var sql = "DELETE FROM main.upsurge_quarantine WHERE reason IS NOT NULL AND \"table\" = ?1 AND id <= ?2"
    if let files {
      var names: [String] = []
      for file in files { names.append(try SQLName.literal(file)) }
      sql += " AND file IN (\(names.joined(separator: ", ")))"
    }
    let statement = try connection.prepare(sql)
    try statement.bind(table, at: 1)
    try statement.bind(id, at: 2)
    _ = try statement.step()
    supersededCount += UInt64(sqlite3_changes(connection.handle))
  }

  // MARK: - Statements

  private static let insertionSQL = """
    INSERT INTO main.upsurge_quarantine
      ("table", key, key_columns, version, rules, columns, record, file, number, line, byte, reason, id)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    """

  private func bind(
    _ batch: borrowing Batch, _ record: Int, unknown: [Int], to statement: Statement
  ) throws(UpsurgeError) {
    var columns = JSONText()
    columns.beginArray()
    for cell in unknown { columns.string(plan.columns[cell].name) }
    columns.endArray()
    var fields = JSONText()
    RecordText.write(batch, record, names: plan.columns.map(\.name), to: &fields)
    try statement.bind(columns.text, at: 6)
    try statement.bind(fields.text, at: 7)
  }

  /// Removes what is kept under a key and is not newer.
  private func remove(_ key: KeyReader.Key, before id: Int64 = .max) throws(UpsurgeError) {
    guard holdsRecords, let reader = try reader(), let text = key.text else { return }
    let deletion = try compiled(
      &self.deletion,
      """
      DELETE FROM main.upsurge_quarantine
      WHERE "table" = ?1 AND key = ?2 AND key_columns = ?3 AND \(reader.isNotOlder) AND id < ?5
      """)
    try deletion.bind(table, at: 1)
    try deletion.bind(text, at: 2)
    try deletion.bind(reader.form, at: 3)
    try deletion.bind(key.version, at: 4)
    try deletion.bind(id, at: 5)
    defer { deletion.reset() }
    _ = try deletion.step()
    supersededCount += UInt64(sqlite3_changes(connection.handle))
  }

  /// The statement, compiled when it is first needed.
  private func compiled(
    _ statement: inout Statement?, _ sql: @autoclosure () -> String
  ) throws(UpsurgeError) -> Statement {
    if let statement { return statement }
    let made = try connection.prepare(sql(), isPersistent: true)
    statement = made
    return made
  }

  private func reader() throws(UpsurgeError) -> KeyReader? {
    if let madeReader { return madeReader }
    let made = try KeyReader(plan, on: connection)
    madeReader = .some(made)
    return made
  }

  // MARK: - Looking

  /// A number that changes when another connection has written.
  private func currentVersion() throws(UpsurgeError) -> Int64 {
    let statement = try compiled(&dataVersion, "PRAGMA data_version")
    defer { statement.reset() }
    return try statement.step() ? statement.integer(at: 0) : 0
  }

  /// Records that were kept before the table was there, or had its present columns, get their keys anew.
  private func rekey() throws(UpsurgeError) {
    guard let reader = try reader() else { return }
    var last: Int64 = 0
    while true {
      let page = try QuarantinedRecord.outdated(connection, table: table, form: reader.form, after: last)
      guard let final = page.last else { return }
      last = final.id
      let update = try connection.prepare(
        "UPDATE main.upsurge_quarantine SET key = ?2, key_columns = ?3, version = ?4 WHERE id = ?1")
      for record in page {
        // What cannot be read stays for `replay` to complain of.
        guard let fields = try? record.fields() else { continue }
        let isAlike = hasThisKey(record.rules)
        let key = isAlike ? try reader.key(fields) : KeyReader.Key(text: nil, version: .null)
        try update.bind(record.id, at: 1)
        try update.bind(key.text, at: 2)
        try update.bind(reader.form, at: 3)
        try update.bind(key.version, at: 4)
        _ = try update.step()
        update.reset()
      }
    }
  }

  /// Whether rules speak of the key that this plan has.
  private func hasThisKey(_ text: String) -> Bool {
    if text == rulesText { return true }
    guard let other = try? RulesText.decode(text), other.mode != .insert || other.tombstone != nil else {
      return false
    }
    if other.target == plan.rules.target { return true }
    func names(_ target: ConflictTarget) -> Set<String>? {
      switch target {
      case .columns(let names, nil): Set(names.map(SQLName.folded))
      case .primaryKey: Set(plan.schema.primaryKeyColumns.map(SQLName.folded))
      default: nil
      }
    }
    let key = plan.key?.columns.map { Set($0.map(SQLName.folded)) }
    return key != nil && names(other.target) == key && plan.targets.count == 1 && plan.key?.isPartial == false
  }
}
