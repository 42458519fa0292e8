/// The table of a run, ready to be written to: found in the database, or made from the input.
struct PreparedTable {
  let facts: TableFacts
  /// The run's first columns, in slot order.
  var columns: ColumnRegistry
  private(set) var plan: UpsertPlan
  /// The CREATE TABLE that was executed, if the table is new.
  let createdSQL: String?
  /// The CREATE UNIQUE INDEX of `--create-key`, if it was executed.
  private(set) var keySQL: String?

  /// Fields of the first source that a delete does not need and the table lacks.
  private(set) var unneededFields: [String] = []
  /// Warnings of the summary about `unneededFields`.
  private(set) var leftOut = WarningLog()

  /// Columns that were added for a plan that is only shown.
  private(set) var additions: [(name: String, type: String, sql: String)] = []

  /// Columns that were found to hold numbers and lose how some are written, each with its first such value.
  private(set) var respelled: [(column: String, value: String)] = []

  /// All that was made before the first record.
  var createdStatements: [String] { [createdSQL, keySQL].compactMap { $0 } }

  /// Finds or makes the table. A table is made in a transaction that stays open for the first records; it begins
  /// after the types were found, so that other writers do not wait for that.
  ///
  /// - Parameters:
  ///   - others: the sources after `source`; `--infer full` reads them too.
  ///   - wasMade: whether an earlier part of the run has made the table, which then counts as new.
  /// - Throws: `usage` when the key does not fit, `guardRefused` when the table must not be made or lacks a
  ///   column, and what inference throws.
  static func prepare(
    _ name: String, for source: PreparedSource, others: ArraySlice<Source>, on connection: Connection,
    options: LoadOptions, wasMade: Bool = false
  ) throws(UpsurgeError) -> PreparedTable {
    if let schema = try TableSchema.read(connection, table: name) {
      if wasMade {
        return try made(
          schema, for: source, isOnlySource: others.isEmpty, on: connection, options: options)
      }
      return try existing(
        schema, on: connection, for: source, isOnlySource: others.isEmpty, options: options)
    }
    guard options.table.createsTable else {
      if options.table.contract == .quarantine {
        return try missing(
          name, on: connection, for: source, isOnlySource: others.isEmpty, options: options)
      }
      throw UpsurgeError(
        .guardRefused, "there is no table \(name), and \(.create, "never") says not to make it",
        hint: "leave out \(.create, "never"), or make the table first")
    }
    if options.table.contract != .quarantine { try options.checkMode(withoutTable: name) }
    try source.checkWrapper(for: TableFacts(name: name, isNew: true, columns: [], addsColumns: true))
    let inferred = try infer(source, others: others, options: options)
    try connection.beginWriting()
    if let schema = try TableSchema.read(connection, table: name) {
      // Another process was faster.
      try connection.rollBackWriting()
      return try existing(
        schema, on: connection, for: source, isOnlySource: others.isEmpty, options: options)
    }
    let hasOneHeader = others.isEmpty && !source.isJSON
    let control = try control(for: source, isOnlySource: others.isEmpty, options: options) { _ in false }
    let stored = inferred.filter { !SQLName.isSame($0.name, control?.name ?? "") }
    var definition = try TableDefinition(
      name: name, inferred: stored, options: options, mustKnowTypes: hasOneHeader)
    if definition.columns.count > connection.columnLimit {
      throw PreparedSource.tooManyColumns(
        definition.columns.count, in: source.opened.name, limit: connection.columnLimit,
        hint: "\(.columns, "A,B") loads only some")
    }
    if try options.needsKeyIndex(table: name, columns: definition.columns.map(\.name)) {
      definition.keyColumns = []
    }
    let given = Set(options.table.types.keys.map(SQLName.folded))
    let guessed = stored.filter { !given.contains(SQLName.folded($0.name)) }
    // What is said of the sample is not said again of each value.
    let watched = Set(guessed.filter { $0.respelled == nil }.map { SQLName.folded($0.name) })
    var table = try new(definition, watching: watched, control: control, on: connection, options: options)
    table.respelled = guessed.compactMap { column in column.respelled.map { (column.name, $0) } }
    return table
  }

  private static func existing(
    _ schema: TableSchema, on connection: Connection, for source: PreparedSource, isOnlySource: Bool,
    options: LoadOptions
  ) throws(UpsurgeError) -> PreparedTable {
    try checkTypes(of: schema, options: options)
    let schema = schema.namingRowid(for: options.rules.target)
    let keySQL = try makeKey(schema, on: connection, options: options)
    let keyed = keySQL == nil ? nil : try TableSchema.read(connection, table: schema.name)
    var table = try existing(
      keyed ?? schema, columnLimit: connection.columnLimit, for: source, isOnlySource: isOnlySource,
      options: options)
    try checkTriggers(of: table.plan, on: connection)
    try table.plan.checkRules(on: connection)
    table.keySQL = keySQL
    return table
  }

  /// Makes the UNIQUE index that `--create-key` asks for, in a transaction that stays open.
  /// - Returns: the statement; nil where nothing is to be made.
  private static func makeKey(
    _ schema: TableSchema, on connection: Connection, options: LoadOptions
  ) throws(UpsurgeError) -> String? {
    guard options.indexes.createsKey, case .columns(let columns, let predicate) = options.rules.target,
      schema.kind == .table, !schema.hasKey(columns, where: predicate)
    else { return nil }
    let sql = try UpsertPlan.createKeySQL(columns, where: predicate, schema: schema)
    // The transaction of a new table is open already.
    if connection.isInAutocommit { try connection.beginWriting() }
    do throws(UpsurgeError) {
      try connection.interruptible { () throws(UpsurgeError) in
        try connection.withoutQuotedStrings { () throws(UpsurgeError) in try connection.execute(sql) }
      }
    } catch {
      guard error.isUniqueViolation else {
        guard error.code == .database else { throw error }
        throw UpsurgeError(
          .usage, "\(.createKey) cannot make the key: \(error.message)", snippet: sql.escapedForTerminal,
          hint: "\(.key) and \(.keyWhere) take columns of the table and SQL over them")
      }
      throw UpsurgeError(
        .usage,
        "\(.createKey) cannot make the key: table \(schema.name.escapedForTerminal) has rows that share a value of "
          + "(\(columns.joined(separator: ", ").escapedForTerminal))",
        snippet: sql.escapedForTerminal,
        hint: "remove the double rows first, or name columns that tell them apart")
    }
    return sql
  }

  /// The column that says which records are deletes, where the table lacks it: read, but not stored.
  private static func control(
    for source: PreparedSource, isOnlySource: Bool, options: LoadOptions, isInTable: (String) -> Bool
  ) throws(UpsurgeError) -> ColumnTarget? {
    guard let name = options.rules.tombstone?.column else { return nil }
    try options.checkTombstone(name, in: source, isOnlySource: isOnlySource)
    if isInTable(name) { return nil }
    return ColumnTarget(name: name, affinity: .none, spellingPolicy: .warn)
  }

  /// The columns of the first source, or under `--infer full` of all of them.
  /// - Throws: `usage` where one after the first can be read only once.
  private static func infer(
    _ source: PreparedSource, others: ArraySlice<Source>, options: LoadOptions
  ) throws(UpsurgeError) -> [InferredColumn] {
    var columns = try source.inferColumnsOfNewTable(options: options)
    guard options.table.inference == .full else { return columns }
    for next in others {
      let other = try PreparedSource.prepare(next, options: options, cancellation: source.opened.cancellation)
      // Its records would be gone when they are to be stored.
      if !other.opened.isSeekable {
        throw other.cannotReadTwice(why: "\(.infer, "full") reads the input twice")
      }
      if other.isBlank { continue }
      for seen in try other.inferColumns(options: options) {
        if let index = columns.firstIndex(where: { SQLName.isSame($0.name, seen.name) }) {
          let isKey = !other.isJSON && options.rules.key.contains { SQLName.isSame($0, seen.name) }
          columns[index].join(seen, isKey: isKey)
        } else {
          columns.append(seen)
        }
      }
    }
    return columns
  }

  /// Plans again after indexes or triggers of the table were set aside.
  /// - Throws: `database` where another program has changed the columns meanwhile.
  mutating func replan(on connection: Connection) throws(UpsurgeError) {
    guard let schema = try TableSchema.read(connection, table: facts.name) else {
      throw plan.schema.columnsHaveChanged
    }
    try schema.checkTakesRows(of: plan.schema)
    plan = try plan.replanned(
      schema: schema, columns: plan.columns, toleratesUnknownColumns: facts.quarantinesUnknown)
  }

  /// Adds the columns that only the input has, which a run does with its first records, and plans with them; for a plan
  /// that is only shown. The transaction stays open.
  mutating func addColumns(on connection: Connection) throws(UpsurgeError) {
    let missing = columns.targets.dropFirst(plan.columns.count)
    guard facts.addsColumns, !facts.isNew, !missing.isEmpty else { return }
    let isStrict = plan.schema.isStrict
    if connection.isInAutocommit { try connection.beginWriting() }
    for target in missing {
      let type = TableDefinition.declaredType(for: target.affinity, isStrict: isStrict)
      let sql = try TableDefinition.addColumnSQL(
        table: facts.name, column: TableDefinition.Column(name: target.name, declaredType: type),
        isStrict: isStrict)
      try connection.execute(sql)
      additions.append((target.name, type, sql))
    }
    guard let schema = try TableSchema.read(connection, table: facts.name) else { return }
    plan = try UpsertPlan(schema: schema, rules: plan.rules, columns: columns.targets)
  }

  private static func existing(
    _ schema: TableSchema, columnLimit: Int, for source: PreparedSource, isOnlySource: Bool,
    options: LoadOptions
  ) throws(UpsurgeError) -> PreparedTable {
    try checkView(schema)
    try checkRulesAlong(of: schema, options: options)
    let facts = facts(of: schema, columnLimit: columnLimit, options: options)
    var columns = knownColumns(facts, for: source, options: options)
    let isInTable = { (name: String) in schema.columnIndex(name) != nil }
    let control = try control(
      for: source, isOnlySource: isOnlySource, options: options, isInTable: isInTable)
    if let control { columns.add(control) }
    if !isOnlySource, let tombstone = options.rules.tombstone?.column, columns.slot(named: tombstone) == nil,
      let column = facts.column(named: tombstone)
    {
      // A later file may have it.
      columns.add(column)
    }
    let (rules, hasNames) = try rules(for: source, schema: schema, options: options)
    let isKnown = { (target: ColumnTarget) in isInTable(target.name) || target == control }
    _ = try source.makeParser(columns: &columns, table: facts, options: options)
    // What is added to the table comes with its first batch; what is only kept has no place to wait for.
    let known = facts.quarantinesUnknown ? columns.targets : columns.targets.filter(isKnown)
    let plan = try UpsertPlan(
      schema: schema, rules: rules, columns: known, toleratesUnknownColumns: facts.quarantinesUnknown)
    precondition(Array(columns.targets.prefix(known.count)) == known, "new columns come last")
    if hasNames { try checkKey(of: plan, options: options) }
    var table = PreparedTable(facts: facts, columns: columns, plan: plan, createdSQL: nil)
    if facts.leavesOutUnknown { try table.noteUnneededFields(of: source, options: options) }
    return table
  }

  /// What the parser is told of a table that exists.
  private static func facts(of schema: TableSchema, columnLimit: Int, options: LoadOptions) -> TableFacts {
    var facts = TableFacts(
      name: schema.name, isNew: false,
      columns: schema.targets(
        spellingPolicy: .warn, rules: options.rules, consented: options.table.consentedColumns),
      addsColumns: options.table.contract == .evolve && options.rules.mode != .delete,
      quarantinesUnknown: options.table.contract == .quarantine)
    facts.columnLimit = columnLimit
    facts.rowid = TableFacts.Rowid(of: schema)
    facts.unfilledColumnCount = schema.columns.count - facts.columns.count
    facts.leavesOutUnknown = options.rules.mode == .delete && options.table.contract != .quarantine
    return facts
  }

  /// The columns that are known before the input has named its own.
  private static func knownColumns(
    _ facts: TableFacts, for source: PreparedSource, options: LoadOptions
  ) -> ColumnRegistry {
    var columns = ColumnRegistry()
    if source.isJSON || source.isBlank {
      // JSON names its columns as it goes, and an empty file none; all that the table has are known from the start. The
      // mark of rows that are gone is the sweep's.
      for column in facts.columns where !SQLName.isSame(column.name, options.rules.softColumn ?? "") {
        columns.add(column)
      }
    }
    for name in options.delivery.feed?.nulledColumns ?? [] where columns.slot(named: name) == nil {
      if let column = facts.column(named: name) { columns.add(column) }
    }
    return columns
  }

  /// The rules for a table that exists: its primary key is the default key only where the records have it.
  /// - Returns: also whether the input has names that the key can be looked for among.
  private static func rules(
    for source: PreparedSource, schema: TableSchema, options: LoadOptions
  ) throws(UpsurgeError) -> (UpsertRules, hasNames: Bool) {
    var rules = options.rules
    guard rules.mode == nil, source.isJSON, rules.target == .primaryKey else { return (rules, true) }
    let seen = try source.inferColumns(options: options).map(\.name)
    if !schema.primaryKeyColumns.allSatisfy({ key in seen.contains { SQLName.isSame($0, key) } }) {
      rules.mode = .insert
    }
    return (rules, !seen.isEmpty)
  }

  /// Notes which fields of a CSV source are left out, because a delete does not need them.
  private mutating func noteUnneededFields(of source: PreparedSource, options: LoadOptions)
    throws(UpsurgeError)
  {
    guard case .csv(let sniffed) = source.shape else { return }
    unneededFields = try FieldSelection(options: options).columnNames(
      of: sniffed.headerNames, file: source.opened.name
    ).compactMap { $0 }.filter { columns.slot(named: $0) == nil }
    for name in unneededFields {
      leftOut.add(.columnSkipped, column: name, at: Position(file: source.opened.name))
    }
  }

  /// No table, and none is made: every record is kept.
  private static func missing(
    _ name: String, on connection: Connection, for source: PreparedSource, isOnlySource: Bool,
    options: LoadOptions
  ) throws(UpsurgeError) -> PreparedTable {
    var facts = TableFacts(
      name: name, isNew: false, columns: [], addsColumns: false, quarantinesUnknown: true)
    facts.columnLimit = connection.columnLimit
    var columns = ColumnRegistry()
    if let control = try control(
      for: source, isOnlySource: isOnlySource, options: options, isInTable: { _ in false })
    {
      columns.add(control)
    }
    _ = try source.makeParser(columns: &columns, table: facts, options: options)
    let plan = try UpsertPlan(
      schema: TableSchema(missing: name), rules: options.rules, columns: columns.targets,
      toleratesUnknownColumns: true)
    return PreparedTable(facts: facts, columns: columns, plan: plan, createdSQL: nil)
  }

  /// A table that an earlier part of the run has made.
  private static func made(
    _ schema: TableSchema, for source: PreparedSource, isOnlySource: Bool, on connection: Connection,
    options: LoadOptions
  ) throws(UpsurgeError) -> PreparedTable {
    let control = try control(for: source, isOnlySource: isOnlySource, options: options) {
      schema.columnIndex($0) != nil
    }
    return try new(schema, control: control, on: connection, options: options, createdSQL: nil, keySQL: nil)
  }

  private static func new(
    _ definition: TableDefinition, watching watched: Set<String>, control: ColumnTarget?,
    on connection: Connection, options: LoadOptions
  ) throws(UpsurgeError) -> PreparedTable {
    let name = definition.name
    let sql = try definition.sql()
    try connection.execute(sql)
    guard var schema = try TableSchema.read(connection, table: name) else {
      throw UpsurgeError(.database, "the table \(name) is not there after it was made")
    }
    let keySQL = try makeKey(schema, on: connection, options: options)
    if keySQL != nil { schema = try TableSchema.read(connection, table: name) ?? schema }
    return try new(
      schema, watching: watched, control: control, on: connection, options: options, createdSQL: sql,
      keySQL: keySQL)
  }

  /// - Parameter watched: the folded names of columns whose type was guessed from values that are all written as the column would write them.
  private static func new(
    _ schema: TableSchema, watching watched: Set<String> = [], control: ColumnTarget?,
    on connection: Connection, options: LoadOptions,
    createdSQL: String?, keySQL: String?
  ) throws(UpsurgeError) -> PreparedTable {
    let stored = schema.columns.filter { !SQLName.isSame($0.name, options.rules.softColumn ?? "") }
    var targets = schema.targets(
      of: stored, spellingPolicy: .reject, rules: options.rules, consented: options.table.consentedColumns)
    for index in targets.indices where targets[index].affinity.isNumeric {
      targets[index].reportsSpelling = watched.contains(SQLName.folded(targets[index].name))
    }
    if let control { targets.append(control) }
    var facts = TableFacts(name: schema.name, isNew: true, columns: [], addsColumns: true)
    facts.columnLimit = connection.columnLimit
    try checkRulesAlong(of: schema, options: options)
    let plan = try UpsertPlan(
      schema: schema, rules: options.rules, columns: targets)
    try checkKey(of: plan, options: options)
    try plan.checkRules(on: connection)
    return PreparedTable(
      facts: facts, columns: ColumnRegistry(targets), plan: plan, createdSQL: createdSQL, keySQL: keySQL)
  }
}
