import CSQLite
import UpsurgeRecords

/// Rows whose foreign keys are looked at when the transaction ends, and whose parents are not there yet.
///
/// SQLite tells after each statement whether any reference is open at all; only then is the row of a record looked at,
/// and kept here when its parent is missing. At the commit those that still have none are taken back, the last one
/// first, since a later record may have changed the same row: what is put back is what the row was before.
///
/// Taking back is a DELETE or an UPDATE, which must touch nothing but the row. Where the table has triggers (other than
/// those that keep an FTS5 table in step), or rows of any table refer to it with CASCADE, SET NULL or SET DEFAULT, it
/// would; the run then ends at the first such record.
///
/// A row that is gone was deleted by a later record, since nothing else deletes rows where records are taken back: both
/// records did what the ledger says. Rows whose deletion leaves others without a parent are not kept here: the commit
/// fails, and the run ends.
final class OpenReferences {
  /// A record that left its row without a parent, or that was stored while such rows were there: its parent may be
  /// one of those that are taken back.
  struct Entry {
    /// What it becomes when it is taken back, but for the foreign key.
    let reject: Reject
    /// The rowid, or the primary key of a table without rowids.
    let identity: [SQLValue]
    /// The row as it was, in the order of `writableColumns`; nil when the record made it.
    let before: [SQLValue]?
  }

  private let connection: Connection
  private let schema: TableSchema
  private let probe: Statement
  private let remove: Statement
  private let restore: Statement
  /// Columns that an UPDATE can put back, by index.
  let writableColumns: [Int]
  private(set) var entries: [Entry] = []
  private var byteCount = 0

  /// Raw records and rows kept at a time.
  private static let byteLimit = 16 << 20

  /// nil where the table has no foreign key, or no row of it can be named.
  init?(_ connection: Connection, _ schema: TableSchema) throws(UpsurgeError) {
    guard schema.kind == .table, !schema.foreignKeys.isEmpty, let place = try Self.place(schema) else {
      return nil
    }
    self.connection = connection
    self.schema = schema
    writableColumns = schema.columns.indices.filter { schema.columns[$0].generation == .none }
    let table = try SQLName.quote(schema.name)
    probe = try connection.prepare("SELECT \(try Self.openKey(schema)) FROM \(table) WHERE \(place)")
    remove = try connection.prepare("DELETE FROM \(table) WHERE \(place)")
    let count = schema.isWithoutRowid ? schema.primaryKeyColumns.count : 1
    var assignments = ""
    for (offset, column) in writableColumns.enumerated() {
      let name = try SQLName.quote(schema.columns[column].name)
      assignments += (assignments.isEmpty ? "" : ", ") + "\(name) = ?\(count + offset + 1)"
    }
    restore = try connection.prepare("UPDATE \(table) SET \(assignments) WHERE \(place)")
  }

  /// Why no record can be taken back, as a clause; nil where each can.
  func obstacle() throws(UpsurgeError) -> String? {
    if let trigger = try TableTriggers.read(connection, schema: schema).others.first {
      return "the table has triggers (\(trigger.escapedForTerminal))"
    }
    if schema.hasActingReferences {
      return "rows that refer to its rows would change with them (CASCADE, SET NULL or SET DEFAULT)"
    }
    return nil
  }

  /// The first record whose row has no parent, and its foreign key by index.
  func firstOpen() throws(UpsurgeError) -> (entry: Entry, key: Int)? {
    for entry in entries {
      if let key = try openKey(of: entry.identity) { return (entry, key) }
    }
    return nil
  }

  /// Whether a reference of any table is open in this transaction.
  var isAnyOpen: Bool { connection.status(SQLITE_DBSTATUS_DEFERRED_FKS) != 0 }

  /// Notes a row that was stored while references are open.
  /// - Throws: `badInput` when more are open than can be kept.
  func note(_ entry: Entry) throws(UpsurgeError) {
    entries.append(entry)
    byteCount += entry.reject.raw.count + 64 * (entry.before?.count ?? 1)
    if byteCount > Self.byteLimit { try forgetHealed() }
  }

  /// Takes back the rows that still have no parent, the last one first.
  /// - Parameters:
  ///   - taken: is told of each record whose row was taken back, and of the foreign key by index.
  ///   - refused: the error for a record that cannot be taken back, by record, foreign key and reason.
  func takeBack(
    _ taken: (Entry, Int) throws(UpsurgeError) -> Void, refused: (Entry, Int, String) -> UpsurgeError
  ) throws(UpsurgeError) {
    var isDone = entries.isEmpty
    while !isDone {
      isDone = true
      for index in entries.indices.reversed() {
        guard let key = try openKey(of: entries[index].identity) else { continue }
        let entry = entries.remove(at: index)
        guard try takeBack(entry) else {
          throw refused(entry, key, "other rows refer to its row (RESTRICT)")
        }
        try taken(entry, key)
        isDone = false
      }
    }
    clear()
  }

  /// - Returns: false when SQLite refuses.
  private func takeBack(_ entry: Entry) throws(UpsurgeError) -> Bool {
    do throws(UpsurgeError) {
      if let before = entry.before {
        try run(restore, entry.identity + before)
      } else {
        try run(remove, entry.identity)
      }
    } catch {
      guard ResultCode.primary(error.underlyingCode ?? 0) == SQLITE_CONSTRAINT else { throw error }
      return false
    }
    return sqlite3_changes(connection.handle) == 1
  }

  /// Takes over what was open before the table got new columns, which are NULL in every row that was there.
  func carry(_ open: [Entry]) {
    for entry in open {
      let before = entry.before.map { row in
        row + Array(repeating: SQLValue.null, count: writableColumns.count - row.count)
      }
      entries.append(Entry(reject: entry.reject, identity: entry.identity, before: before))
      byteCount += entry.reject.raw.count + 64 * (before?.count ?? 1)
    }
  }

  func clear() {
    entries = []
    byteCount = 0
  }

  private func forgetHealed() throws(UpsurgeError) {
    var open: [Entry] = []
    for entry in entries where try openKey(of: entry.identity) != nil { open.append(entry) }
    entries = open
    byteCount = open.reduce(0) { $0 + $1.reject.raw.count + 64 * ($1.before?.count ?? 1) }
    if byteCount <= Self.byteLimit / 2 { return }
    throw UpsurgeError(
      .badInput,
      "\(open.count) records of one transaction wait for rows that they refer to, more than can be kept",
      hint: "load the referenced table first, or commit more often (--commit-every)")
  }

  /// The foreign key of the row whose parent is missing, by index; nil when there is none, or no row.
  private func openKey(of identity: [SQLValue]) throws(UpsurgeError) -> Int? {
    for (index, value) in identity.enumerated() { try probe.bind(value, at: Int32(index + 1)) }
    defer { probe.reset() }
    guard try probe.step(), !probe.isNull(at: 0) else { return nil }
    return Int(probe.integer(at: 0))
  }

  private func run(_ statement: Statement, _ values: [SQLValue]) throws(UpsurgeError) {
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    defer { statement.reset() }
    _ = try statement.step()
  }

  /// The condition that names one row.
  private static func place(_ schema: TableSchema) throws(UpsurgeError) -> String? {
    if !schema.isWithoutRowid {
      return schema.rowidName.map { "\($0) = ?1" }
    }
    var terms: [String] = []
    for (index, column) in schema.primaryKeyColumns.enumerated() {
      terms.append("\(try SQLName.quote(column)) = ?\(index + 1)")
    }
    return terms.joined(separator: " AND ")
  }

  /// SQL for the index of a foreign key that has no parent: NULL in any of its columns asks for none.
  private static func openKey(_ schema: TableSchema) throws(UpsurgeError) -> String {
    var cases = ""
    let table = try SQLName.quote(schema.name)
    for (index, key) in schema.foreignKeys.enumerated() {
      let parents = key.parentColumns.isEmpty ? key.parentKey : key.parentColumns
      if parents.count != key.columns.count { continue }
      var notNull: [String] = []
      var matches: [String] = []
      for (column, parent) in zip(key.columns, parents) {
        let child = "\(table).\(try SQLName.quote(column))"
        notNull.append("\(child) IS NOT NULL")
        matches.append("\"upsurge_parent\".\(try SQLName.quote(parent)) = \(child)")
      }
      cases += """
         WHEN \(notNull.joined(separator: " AND ")) AND NOT EXISTS \
        (SELECT 1 FROM \(try SQLName.quote(key.parentTable)) AS "upsurge_parent" \
        WHERE \(matches.joined(separator: " AND "))) THEN \(index)
        """
    }
    return cases.isEmpty ? "NULL" : "CASE\(cases) END"
  }
}
