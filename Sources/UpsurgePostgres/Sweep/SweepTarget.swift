import Upsurge
import UpsurgeRecords
import UpsurgeStorage

/// What a sweep is about: the rows, and how records find theirs.
struct SweepTarget {
  /// As messages and notes name the table.
  let name: String
  let rows: SweptRows
  /// The records' columns of the key, and the slot of each; nil of a table that the run makes, all of whose rows come with it.
  let keys: (shape: RecordShape, slots: [Int])?
  /// Whether rows of the table may go with others of it.
  let isReferredToByItself: Bool
  /// The OID of the table; nil of one that the run makes.
  let oid: UInt32?
  /// The name that a table which the run makes has in the end, quoted; nil of one that is there.
  let finalName: String?
}

extension SweepTarget {
  /// - Parameters:
  ///   - key: by which records find their rows.
  ///   - slot: that of a column of the table in the records.
  /// - Throws: `usage` for a table whose rows cannot be told apart, or a column that cannot mark them.
  init(
    _ name: String, of table: PostgresTable, key: PostgresIndex?, rules: SnapshotRules,
    _ capabilities: Capabilities, slot: (String) -> Int?
  ) throws(UpsurgeError) {
    try Self.check(name, table, capabilities)
    guard let key else { throw .sweepWithoutKey(of: name) }
    let columns = key.parts.compactMap { $0.column.flatMap(table.column) }
    let findsNull = key.treatsNullsAsEqual && !columns.allSatisfy(\.isNotNull)
    guard let names = key.columns, key.predicate == nil, !findsNull else {
      throw UpsurgeError(
        .usage,
        "table \(name.escapedForTerminal) cannot be swept by the key \(key.name.escapedForTerminal): only a key of whole columns, for all rows, finds "
          + "each record's row again",
        hint: "name columns that have a PRIMARY KEY or UNIQUE index together")
    }
    let slots = names.compactMap(slot)
    guard columns.count == names.count, slots.count == names.count else { throw .sweepWithoutKey(of: name) }
    var mark: RowMark?
    if case .soft(let column) = rules.sweep { mark = try RowMark(column, in: table, key: names) }
    self.name = name
    let shape = RecordShape(table, key: key, columns: names, rules: OrderedRules())
    rows = SweptRows(
      quotedName: table.ownRows, alias: table.name.quotedForPostgres, key: columns,
      collations: key.parts.map(shape.collating), scope: rules.scope, mark: mark)
    keys = (shape, slots)
    isReferredToByItself = table.constraints.contains { constraint in
      if case .foreignKey(_, isOwnTable: true) = constraint.kind { return true }
      return false
    }
    (oid, finalName) = (table.oid, nil)
  }

  /// - Parameter table: nil where the run makes it.
  private static func check(
    _ name: String, _ table: PostgresTable?, _ capabilities: Capabilities
  ) throws(UpsurgeError) {
    let hint: Wording = "\(saying: Wording("sweep: none")) leaves rows alone"
    let shown = name.escapedForTerminal
    guard capabilities.family == .postgreSQL, capabilities.hasTemporaryTables, capabilities.hasSavepoints else {
      throw UpsurgeError(
        .usage,
        "table \(shown) cannot be swept: \(capabilities.family == .postgreSQL ? "the user may make no temporary table, which holds the keys of the delivery" : "that is not done on \(capabilities.family.name) yet")",
        hint: hint)
    }
    guard let table else { return }
    guard table.kind == .table || table.kind == .partitioned, !table.hasForeignPartitions else {
      throw UpsurgeError(.usage, "\(shown) cannot be swept: its rows cannot be told apart", hint: hint)
    }
  }

  /// Of a table that the run makes.
  /// - Throws: `usage` where the rows of the next delivery could not be told apart.
  init(
    _ name: String, making: NewTable, rules: SnapshotRules, _ capabilities: Capabilities
  ) throws(UpsurgeError) {
    try Self.check(name, nil, capabilities)
    if making.key.isEmpty { throw .sweepWithoutKey(of: name) }
    self.name = name
    let columns = making.key.map { name in
      PostgresColumn(
        number: 0, name: name, type: 0, typeName: "", baseType: 0, modifier: -1, isDomain: false, isNotNull: true,
        hasEquality: true)
    }
    // No row of it is marked yet.
    rows = SweptRows(
      quotedName: making.ownQuotedName, alias: making.name.quotedForPostgres, key: columns,
      collations: columns.map { _ in "" }, scope: rules.scope, mark: nil)
    keys = nil
    isReferredToByItself = false
    (oid, finalName) = (nil, making.quotedName)
  }
}
