/// What the records of a batch are to a table: which columns they have, which row each one is about, and what becomes of that row.
///
/// Statements take the records from a source, `s`, with the number of each in `upsurge_ord`: the staging table, or arrays that
/// are parameters.
package struct RecordShape: Sendable, Equatable {
  package let table: PostgresTable
  package let key: PostgresIndex?
  /// The table's columns that the records have, in the order of the source.
  package let columns: [PostgresColumn]
  package let rules: OrderedRules
  /// Columns that are written as text, and cast by the statement.
  package var textColumns: Set<String> = []

  /// - Parameters:
  ///   - key: which row a record is about; nil inserts.
  ///   - columns: names that the table has.
  package init(_ table: PostgresTable, key: PostgresIndex?, columns names: [String], rules: OrderedRules) {
    self.table = table
    self.key = key
    self.rules = rules
    columns = names.map { name in
      guard let column = table.column(name) else {
        preconditionFailure("the table has no column of that name")
      }
      return column
    }
  }

  /// How the columns are written.
  package var binaryColumns: [BinaryColumn] { columns.map(binary) }

  func binary(_ column: PostgresColumn) -> BinaryColumn {
    textColumns.contains(column.name) ? BinaryColumn(.castText) : BinaryColumn(column)
  }

  var names: [String] { columns.map(\.name.quotedForPostgres) }

  /// Whether the server reads JSON as it arrives: in a COPY, or as a parameter. One that is bad fails there with all others.
  var sendsJSON: Bool { columns.contains { [.json, .jsonb].contains(binary($0).form) } }

  /// Sends JSON as text from now on, which a statement reads: it can be halved, and the server be asked which one is bad.
  /// - Returns: false where all of it is text already.
  mutating func castJSON() -> Bool {
    if !sendsJSON { return false }
    textColumns.formUnion(columns.filter { [.json, .jsonb].contains(BinaryColumn($0).form) }.map(\.name))
    return true
  }

  /// The fields of which a NULL is refused whatever row the record is about, so that the server need not be asked.
  ///
  ///     a BEFORE trigger, a rule            may fill it                    none
  ///     a policy                            would refuse first             none
  ///     partitions, views, foreign tables   may have triggers elsewhere    none
  ///     a condition, rows that stay         may leave the record alone     none
  ///     rows that only change or go         may find no row                none
  ///     SQL of the column's own             may make a value of it         not this one
  ///     a default, a sequence, a domain     says what NULL means           not this one
  var neededFields: [Int] {
    let mayFill = table.triggers.contains { $0.isForEachRow && ($0.isBefore || $0.isInsteadOf) }
    guard table.kind == .table, !mayFill, table.rules.isEmpty, !table.hasRowSecurity, rules.condition == nil,
      rules.conflict != .ignore, rules.action == .store
    else { return [] }
    return columns.indices.filter { index in
      let column = columns[index]
      return column.isProvenNotNull && !column.isDomain && column.defaultExpression == nil
        && column.generation == nil
        && column.sequence == nil && rules.changes[column.name] ?? .replace == .replace
    }
  }

  // MARK: - The key

  /// The fields of the key's columns; nil where a part is an expression, or no column of the records.
  var keyFields: [Int]? {
    let fields = key?.parts.compactMap { part in columns.firstIndex { $0.name == part.column } }
    return fields?.count == key?.parts.count ? fields : nil
  }

  /// Whether the client can see by the bytes that a key comes again.
  package var hasComparableKey: Bool {
    guard let key, key.predicate == nil, let fields = keyFields else { return false }
    return zip(key.parts, fields).allSatisfy { part, field in
      !columns[field].isDomain && binary(columns[field]).hasUniqueBytes
        && part.collation?.isDeterministic ?? true
    }
  }

  /// Whether the client knows the order in which the server sorts keys.
  package var hasSortableKey: Bool {
    guard hasComparableKey, let key, !key.treatsNullsAsEqual, let fields = keyFields else { return false }
    return zip(key.parts, fields).allSatisfy { part, field in
      binary(columns[field]).form != .text
        || part.collation?.isBytewise == true && columns[field].collation?.isBytewise == true
    }
  }

  /// The columns that an update writes: not those of the key.
  var changedColumns: [PostgresColumn] {
    let parts = Set(key?.parts.compactMap(\.column) ?? [])
    let own = Set(columns.map(\.name))
    // A rule of SQL may be about a column that the records lack: `--set seen=now()`.
    let others = table.columns.filter {
      !own.contains($0.name) && rules.changes[$0.name] != nil && $0.isWritable
    }
    return (columns + others).filter { !parts.contains($0.name) }
  }

  /// Whether the order in which rows are stored shows: a sequence, or another default, fills a column.
  var hasCountingDefaults: Bool {
    let own = Set(columns.map(\.name))
    return table.columns.contains {
      !own.contains($0.name) && ($0.sequence != nil || $0.defaultExpression != nil) && $0.isWritable
    }
  }
}
