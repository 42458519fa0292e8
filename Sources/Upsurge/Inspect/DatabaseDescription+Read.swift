#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DatabaseDescription {
  /// Databases up to this size are counted; counting reads each table once.
  private static let countedByteLimit: UInt64 = 256 << 20

  /// Whether the file begins as SQLite databases do; false for what is not there or no file.
  public static func isDatabase(_ path: String) -> Bool {
    if Source(path).isFeed { return false }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let file = fopen(path, "rb") else {
      return false
    }
    defer { fclose(file) }
    var magic = [UInt8](repeating: 0, count: 16)
    return fread(&magic, 1, 16, file) == 16 && magic.elementsEqual("SQLite format 3\0".utf8)
  }

  /// Looks at a database; nothing of it is changed, but what a killed program has begun is rolled back.
  /// - Parameters:
  ///   - path: of the SQLite database.
  ///   - isCheck: reads everything: counts all rows and runs `PRAGMA integrity_check`.
  ///   - control: shows the progress to any thread.
  /// - Throws: `unreadableInput`, `databaseBusy`, `database`.
  public init(
    path: String, isCheck: Bool = false, control: RunControl = RunControl()
  ) throws(UpsurgeError) {
    self = try Connection.visiting(path) { (connection) throws(UpsurgeError) in
      try DatabaseDescription(connection, path: path, isCheck: isCheck, control)
    }
  }

  private init(
    _ connection: Connection, path: String, isCheck: Bool, _ control: RunControl
  ) throws(UpsurgeError) {
    // One transaction, so that all of it is of one moment.
    try connection.execute("BEGIN")
    self.path = path
    pageSize = Int(try connection.integer("PRAGMA page_size") ?? 0)
    byteCount = UInt64(max(try connection.integer("PRAGMA page_count") ?? 0, 0)) * UInt64(pageSize)
    journalMode = try connection.text("PRAGMA journal_mode") ?? ""
    let catalog = try SchemaCatalog(connection)
    shadowTableCount = catalog.shadowCount
    let triggers = try TriggerText.read(connection)
    let isCounted = isCheck || byteCount <= Self.countedByteLimit
    for entry in catalog.entries {
      let own = triggers.filter { SQLName.isSame($0.table, entry.name) }.map {
        Trigger(name: $0.name, applicationFunctions: catalog.applicationFunctions(ofTrigger: $0.sql))
      }
      let functions = catalog.applicationFunctions(of: entry.sql)
      if entry.kind == .view {
        views.append(Self.view(entry.name, connection, triggers: own, functions: functions))
      } else {
        var table = Table(name: entry.name, isVirtual: entry.kind == .virtual)
        table.triggers = own
        table.applicationFunctions = functions
        if isCounted { control.note(stage: .inspecting, work: "counting rows of \(entry.name)") }
        do throws(UpsurgeError) {
          try table.read(connection, sql: entry.sql, isCounted: isCounted)
        } catch {
          guard error.code == .database else { throw error }
          table.problem = error.message
        }
        tables.append(table)
      }
    }
    if isCheck {
      control.note(stage: .inspecting, work: "looking for damage")
      try readDamages(connection)
    }
  }

  private mutating func readDamages(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare("PRAGMA integrity_check")
    while try statement.step() {
      let line = statement.text(at: 0) ?? ""
      if line != "ok" { damages.append(line) }
    }
  }

  private static func view(
    _ name: String, _ connection: Connection, triggers: [Trigger], functions: [String]
  ) -> View {
    var view = View(name: name, columns: [], triggers: triggers, applicationFunctions: functions)
    do throws(UpsurgeError) {
      view.columns = try TableSchema.read(connection, table: name)?.columns.map(\.name) ?? []
    } catch {
      view.problem = error.message
    }
    return view
  }
}

extension DatabaseDescription.Table {
  fileprivate mutating func read(
    _ connection: Connection, sql: String, isCounted: Bool
  ) throws(UpsurgeError) {
    guard let schema = try TableSchema.read(connection, table: name) else { return }
    isStrict = schema.isStrict
    isWithoutRowid = schema.isWithoutRowid
    columns = schema.columns.map {
      DatabaseDescription.Column(
        name: $0.name, declaredType: $0.declaredType, isNotNull: $0.isNotNull,
        defaultExpression: $0.defaultExpression, collation: $0.collation,
        isGenerated: $0.generation != .none, isHidden: $0.isHidden)
    }
    keys = schema.keys.map { DatabaseDescription.Key($0) }
    indexes = try SecondaryIndex.read(connection, table: name).map {
      DatabaseDescription.Index(
        name: $0.name, parts: $0.parts.map { $0.column ?? $0.expression ?? "an expression" },
        isPartial: $0.isPartial, sql: $0.sql)
    }
    foreignKeys = schema.foreignKeys.map {
      DatabaseDescription.ForeignKey(
        columns: $0.columns, parentTable: $0.parentTable,
        parentColumns: $0.referredColumns)
    }
    referencingTables = schema.referencingTables
    if isVirtual, let content = FullTextTable.parse(name: name, sql: sql)?.content {
      fullTextContent =
        switch content {
        case .own: .own
        case .none: .contentless
        case .external(let table): .table(table)
        }
    }
    rowCount = try count(connection, isCounted: isCounted)
  }

  private func count(
    _ connection: Connection, isCounted: Bool
  ) throws(UpsurgeError) -> DatabaseDescription.RowCount {
    let quoted = "main." + (try SQLName.quote(name))
    if isCounted {
      return .exact(UInt64(max(try connection.integer("SELECT count(*) FROM \(quoted)") ?? 0, 0)))
    }
    if isVirtual || isWithoutRowid { return .unknown }
    // A column may have taken the name rowid; then there is no cheap answer.
    if columns.contains(where: { SQLName.isSame($0.name, "rowid") }) { return .unknown }
    guard let largest = try connection.integer("SELECT max(rowid) FROM \(quoted)") else { return .exact(0) }
    return largest < 0 ? .unknown : .atMost(UInt64(largest))
  }
}

extension DatabaseDescription.Key {
  fileprivate init(_ key: TableSchema.Key) {
    kind =
      switch key.kind {
      case .primaryKey: "PRIMARY KEY"
      case .uniqueConstraint: "UNIQUE"
      case .uniqueIndex: "UNIQUE INDEX"
      }
    indexName = key.kind == .uniqueIndex ? key.indexName : nil
    parts = key.parts.map { $0.column ?? $0.expression ?? "an expression" }
    predicate = key.isPartial ? key.predicate : nil
    let names = key.parts.map { part in
      part.column.map(Self.listed) ?? part.expression ?? "an expression"
    }
    option = Self.option(names, predicate)
  }

  /// A key of another database.
  /// - Parameters:
  ///   - kind: `PRIMARY KEY`, `UNIQUE` or `UNIQUE INDEX`.
  ///   - indexName: of an index that is not one of a constraint.
  ///   - parts: columns, and SQL.
  ///   - predicate: the WHERE of a partial index.
  package init(
    kind: String, indexName: String?, parts: [(name: String, isColumn: Bool)], predicate: String?
  ) {
    (self.kind, self.indexName, self.predicate) = (kind, indexName, predicate)
    self.parts = parts.map(\.name)
    option = Self.option(parts.map { $0.isColumn ? Self.listed($0.name) : $0.name }, predicate)
  }

  /// The options of a load that mean the key, as a shell takes them.
  private static func option(_ names: [String], _ predicate: String?) -> String {
    let option = Wording.option(.key, shellWord(names.joined(separator: ",")))
    guard let predicate else { return option }
    return option + " " + Wording.option(.keyWhere, shellWord(predicate))
  }

  /// A name as lists of names take it: in double quotes where it holds what means something there.
  private static func listed(_ name: String) -> String {
    guard name.unicodeScalars.contains(where: { ",()\"".unicodeScalars.contains($0) }) || name.isEmpty else {
      return name
    }
    var text = "\""
    for scalar in name.unicodeScalars {
      text.unicodeScalars.append(scalar)
      if scalar == "\"" { text.unicodeScalars.append(scalar) }
    }
    return text + "\""
  }

  private static func shellWord(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 >= 0x80
        || "_,.:/-".utf8.contains($0)
    }
    if isPlain && !word.isEmpty { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
