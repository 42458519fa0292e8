import Upsurge
import UpsurgeRecords

/// The table of a run: one that is there, or one that the run makes.
struct TargetTable: StoreTable {
  let facts: TableFacts
  var columns: ColumnRegistry
  let knownColumns: [ColumnTarget]
  let name: TableName
  /// As the catalogue has it; nil where the run makes it.
  let found: PostgresTable?
  /// What is made; nil where the table is there.
  var making: NewTable?
  /// Which row a record is about.
  let key: TargetKey
  let given: UpsertRules
  /// What is made before the first record in a table that is there: `CREATE UNIQUE INDEX …`.
  var preparations: [String] = []
  /// Columns of the input that the table fills itself.
  var generatedColumns: [String] = []
  /// Columns that are there, for which another type is given.
  var otherTypes: [(column: PostgresColumn, given: String)] = []
  /// As it was asked for: with its schema where one was named.
  var givenName: String?

  var lookupName: String { givenName ?? facts.name }

  var mode: WriteMode { given.mode ?? (key.isNone ? .insert : .upsert) }

  var primaryKeyColumns: [String] { making?.key ?? found?.primaryKey?.columns ?? [] }

  var keyColumns: [String] { key.columns }

  func rules(for columns: [ColumnTarget]) -> UpsertRules {
    var rules = given
    rules.mode = mode
    return rules
  }

  func mayInsertAnew(options: LoadOptions) -> Bool {
    key.isNone || mode == .insert && primaryKeyColumns.isEmpty
  }

  func repetition(options: LoadOptions) -> RunSummary.Repetition? {
    if mayInsertAnew(options: options) { return .store }
    let adds = given.merge.columns.values.contains { rule in
      switch rule {
      case .sum, .expression: true
      default: false
      }
    }
    return adds ? .add : nil
  }

  /// Whether the mode, or a tombstone, needs to look rows up.
  var deletes: Bool { mode == .delete || given.tombstone != nil }

  /// The column that says which records are deletes, where the table has none of that name.
  var controlColumn: String? {
    guard let name = given.tombstone?.column else { return nil }
    if let found { return found.columnLike(name) == nil ? name : nil }
    return making?.columns.contains { SQLName.isSame($0.name, name) } == true ? nil : name
  }
}

/// The key by which records find their rows.
enum TargetKey: Equatable {
  /// No key: every record is a new row.
  case none
  /// An index that is there.
  case index(PostgresIndex)
  /// One that the run makes, on these columns.
  case future([String])

  var isNone: Bool { self == .none }

  var columns: [String] {
    switch self {
    case .none: []
    case .index(let index): index.parts.compactMap(\.column)
    case .future(let columns): columns
    }
  }

  /// As `--key` takes it, for messages.
  var words: String {
    switch self {
    case .none: "none"
    case .index(let index):
      index.parts.map { $0.column ?? $0.definition }.joined(separator: ", ")
        + (index.predicate.map { " WHERE \($0)" } ?? "")
    case .future(let columns): columns.joined(separator: ", ")
    }
  }
}

extension PostgresColumn {
  /// What the parser makes of values for the column: whole numbers and doubles where the type is one. All else stays as it is
  /// spelled, as PostgreSQL reads it: to round a decimal to a double and that to `real` may give another `real`.
  func target(isKey: Bool) -> ColumnTarget {
    let affinity: Affinity =
      switch BinaryColumn(self).form {
      case .int2, .int4, .int8: .integer
      case .float8: .real
      case .bytea: .none
      default: .text
      }
    var target = ColumnTarget(
      name: name, affinity: affinity, spellingPolicy: isKey ? .key : .warn,
      isBlob: BinaryColumn(self).form == .bytea)
    target.keepsOutOfRange = affinity == .real
    target.isDecimal = [.numeric, .float4].contains(BinaryColumn(self).form)
    target.readsInfinity = BinaryColumn(self).form == .numeric
    return target
  }
}
