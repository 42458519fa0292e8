import CSQLite
import UpsurgeRecords

/// The foreign keys of one row: what they say, and which have no parent.
///
/// SQLite tells after each statement whether any reference of the transaction is open at all; only then is the row of a
/// record looked at.
final class OpenReferences {
  /// A row as it is.
  struct Look {
    /// The values of `watchedColumns`.
    var values: [SQLValue]
    /// Whether a foreign key has no parent, by index.
    var isOpen: [Bool]
  }

  private let connection: Connection
  private let schema: TableSchema
  private let probe: Statement
  private let remove: Statement
  /// Columns that refer to others, and those of the table that its own rows refer to; indexes into `schema.columns`.
  let watchedColumns: [Int]
  /// Where the columns of each foreign key stand in `watchedColumns`.
  private let places: [[Int]]
  /// Where those stand that rows of the table refer to.
  private let referredPlaces: [Int]

  /// nil where the table has no foreign key, or no row of it can be named.
  init?(_ connection: Connection, _ schema: TableSchema) throws(UpsurgeError) {
    guard schema.kind == .table, !schema.foreignKeys.isEmpty, let place = try Self.place(schema) else {
      return nil
    }
    self.connection = connection
    self.schema = schema
    var watched: [Int] = []
    func places(_ names: [String]) -> [Int] {
      names.compactMap { schema.columnIndex($0) }.map { column in
        if let place = watched.firstIndex(of: column) { return place }
        watched.append(column)
        return watched.count - 1
      }
    }
    self.places = schema.foreignKeys.map { places($0.columns) }
    referredPlaces = schema.foreignKeys.filter { SQLName.isSame($0.parentTable, schema.name) }
      .flatMap { places($0.parentColumns.isEmpty ? $0.parentKey : $0.parentColumns) }
    watchedColumns = watched
    let table = try SQLName.quote(schema.name)
    let values = try schema.terms(watched)
    probe = try connection.prepare(
      "SELECT \(values), \(try Self.openKeys(schema)) FROM \(table) WHERE \(place)", isPersistent: true)
    remove = try connection.prepare("DELETE FROM \(table) WHERE \(place)")
  }

  /// Whether a reference of any table is open in this transaction.
  var isAnyOpen: Bool { connection.status(SQLITE_DBSTATUS_DEFERRED_FKS) != 0 }

  /// Looks at a row; nil when there is none.
  /// - Parameter identity: the rowid, or the primary key of a table without rowids.
  func look(at identity: [SQLValue]) throws(UpsurgeError) -> Look? {
    for (index, value) in identity.enumerated() { try probe.bind(value, at: Int32(index + 1)) }
    defer { probe.reset() }
    guard try probe.step() else { return nil }
    let count = watchedColumns.count
    return Look(
      values: (0..<count).map { SQLValue(probe.handle, column: Int32($0)) },
      isOpen: places.indices.map { probe.integer(at: Int32(count + $0)) != 0 })
  }

  /// Whether a record has set a foreign key, by what `watchedColumns` said before and say now.
  func isSet(_ key: Int, from before: [SQLValue], to now: [SQLValue]) -> Bool {
    places[key].contains { before[$0] != now[$0] }
  }

  /// Whether the row lets others refer to it by other values than before.
  func hasMoved(from before: [SQLValue], to now: [SQLValue]) -> Bool {
    referredPlaces.contains { before[$0] != now[$0] }
  }

  /// Whether a foreign key refers to nothing, because one of its columns is NULL.
  func isNull(_ key: Int, _ values: [SQLValue]) -> Bool { places[key].contains { values[$0] == .null } }

  /// Deletes a row; what it brings about is to be rolled back.
  /// - Returns: false when SQLite refuses.
  func delete(_ identity: [SQLValue]) throws(UpsurgeError) -> Bool {
    for (index, value) in identity.enumerated() { try remove.bind(value, at: Int32(index + 1)) }
    defer { remove.reset() }
    do throws(UpsurgeError) { _ = try remove.step() } catch {
      guard ResultCode.primary(error.underlyingCode ?? 0) == SQLITE_CONSTRAINT else { throw error }
      return false
    }
    return true
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

  /// SQL that says of each foreign key whether it has no parent: NULL in any of its columns asks for none.
  private static func openKeys(_ schema: TableSchema) throws(UpsurgeError) -> String {
    var terms: [String] = []
    let table = try SQLName.quote(schema.name)
    for key in schema.foreignKeys {
      let parents = key.parentColumns.isEmpty ? key.parentKey : key.parentColumns
      if parents.count != key.columns.count {
        terms.append("0")
        continue
      }
      var notNull: [String] = []
      var matches: [String] = []
      for (column, parent) in zip(key.columns, parents) {
        let child = "\(table).\(try SQLName.quote(column))"
        notNull.append("\(child) IS NOT NULL")
        matches.append("\"upsurge_parent\".\(try SQLName.quote(parent)) = \(child)")
      }
      terms.append(
        """
        (\(notNull.joined(separator: " AND ")) AND NOT EXISTS \
        (SELECT 1 FROM \(try SQLName.quote(key.parentTable)) AS "upsurge_parent" \
        WHERE \(matches.joined(separator: " AND "))))
        """)
    }
    return terms.joined(separator: ", ")
  }
}
