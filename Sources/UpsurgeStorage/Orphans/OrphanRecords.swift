import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Stores records that wait in the quarantine for the rows that they refer to: as many of them as find their parents in
/// the end, also where they refer to each other in circles.
///
/// All of them are stored while foreign keys are put off. Those that have no parent then are left out, and those whose
/// parents are their rows (`OrphanChains`). Everything is taken back, and the others are stored once more, until none is
/// without:
///
///     1 -> 2, 2 -> 1, 3 -> 4, 4 -> 9 (nowhere)      all   without 3 and 4
///
/// A record whose row was edited here, and is to stay so, is found by the row that it makes. Then all is taken back and it is
/// passed over. It leaves the quarantine as one that is ignored, whether or not its parent has come.
///
/// What was stored is noted in a temporary database, so that it takes no memory. Belongs to the connection's thread.
package final class OrphanRecords {
  /// A table whose records are tried.
  package struct Table: Sendable {
    package var name: String
    /// The column that says which rows are gone.
    package var softColumn: String?
    /// What `upsurge_is_synchronizing()` says.
    package var isSynchronizing: Bool
    /// The feed whose rows stay as they are where they were edited here: its name, empty for one that has none; nil where
    /// records are stored over edits.
    package var keptOwner: String?
    /// The SQL of the rules that the job itself has for the table: kept records with the same are stored.
    package var givenSQL: Set<String> = []
    /// Whether a load of the transaction that is open has marked them.
    package var hasMarkedEdits = false

    package init(
      name: String, softColumn: String? = nil, isSynchronizing: Bool = false, keptOwner: String? = nil
    ) {
      (self.name, self.softColumn, self.isSynchronizing) = (name, softColumn, isSynchronizing)
      self.keptOwner = keptOwner
    }
  }

  /// A record that has left the quarantine.
  package struct Stored: Sendable {
    package var id: Int64
    package var table: String
    package var outcome: Outcome
    /// What names its row; nil without one.
    package var row: [SQLValue]?
    /// Whether it was ignored because its row was edited here.
    package var isPassedOver = false
  }

  private let connection: Connection
  private let tables: [Table]
  /// Whether a record is not to be tried.
  private let isLeftOut: (QuarantinedRecord) -> Bool
  private let notes: OrphanNotes
  /// By the place of the table in `tables`; nil where it is not there.
  private let schemas: [TableSchema?]
  private var references: [Int: OpenReferences] = [:]
  /// Rows that were edited here and stay so, by the place of their table.
  private var edited: [Int: EditedRows] = [:]

  /// How often all that is not refused was stored.
  private(set) var roundCount = 0

  /// So often at most, each time without more of them.
  private static let mostRounds = 500
  /// So often only those are refused that have no parent, where without them others might fare better than before: one
  /// that was in the way of another.
  private static let exactRounds = 8

  /// - Parameter isLeftOut: whether a record is not to be tried.
  package init(
    _ connection: Connection, tables: [Table], isLeftOut: @escaping (QuarantinedRecord) -> Bool
  ) throws(UpsurgeError) {
    self.connection = connection
    self.tables = tables
    self.isLeftOut = isLeftOut
    var schemas: [TableSchema?] = []
    for table in tables { schemas.append(try TableSchema.read(connection, table: table.name)) }
    self.schemas = schemas
    notes = try OrphanNotes(
      rowValueCount: schemas.map { $0?.isWithoutRowid == true ? $0?.primaryKeyColumns.count ?? 1 : 1 }.max()
        ?? 1)
    for (index, schema) in schemas.enumerated() {
      if let schema { references[index] = try OpenReferences(connection, schema) }
    }
  }

  /// Stores what can be, in a transaction of its own or a part of a shared one.
  /// - Returns: whether anything was, or was passed over.
  package func store() throws(UpsurgeError) -> Bool {
    try connection.beginWriting()
    do throws(UpsurgeError) {
      try lookForEdits()
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
      let isPassedOver = outcome == .ignored ? try notes.isPassedOver(id) : false
      try body(
        Stored(id: id, table: tables[table].name, outcome: outcome, row: row, isPassedOver: isPassedOver))
    }
  }

  private func settle() throws(UpsurgeError) -> Bool {
    let last = try QuarantinedRecord.lastID(connection)
    for round in 1...Self.mostRounds {
      roundCount = round
      try connection.execute("SAVEPOINT upsurge_waiting")
      try notes.clear()
      try storeAll(through: last)
      if try passOverEdited() {
        // What the others come to is seen without them.
        try connection.execute("ROLLBACK TO upsurge_waiting; RELEASE upsurge_waiting")
        continue
      }
      var hasAccused = try accuse()
      if !hasAccused && !connection.hasOpenReferences {
        try releasePassedOver()
        try connection.execute("RELEASE upsurge_waiting")
        return try notes.holdsAny()
      }
      if hasAccused {
        if isPlain || round > Self.exactRounds { try follow() }
      } else {
        hasAccused = try accuseMovers()
      }
      try connection.execute("ROLLBACK TO upsurge_waiting; RELEASE upsurge_waiting")
      // Something else is open, and nobody knows because of which record.
      if !hasAccused { break }
    }
    try notes.clear()
    return false
  }

  /// Whether a row that refused records alone have made is not there without them.
  private var isPlain: Bool { notes.isPlain && schemas.allSatisfy { $0?.triggers.isEmpty ?? true } }

  /// Stores all that is not refused.
  private func storeAll(through last: Int64) throws(UpsurgeError) {
    var after: Int64 = 0
    while true {
      let page = try QuarantinedRecord.orphans(connection, after: after, through: last)
      guard let final = page.last else { return }
      after = final.id
      var run: [QuarantinedRecord] = []
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
  private func store(_ records: [QuarantinedRecord]) throws(UpsurgeError) {
    guard let first = records.first,
      let index = tables.firstIndex(where: { SQLName.isSame($0.name, first.table) }),
      let schema = schemas[index],
      var rules = try? RulesText.decode(first.rules, running: ReturnedSQL(given: tables[index].givenSQL))
    else { return }
    rules.softColumn = tables[index].softColumn
    // What cannot be read, `upsurge replay` complains of.
    let kept = records.compactMap { record in (try? record.fields()).map { (record: record, fields: $0) } }
    let names = QuarantinedRecord.columnNames(kept, rules: rules, schema: schema)
    let columns = names.map { ColumnTarget(name: $0, affinity: .none, spellingPolicy: .warn) }
    guard !kept.isEmpty,
      let plan = try? UpsertPlan(
        schema: schema, rules: rules, columns: columns, toleratesUnknownColumns: true)
    else { return }
    var settings = WriterSettings()
    settings.commitEvery.records = .max
    settings.commitsOnce = true
    settings.onError = .reject
    settings.quarantinesUnknown = true
    settings.leavesReferencesOpen = true
    settings.replaysQuarantine = true
    connection.isSynchronizing = tables[index].isSynchronizing
    let writer = try TableWriter(
      connection: connection, plan: plan, sourceNames: [], settings: settings,
      observer: OrphanObserver(notes, table: index))
    var batch = Batch(quarantined: kept, columns: names, schema: schema)
    try writer.write(&batch)
    if writer.ledger.inserted > 0 { try UnacceptedState.noteReplay(into: schema.name, on: connection) }
  }

  // MARK: - Edits

  /// Finds the rows that were edited here and stay so.
  private func lookForEdits() throws(UpsurgeError) {
    for (index, table) in tables.enumerated() {
      guard let owner = table.keptOwner, let schema = schemas[index],
        try QuarantineTable.holds(table.name, connection)
      else { continue }
      edited[index] = try EditedRows(
        schema, ownedBy: owner, areMarked: table.hasMarkedEdits, on: connection)
    }
  }

  /// Finds the records whose rows were edited here.
  /// - Returns: whether there are any.
  private func passOverEdited() throws(UpsurgeError) -> Bool {
    if edited.isEmpty { return false }
    var hasFound = false
    try notes.visit { (id, table, _, row) throws(UpsurgeError) in
      guard let row, let rows = edited[table], try rows.holds(row) else { return }
      try notes.passOver(id, table: table)
      hasFound = true
    }
    return hasFound
  }

  /// Takes the records that are passed over out of the quarantine.
  private func releasePassedOver() throws(UpsurgeError) {
    if edited.isEmpty { return }
    let removal = try connection.prepare("DELETE FROM main.upsurge_quarantine WHERE id = ?1")
    try notes.visitPassedOver { (id, table) throws(UpsurgeError) in
      defer { removal.reset() }
      try removal.bind(id, at: 1)
      _ = try removal.step()
      try notes.add(id, table: table, .ignored, row: nil)
    }
  }

  // MARK: - Parents

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

  /// Refuses those too whose parents are rows of refused ones, and theirs in turn, which would otherwise take a round
  /// each.
  private func follow() throws(UpsurgeError) {
    let questions = try parentQuestions()
    if questions.isEmpty { return }
    let chains = try OrphanChains(notes)
    try notes.visit { (id, table, _, row) throws(UpsurgeError) in
      guard let row, let asked = questions[table] else { return }
      for (place, question) in asked {
        for (index, value) in row.enumerated() { try question.bind(value, at: Int32(index + 1)) }
        defer { question.reset() }
        guard try question.step() else { continue }
        let parent = (0..<sqlite3_column_count(question.handle)).map { SQLValue(question.handle, column: $0) }
        try chains.note(id, parent: parent, of: place)
      }
    }
    try chains.follow()
  }

  /// What finds the parents of a row in tables whose records are tried, by the place of its table, with their places.
  private func parentQuestions() throws(UpsurgeError) -> [Int: [(place: Int, question: Statement)]] {
    var questions: [Int: [(place: Int, question: Statement)]] = [:]
    for (index, schema) in schemas.enumerated() {
      for key in schema?.foreignKeys ?? [] {
        guard let schema, let place = tables.firstIndex(where: { SQLName.isSame($0.name, key.parentTable) }),
          let parent = schemas[place], let sql = try OpenReferences.parent(schema, key, in: parent)
        else { continue }
        questions[index, default: []].append((place, try connection.prepare(sql, isPersistent: true)))
      }
    }
    return questions
  }

  /// Refuses records that may have taken from other rows what those refer to: all that have changed or deleted a row of a
  /// table that is referred to.
  /// - Returns: whether there are any.
  private func accuseMovers() throws(UpsurgeError) -> Bool {
    var hasAccused = false
    try notes.visit { (id, table, outcome, _) throws(UpsurgeError) in
      guard outcome == .updated || outcome == .deleted, schemas[table]?.referencingTables.isEmpty == false
      else { return }
      try notes.refuse(id)
      hasAccused = true
    }
    return hasAccused
  }
}
