import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// The foreign keys of one row: what they say, and which have no parent.
///
/// SQLite says after each statement whether any reference of the transaction is open at all; only then is the row of a
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
  /// Finds the parent of a row in the same table; by foreign key, nil for one that refers to another table.
  private let parents: [Statement?]
  /// Columns that refer to others, and those of the table that its own rows refer to; indexes into `schema.columns`.
  let watchedColumns: [Int]
  /// Where the columns of each foreign key stand in `watchedColumns`.
  private let places: [[Int]]
  /// Where those stand that rows of the same table refer to by each of them; of one to another table, none.
  private let referredPlaces: [[Int]]

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
    referredPlaces = schema.foreignKeys.map {
      SQLName.isSame($0.parentTable, schema.name) ? places($0.referredColumns) : []
    }
    watchedColumns = watched
    let table = try SQLName.quote(schema.name)
    let values = try schema.terms(watched)
    probe = try connection.prepare(
      "SELECT \(values), \(try Self.openKeys(schema)) FROM \(table) WHERE \(place)", isPersistent: true)
    var parents: [Statement?] = []
    for key in schema.foreignKeys {
      let sql = SQLName.isSame(key.parentTable, schema.name) ? try Self.parent(schema, key, in: schema) : nil
      parents.append(try sql.map { (sql) throws(UpsurgeError) in try connection.prepare(sql) })
    }
    self.parents = parents
  }

  /// Whether a reference of any table is open in this transaction.
  var isAnyOpen: Bool { connection.status(SQLITE_DBSTATUS_DEFERRED_FKS) != 0 }

  /// How many rows were looked at or looked for.
  private(set) var lookCount = 0

  /// Looks at a row; nil without one.
  /// - Parameter identity: the rowid, or the primary key of a table without rowids.
  func look(at identity: [SQLValue]) throws(UpsurgeError) -> Look? {
    lookCount += 1
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
    referredPlaces.contains { $0.contains { before[$0] != now[$0] } }
  }

  /// Whether the row was its own parent by a foreign key.
  func wasOwnParent(_ key: Int, _ before: [SQLValue]) -> Bool {
    let parents = referredPlaces[key]
    return !parents.isEmpty && parents.count == places[key].count
      && zip(places[key], parents).allSatisfy { before[$0] == before[$1] }
  }

  /// Whether a foreign key refers to nothing, because one of its columns is NULL.
  func isNull(_ key: Int, _ values: [SQLValue]) -> Bool { places[key].contains { values[$0] == .null } }

  /// What names the row of the same table that a row refers to by a foreign key; nil without one.
  func parent(of identity: [SQLValue], key: Int) throws(UpsurgeError) -> [SQLValue]? {
    guard let find = parents[key] else { return nil }
    lookCount += 1
    for (index, value) in identity.enumerated() { try find.bind(value, at: Int32(index + 1)) }
    defer { find.reset() }
    guard try find.step() else { return nil }
    return identity.indices.map { SQLValue(find.handle, column: Int32($0)) }
  }

  /// SQL that finds what names the parent of a row, by what names the row; nil where either has no name.
  static func parent(
    _ schema: TableSchema, _ key: TableSchema.ForeignKey, in parent: TableSchema
  ) throws(UpsurgeError) -> String? {
    guard let place = try place(schema), key.referredColumns.count == key.columns.count else { return nil }
    var names: [String] = []
    if parent.isWithoutRowid {
      for column in parent.primaryKeyColumns { names.append(try SQLName.quote(column)) }
    } else if let rowid = parent.rowidName {
      names = [rowid]
    }
    if names.isEmpty { return nil }
    return """
      SELECT \(names.map { "\"upsurge_parent\".\($0)" }.joined(separator: ", ")) \
      FROM \(try SQLName.quote(schema.name)) CROSS JOIN \(try SQLName.quote(parent.name)) AS "upsurge_parent" \
      WHERE \(place) AND \(try matches(schema, key, key.referredColumns))
      """
  }

  /// SQL that compares the row with its parent. The `+` leaves the comparison to the affinity and the collation of the
  /// parent's columns, as SQLite does for foreign keys.
  private static func matches(
    _ schema: TableSchema, _ key: TableSchema.ForeignKey, _ parents: [String]
  ) throws(UpsurgeError) -> String {
    let table = try SQLName.quote(schema.name)
    var terms: [String] = []
    for (column, parent) in zip(key.columns, parents) {
      terms.append(
        "\"upsurge_parent\".\(try SQLName.quote(parent)) = +\(table).\(try SQLName.quote(column))")
    }
    return terms.joined(separator: " AND ")
  }

  /// The condition that names one row.
  private static func place(_ schema: TableSchema) throws(UpsurgeError) -> String? {
    if !schema.isWithoutRowid {
      return try schema.rowidName.map { (name) throws(UpsurgeError) in
        "\(try SQLName.quote(schema.name)).\(name) = ?1"
      }
    }
    var terms: [String] = []
    let table = try SQLName.quote(schema.name)
    for (index, column) in schema.primaryKeyColumns.enumerated() {
      terms.append("\(table).\(try SQLName.quote(column)) = ?\(index + 1)")
    }
    return terms.joined(separator: " AND ")
  }

  /// SQL that says of each foreign key whether it has no parent: NULL in any of its columns asks for none.
  private static func openKeys(_ schema: TableSchema) throws(UpsurgeError) -> String {
    var terms: [String] = []
    let table = try SQLName.quote(schema.name)
    for key in schema.foreignKeys {
      let parents = key.referredColumns
      if parents.count != key.columns.count {
        terms.append("0")
        continue
      }
      var notNull: [String] = []
      for column in key.columns { notNull.append("\(table).\(try SQLName.quote(column)) IS NOT NULL") }
      terms.append(
        """
        (\(notNull.joined(separator: " AND ")) AND NOT EXISTS \
        (SELECT 1 FROM \(try SQLName.quote(key.parentTable)) AS "upsurge_parent" \
        WHERE \(try matches(schema, key, parents))))
        """)
    }
    return terms.joined(separator: ", ")
  }
}
