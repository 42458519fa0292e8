/// A table that a run makes. It has a name of the engine's own until its key holds, so that nobody sees half of its rows, or rows twice.
///
///     CREATE TABLE "upsurge_new_t" (…)                          before the first batch
///     COPY "upsurge_new_t" …                                    each batch
///     ALTER TABLE … ADD PRIMARY KEY …; ALTER TABLE … RENAME     at the end
package struct NewTable: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package var name: String
    /// Type, collation and constraints, as CREATE TABLE takes them.
    package var definition: String

    package init(_ name: String, _ definition: String) { (self.name, self.definition) = (name, definition) }
  }

  package struct Index: Sendable, Equatable {
    package var columns: [String]
    package var isUnique: Bool

    package init(_ columns: [String], isUnique: Bool = false) {
      (self.columns, self.isUnique) = (columns, isUnique)
    }
  }

  package var schema: String
  package var name: String
  package var columns: [Column]
  /// The columns of its primary key; empty for none.
  package var key: [String]
  package var indexes: [Index]
  /// Whether it has its key before its rows: where the input cannot be read again, or a key is known to come twice.
  package var isKeyedFirst = false
  /// The number of the run that fills it; nil where one transaction does all.
  package var run: Int64?

  package init(schema: String, name: String, columns: [Column], key: [String], indexes: [Index] = []) {
    (self.schema, self.name, self.columns, self.key, self.indexes) = (schema, name, columns, key, indexes)
  }

  /// The name until it is complete; the same for each run that makes this table.
  package var ownName: String {
    let name = "upsurge_new_" + name
    if name.utf8.count <= 63 { return name }
    // Longer names would be cut, and two of them might become one.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return "upsurge_new_" + String(hash, radix: 16)
  }

  /// What the table is in the end, as statements that people may read.
  package var statements: [String] {
    let list = columns.map { "  \($0.name.quotedForPostgres) \($0.definition)" }
    let lines = list + (key.isEmpty ? [] : ["  PRIMARY KEY (\(Self.list(key)))"])
    return [
      "CREATE TABLE \(schema.quotedForPostgres).\(name.quotedForPostgres) (\n\(lines.joined(separator: ",\n"))\n)"
    ] + indexCreations
  }

  /// The name that it has in the end, as statements name it.
  var quotedName: String { "\(schema.quotedForPostgres).\(name.quotedForPostgres)" }

  var ownQuotedName: String { "\(schema.quotedForPostgres).\(ownName.quotedForPostgres)" }

  /// Columns of the key are NOT NULL from the beginning: else all rows would be read for that when the key is added.
  var creation: String {
    let list = columns.map {
      "\($0.name.quotedForPostgres) \($0.definition)\(key.contains($0.name) ? " NOT NULL" : "")"
    }
    return "CREATE TABLE \(ownQuotedName) (\(list.joined(separator: ", ")));"
      + " COMMENT ON TABLE \(ownQuotedName) IS '\(mark)'"
  }

  /// What is said of a table that a run fills: nobody else's is ever dropped, and no other run's filled.
  var mark: String { Self.mark + (run.map { " in run \($0)" } ?? "") }

  /// How each mark begins.
  static let mark = "upsurge fills this table"

  /// Makes all of it, and takes it away: what the server has against names and types, it says before there are rows.
  var trial: [String] {
    [creation, keyAddition(hasOwnName: false), renaming].compactMap { $0 } + indexCreations
      + ["DROP TABLE \(schema.quotedForPostgres).\(name.quotedForPostgres)"]
  }

  /// - Parameter hasOwnName: whether the name that PostgreSQL would give to the key is free.
  func keyAddition(hasOwnName: Bool) -> String? {
    if key.isEmpty { return nil }
    let constraint = hasOwnName ? "CONSTRAINT \(keyName.quotedForPostgres) " : ""
    return "ALTER TABLE \(ownQuotedName) ADD \(constraint)PRIMARY KEY (\(Self.list(key)))"
  }

  /// Indexes are named by the server, and only when the table has its name.
  var indexCreations: [String] {
    indexes.map {
      "CREATE \($0.isUnique ? "UNIQUE " : "")INDEX ON \(schema.quotedForPostgres).\(name.quotedForPostgres) (\(Self.list($0.columns)))"
    }
  }

  var renaming: String {
    "ALTER TABLE \(ownQuotedName) RENAME TO \(name.quotedForPostgres); COMMENT ON TABLE \(schema.quotedForPostgres).\(name.quotedForPostgres) IS NULL"
  }

  var keyName: String { name + "_pkey" }

  private static func list(_ names: [String]) -> String {
    names.map(\.quotedForPostgres).joined(separator: ", ")
  }

  /// What its key will be.
  func futureKey(of table: PostgresTable) -> PostgresIndex? {
    key.isEmpty ? nil : PostgresIndex(named: keyName, on: key, of: table, isPrimary: true)
  }
}

extension PostgresIndex {
  /// A key on columns that is yet to be made.
  init(named name: String, on columns: [String], of table: PostgresTable, isPrimary: Bool = false) {
    let parts = columns.map { name in
      Part(column: name, definition: name.quotedForPostgres, collation: table.column(name)?.collation)
    }
    self.init(
      name: name, parts: parts, isPrimary: isPrimary, isValid: true, isImmediate: true, predicate: nil,
      treatsNullsAsEqual: false)
  }
}
