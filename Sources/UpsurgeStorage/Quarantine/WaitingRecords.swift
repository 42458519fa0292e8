import CSQLite
import UpsurgeRecords

/// Stores records that wait in the quarantine for the rows that they refer to: as many of them as find their parents in
/// the end, also where they refer to each other in circles.
///
/// All of them are stored while foreign keys are put off. Those that have no parent then are left out, everything is taken
/// back, and the others are stored once more, until none is without:
///
///     1 -> 2, 2 -> 1, 3 -> 4, 4 -> 9 (nowhere)      all   without 4   without 3 and 4
///
/// What was stored is noted in a temporary database, so that it takes no memory. Belongs to the connection's thread.
package final class WaitingRecords {
  /// A table whose records are tried.
  package struct Table: Sendable {
    package var name: String
    /// The column that says which rows are gone.
    package var softColumn: String?
    /// What `upsurge_is_synchronizing()` says.
    package var isSynchronizing: Bool

    package init(name: String, softColumn: String? = nil, isSynchronizing: Bool = false) {
      (self.name, self.softColumn, self.isSynchronizing) = (name, softColumn, isSynchronizing)
    }
  }

  /// A record that has left the quarantine.
  package struct Stored: Sendable {
    package var id: Int64
    package var table: String
    package var outcome: Outcome
    /// What names its row; nil where there is none.
    package var row: [SQLValue]?
  }

  private let connection: Connection
  private let tables: [Table]
  /// Whether a record is not to be tried.
  private let isLeftOut: (KeptRecord) -> Bool
  private let notes: WaitingNotes
  /// By the place of the table in `tables`; nil where it is not there.
  private let schemas: [TableSchema?]
  private var references: [Int: OpenReferences] = [:]

  /// Longer chains of records that wait for each other, and in the end for a row that is not there, are not followed.
  private static let longestSettlement = 500

  /// - Parameter isLeftOut: whether a record is not to be tried.
  package init(
    _ connection: Connection, tables: [Table], isLeftOut: @escaping (KeptRecord) -> Bool
  ) throws(UpsurgeError) {
    self.connection = connection
    self.tables = tables
    self.isLeftOut = isLeftOut
    var schemas: [TableSchema?] = []
    for table in tables { schemas.append(try TableSchema.read(connection, table: table.name)) }
    self.schemas = schemas
    notes = try WaitingNotes(
      rowValueCount: schemas.map { $0?.isWithoutRowid == true ? $0?.primaryKeyColumns.count ?? 1 : 1 }.max()
        ?? 1)
    for (index, schema) in schemas.enumerated() {
      if let schema { references[index] = try OpenReferences(connection, schema) }
    }
  }

  /// Stores what can be, in a transaction of its own or a part of a shared one.
  /// - Returns: whether anything was.
  package func store() throws(UpsurgeError) -> Bool {
    try connection.beginWriting()
    do throws(UpsurgeError) {
      let hasStored = try connection.deferringReferences { () throws(UpsurgeError) in try settle() }
      try connection.commitWriting()
      return hasStored
    } catch {
      try? connection.rollBackWriting()
      throw error
    }
  }

  /// Visits what was stored, in the order of arrival.
  package func visit(_ body: (Stored) throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    try notes.visit { (id, table, outcome, row) throws(UpsurgeError) in
      try body(Stored(id: id, table: tables[table].name, outcome: outcome, row: row))
    }
  }

  private func settle() throws(UpsurgeError) -> Bool {
    let last = try KeptRecord.lastID(connection)
    for _ in 0..<Self.longestSettlement {
      try connection.execute("SAVEPOINT upsurge_waiting")
      try notes.clear()
      try storeAll(through: last)
      let hasAccused = try accuse()
      if !hasAccused && !connection.hasOpenReferences {
        try connection.execute("RELEASE upsurge_waiting")
        return try notes.holdsAny()
      }
      try connection.execute("ROLLBACK TO upsurge_waiting; RELEASE upsurge_waiting")
      // Something else is open, and nobody knows because of which record.
      if !hasAccused { break }
    }
    try notes.clear()
    return false
  }

  /// Stores all that is not refused.
  private func storeAll(through last: Int64) throws(UpsurgeError) {
    var after: Int64 = 0
    while true {
      let page = try KeptRecord.orphans(connection, after: after, through: last)
      guard let final = page.last else { return }
      after = final.id
      var run: [KeptRecord] = []
      for record in page {
        if let first = run.first, !SQLName.isSame(first.table, record.table) || first.rules != record.rules {
          try store(run)
          run = []
        }
        if isLeftOut(record) { continue }
        if try !notes.isRefused(record.id) { run.append(record) }
      }
      try store(run)
    }
  }

  /// Stores records of one table that share their rules.
  private func store(_ records: [KeptRecord]) throws(UpsurgeError) {
    guard let first = records.first,
      let index = tables.firstIndex(where: { SQLName.isSame($0.name, first.table) }),
      let schema = schemas[index], var rules = try? RulesText.decode(first.rules)
    else { return }
    rules.softColumn = tables[index].softColumn
    // What cannot be read, `upsurge replay` complains of.
    let kept = records.compactMap { record in (try? record.fields()).map { (record: record, fields: $0) } }
    let names = KeptRecord.columnNames(kept, rules: rules, schema: schema)
    let columns = names.map { ColumnTarget(name: $0, affinity: .none, spellingPolicy: .warn) }
    guard !kept.isEmpty,
      let plan = try? UpsertPlan(
        schema: schema, rules: rules, columns: columns, toleratesUnknownColumns: true)
    else { return }
    var settings = WriterSettings()
    settings.commitEveryRecords = .max
    settings.commitsOnce = true
    settings.onError = .reject
    settings.quarantinesUnknown = true
    settings.leavesReferencesOpen = true
    settings.replaysKept = true
    connection.isSynchronizing = tables[index].isSynchronizing
    let writer = try TableWriter(
      connection: connection, plan: plan, sourceNames: [], settings: settings,
      observer: WaitingObserver(notes, table: index))
    var batch = Batch(kept: kept, columns: names)
    try writer.write(&batch)
  }

  /// Finds the records whose rows have no parent.
  /// - Returns: whether there are any.
  private func accuse() throws(UpsurgeError) -> Bool {
    var hasAccused = false
    try notes.visit { (id, table, _, row) throws(UpsurgeError) in
      guard let row, let references = references[table],
        try references.look(at: row)?.isOpen.contains(true) ?? false
      else { return }
      try notes.refuse(id)
      hasAccused = true
    }
    return hasAccused
  }
}
