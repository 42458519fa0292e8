import UpsurgePlan
import UpsurgeRecords

/// A property of a model's columns, as `\.name`.
public typealias ColumnPath<Row: TableRow> = PartialKeyPath<Row.TableModel.TableColumns>

extension Database {
  /// Inserts rows, and changes those that exist: the row whose key has the same values. Rows that already say so are
  /// not touched.
  ///
  ///     try await database.upsert(players, on: \.name, merge: { row, excluded in
  ///       row.score = max(row.score, excluded.score)
  ///     })
  ///
  /// - Parameters:
  ///   - rows: models, or drafts of them.
  ///   - key: the columns of a primary key, a UNIQUE constraint or a UNIQUE index, in any order; none for the primary key, or what the
  ///     options say.
  ///   - predicate: the condition of a partial UNIQUE index.
  ///   - newer: last-write-wins: a row only changes where its column is not larger than the record's.
  ///   - condition: a row only changes where this is true.
  ///   - merge: what a row that exists becomes; without it every column takes the record's value.
  ///   - options: commits, errors, keys.
  /// - Returns: what became of the rows.
  /// - Throws: `CancellationError`, when the task is cancelled: everything since the last commit is taken back. `usage`,
  ///   where the table or its keys do not fit; `badInput` at the first row that cannot be stored, unless the options go on;
  ///   `databaseBusy`; `database`.
  @discardableResult
  public func upsert<Row: TableRow>(
    _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>...,
    where predicate: (@Sendable (Row.TableModel.TableColumns) -> SQLExpression<Bool>)? = nil,
    newer: ColumnPath<Row>? = nil,
    when condition: (
      @Sendable (Row.TableModel.TableColumns, Row.TableModel.TableColumns) -> SQLExpression<Bool>
    )? =
      nil,
    merge: (@Sendable (inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
    options: BulkOptions = BulkOptions()
  ) async throws -> Ledger {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, when: condition, merge: merge,
      model: Row.TableModel.self)
    return try await BulkWrite<Row>(BulkCall(rules, options: options), in: self).store(rows).ledger
  }

  /// Inserts rows; one whose key exists cannot be stored.
  @discardableResult
  public func insert<Row: TableRow>(
    _ rows: sending some Sequence<Row>, options: BulkOptions = BulkOptions()
  ) async throws -> Ledger {
    try await BulkWrite<Row>(BulkCall(UpsertRules(mode: .insert), options: options), in: self).store(rows)
      .ledger
  }

  /// Inserts rows whose key does not exist; others are ignored.
  /// - Parameters: as of `upsert`.
  @discardableResult
  public func insertOrIgnore<Row: TableRow>(
    _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions()
  ) async throws -> Ledger {
    let rules = try UpsertRules(.ignore, key: key, model: Row.TableModel.self)
    return try await BulkWrite<Row>(BulkCall(rules, options: options), in: self).store(rows).ledger
  }

  /// Changes rows that exist; rows that do not are ignored.
  /// - Parameters: as of `upsert`.
  @discardableResult
  public func update<Row: TableRow>(
    _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>..., newer: ColumnPath<Row>? = nil,
    merge: (@Sendable (inout RowUpdates<Row.TableModel>, Row.TableModel.TableColumns) -> Void)? = nil,
    options: BulkOptions = BulkOptions()
  ) async throws -> Ledger {
    let rules = try UpsertRules(.update, key: key, newer: newer, merge: merge, model: Row.TableModel.self)
    return try await BulkWrite<Row>(BulkCall(rules, options: options), in: self).store(rows).ledger
  }

  /// Deletes the rows that have the same key; those that do not exist are ignored.
  /// - Parameters: as of `upsert`.
  @discardableResult
  public func delete<Row: TableRow>(
    _ rows: sending some Sequence<Row>, on key: ColumnPath<Row>..., options: BulkOptions = BulkOptions()
  ) async throws -> Ledger {
    let rules = try UpsertRules(.delete, key: key, model: Row.TableModel.self)
    return try await BulkWrite<Row>(BulkCall(rules, options: options), in: self).store(rows).ledger
  }
}

extension UpsertRules {
  /// What a model's columns come to.
  package init<Model: Table>(
    _ mode: WriteMode, key: [PartialKeyPath<Model.TableColumns>],
    where predicate: ((Model.TableColumns) -> SQLExpression<Bool>)? = nil,
    newer: PartialKeyPath<Model.TableColumns>? = nil,
    when condition: ((Model.TableColumns, Model.TableColumns) -> SQLExpression<Bool>)? = nil,
    merge: ((inout RowUpdates<Model>, Model.TableColumns) -> Void)? = nil, model: Model.Type
  ) throws(UpsurgeError) {
    let (row, excluded) = (Model.columns(of: .row), Model.columns(of: .excluded))
    self.init(mode: mode)
    var names: [String] = []
    for path in key { names += try Model.keyNames(at: path) }
    let filter = try predicate.map { (predicate) throws(UpsurgeError) in try predicate(row).truth.spelled() }
    if !names.isEmpty {
      target = .columns(names, where: filter)
    } else if filter != nil {
      throw UpsurgeError(
        .usage, "where: is the condition of a partial index, whose columns the call does not name",
        hint: #"name them, as in on: \.name; condition a change of rows by when:"#)
    }
    if let newer { self.merge.newer = Merge.Newer(column: try Model.columnName(at: newer)) }
    self.merge.condition = try condition.map { (condition) throws(UpsurgeError) in
      try condition(row, excluded).truth.spelled()
    }
    if let merge {
      var updates = RowUpdates<Model>()
      merge(&updates, excluded)
      if updates.setsNoColumn {
        throw UpsurgeError(
          .usage, "merge: sets what is no column of \(Model.self)",
          hint: #"set columns, as in row.name = excluded.name"#)
      }
      let keys = Set(names.isEmpty ? Model.primaryKeyColumnNames : names)
      for name in Model.columnNames {
        if let value = updates.values[name] {
          self.merge.columns[name] = .expression(try value.spelled())
        } else if !keys.contains(name) {
          self.merge.columns[name] = .expression(name.quotedIdentifier)
        }
      }
    }
  }
}

extension Table {
  /// The column that a key path leads to.
  /// - Throws: `usage` for a path to something else.
  static func columnName(at path: PartialKeyPath<TableColumns>) throws(UpsurgeError) -> String {
    guard let name = (columns(of: .row)[keyPath: path] as? any KeyPart)?.columnName else {
      throw UpsurgeError(
        .usage, "a key path of \(Self.self) leads to no column", hint: #"name a column, as in \.id"#)
    }
    return name
  }

  /// What a key path gives to a key: a column, an expression as an index spells it, or the columns of a group.
  /// - Throws: `usage` for a path to something else.
  fileprivate static func keyNames(at path: PartialKeyPath<TableColumns>) throws(UpsurgeError) -> [String] {
    let value: Any = columns(of: .row)[keyPath: path]
    if let part = value as? any KeyPart { return [try part.keyName()] }
    let names = (value as? any GroupColumns)?.namedColumns ?? []
    if names.isEmpty {
      throw UpsurgeError(
        .usage, "a key path of \(Self.self) leads to no column", hint: #"name columns, as in \.id"#)
    }
    return names
  }
}

/// A column, or SQL over columns.
private protocol KeyPart {
  var columnName: String? { get }
  func keyName() throws(UpsurgeError) -> String
}

extension SQLExpression: KeyPart {
  fileprivate func keyName() throws(UpsurgeError) -> String {
    if let columnName { return columnName }
    return try sql.spelled()
  }
}
