import UpsurgeStorage

/// The SQL of a load as one of its parsers needs it: what it reads, and where its values go.
struct ComputedColumns {
  let sql: RecordSQL
  /// The names of the fields that the SQL speaks of, in the order of its parameters.
  let fieldNames: [String]
  /// The slot of each computed column; nil where the table does not take it.
  let slots: [Int?]
  /// Whether each computed column holds texts.
  let isText: [Bool]

  /// - Parameters:
  ///   - names: the fields that records may have.
  ///   - targets: the run's columns, computed ones included.
  init(_ sql: RecordSQL, fields names: [String], slots: [Int?], targets: [ColumnTarget]) {
    self.sql = sql
    fieldNames = sql.fields.map { names[$0] }
    self.slots = slots
    isText = slots.map { $0.map { targets[$0].affinity == .text } ?? false }
  }

  /// Where each of the fields stands among those of a parser.
  func places(in fields: [String]) -> [Int?] {
    let places = Dictionary(fields.enumerated().map { (SQLName.folded($1), $0) }) { first, _ in first }
    return fieldNames.map { places[SQLName.folded($0)] }
  }
}

/// Which column takes a field of JSON that no record had before.
struct NewFieldRules {
  enum Found {
    /// The field is only for SQL, or left out.
    case none
    case known(Int)
    case new(ColumnTarget)
  }

  let table: TableFacts
  let options: LoadOptions

  /// The name of a parsed cell that is only room for columns: no key can have it.
  static func padding(_ index: Int) -> String { "\u{0}\(index)" }

  func isPadding(_ name: String) -> Bool { name.hasPrefix("\u{0}") }

  /// - Parameters:
  ///   - affinity: of a column that begins with the field's first value.
  ///   - columns: those that there are.
  /// - Throws: `guardRefused` where the table lacks the column and does not get it; `usage` for the mark of a sweep.
  func column(
    of field: String, beginningWith affinity: Affinity, among columns: [ColumnTarget], at position: Position
  ) throws(UpsurgeError) -> Found {
    let wanted = options.table.columns
    if !wanted.isEmpty, !wanted.contains(where: { SQLName.isSame($0, field) }) { return .none }
    let name = FeedRules.column(of: field, options: options)
    if options.table.computedColumns.contains(where: { SQLName.isSame($0.name, name) }) { return .none }
    if let slot = columns.firstIndex(where: { SQLName.isSame($0.name, name) }) { return .known(slot) }
    if !table.isForInference, let mark = options.rules.softColumn, SQLName.isSame(mark, name) {
      throw JSONParser.markRefusal(of: field, at: position)
    }
    let target: ColumnTarget
    switch table.unknownKeys {
    case .skip: return .none
    case .refuse(let table): throw JSONParser.refusal(of: field, in: table, at: position)
    case .add(let spelling): target = ColumnTarget(name: name, affinity: affinity, spellingPolicy: spelling)
    case .addUntyped, .addAsWritten: target = ColumnTarget(name: name, affinity: .none, spellingPolicy: .warn)
    }
    if let limit = table.limit(exceededBy: 1, beside: columns) {
      throw PreparedSource.tooManyColumns(
        columns.count + 1, in: position.file, limit: limit, hint: "\(.columns, "A,B") loads only some")
    }
    return .new(target)
  }
}
