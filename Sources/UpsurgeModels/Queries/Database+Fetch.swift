import UpsurgeRecords

extension Database {
  /// The models that a query gives, in its order.
  /// - Throws: `badInput` for a row that the model cannot be; `interrupted` when the task is cancelled; `database`; `databaseBusy`.
  public func fetchAll<Model: Table>(_ query: Query<Model>) async throws(UpsurgeError) -> [Model] {
    try await read(query, limit: .max)
  }

  /// The first model that a query gives; nil without one.
  public func fetchOne<Model: Table>(_ query: Query<Model>) async throws(UpsurgeError) -> Model? {
    try await read(query, limit: 1).first
  }

  /// The model with this key; nil without one.
  public func find<Model: PrimaryKeyedTable>(
    _ model: Model.Type, key: sending Model.PrimaryKey
  ) async throws(UpsurgeError) -> Model? {
    try await fetchOne(Model.all.find(key))
  }

  /// How many rows a query gives.
  public func count<Model: Table>(_ query: Query<Model>) async throws(UpsurgeError) -> Int {
    do throws(UpsurgeError) {
      return try await read(query.countSQL, limit: 1, names: ["count"]) { (row) throws(UpsurgeError) in
        try Int.decode(from: &row)
      }.first ?? 0
    } catch {
      throw error.ofQuery(Model.self)
    }
  }

  /// The values that a query gives, in its order.
  public func fetchAll<Value: Sendable>(_ selected: Selected<Value>) async throws(UpsurgeError) -> [Value] {
    try await read(selected.sql, limit: .max, names: [], decode: selected.coding.decode)
  }

  /// The first value that a query gives; nil without one.
  public func fetchOne<Value: Sendable>(_ selected: Selected<Value>) async throws(UpsurgeError) -> Value? {
    try await read(selected.sql, limit: 1, names: [], decode: selected.coding.decode).first
  }

  /// Models by SQL of your own, whose columns are found by their names.
  ///
  ///     try await database.fetchAll(Player.self, sql: "SELECT * FROM players WHERE name LIKE \(pattern)")
  ///
  /// - Throws: `usage` for a column that the SQL does not give, or gives twice, and for SQL that writes; as for a query.
  public func fetchAll<Model: Table>(_ model: Model.Type, sql: SQLText) async throws(UpsurgeError) -> [Model]
  {
    try await reader.perform { (connection) throws(UpsurgeError) in
      let rows = try RowReader(sql, on: connection, names: Model.columnNames)
      let places = try rows.places(of: Model.columnNames)
      return try rows.all(.max, at: places) { (row) throws(UpsurgeError) in try Model(from: &row) }
    }
  }

  /// Values by SQL of your own, one column a row or, for groups, as many as they have.
  public func fetchAll<Value: ColumnCoding>(
    _ value: Value.Type, sql: SQLText
  ) async throws(UpsurgeError) -> [Value.Value] where Value.Value: Sendable {
    try await read(sql, limit: .max, names: []) { (row) throws(UpsurgeError) in try Value.decode(from: &row) }
  }

  /// The models that a query gives, read as they are asked for, with memory for some hundreds.
  ///
  ///     for try await player in database.rows(Player.order(by: \.name)) { … }
  ///
  /// The rows are those of the moment in which the first is read, whatever is written meanwhile.
  public func rows<Model: Table>(_ query: Query<Model>) -> FetchedRows<Model> {
    FetchedRows(database: self, sql: query.sql)
  }

  private func read<Model: Table>(_ query: Query<Model>, limit: Int) async throws(UpsurgeError) -> [Model] {
    do throws(UpsurgeError) {
      return try await read(query.sql, limit: limit, names: Model.columnNames) { (row) throws(UpsurgeError) in
        try Model(from: &row)
      }
    } catch {
      throw error.ofQuery(Model.self)
    }
  }

  private func read<Value: Sendable>(
    _ sql: SQLText, limit: Int, names: [String],
    decode: @escaping @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value
  ) async throws(UpsurgeError) -> [Value] {
    try await reader.perform { (connection) throws(UpsurgeError) in
      try RowReader(sql, on: connection, names: names).all(limit, at: nil, decode)
    }
  }
}

extension UpsurgeError {
  /// The error with what helps where SQLite does not take a query over a model.
  func ofQuery<Model: Table>(_ model: Model.Type) -> UpsurgeError {
    guard code == .database, hint == nil else { return self }
    var error = self
    // FTS5 reads `a-b` as a column `b`.
    let faults = ["fts5: syntax error", "unterminated string", "unknown special query", "no such column"]
    if model is any SearchTable.Type, faults.contains(where: message.contains) {
      error.hint =
        "a pattern is read by FTS5's own rules: what people type goes through SearchPattern.allWords and its like; "
        + "checkTable(\(model).self) says whether the index is what the model says"
    } else if message.contains("no such column") || message.contains("no such table") {
      error.hint = "checkTable(\(model).self) says in what the table is not what the model says"
    } else if message.contains("unable to use function MATCH") {
      error.hint =
        "a match stands alone or beside && in a condition; \"a OR b\" in one pattern finds rows with either"
    }
    return error
  }
}
