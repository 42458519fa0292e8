extension PreparedSource {
  /// Opens rows of another database, as records that keep their types: a thread reads them in one read transaction and
  /// writes them as NDJSON into a pipe.
  /// - Parameter name: as it may be shown.
  /// - Throws: `unreadableInput` where there is no such database or table, `usage` for what is not a query and for
  ///   options that fit no rows.
  static func prepare(
    _ source: DatabaseSource, name: String, options: LoadOptions, counter: ByteCounter,
    cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> PreparedSource {
    try checkFormat(options, of: name)
    let (feed, columns) = try Self.feed(source, name: name, options: options)
    return try rows(
      of: feed, columns, name: name, options: options, counter: counter, cancellation: cancellation)
  }

  /// - Throws: `usage` for a format of text.
  static func checkFormat(_ options: LoadOptions, of name: String) throws(UpsurgeError) {
    guard let format = options.input.format, format != .ndjson else { return }
    throw UpsurgeError(
      .usage, "\(.format, format.rawValue) is for text, and \(name.escapedForTerminal) has rows",
      hint: "leave out \(.format)")
  }

  /// The source of rows that a thread writes as NDJSON.
  static func rows(
    of feed: ProducedFeed, _ columns: [InferredColumn], name: String, options: LoadOptions,
    counter: ByteCounter,
    cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> PreparedSource {
    _ = try FieldSelection(options: options).columnNames(of: columns.map(\.name), file: name)
    let file = try FileSource(
      feed: feed, name: name, counter: counter, cancellation: cancellation)
    var opening = OpenedSource.Options()
    opening.compression = .none
    opening.encoding = .utf8
    opening.allowsSingleByteEncodings = false
    return PreparedSource(
      opened: try OpenedSource(file: file, options: opening), shape: .json(.ndjson), declared: columns)
  }

  /// The columns that a database has declared, as far as they are wanted and under their new names.
  func selected(_ declared: [InferredColumn], options: LoadOptions) throws(UpsurgeError) -> [InferredColumn] {
    let names = try FieldSelection(options: options).columnNames(
      of: declared.map(\.name), file: opened.name)
    return zip(declared, names).compactMap { column, name in
      guard let name else { return nil }
      var column = column
      column.name = name
      if options.table.inference == .none { (column.type, column.declaredType) = (.text, nil) }
      return column
    }
  }

  private static func feed(
    _ source: DatabaseSource, name: String, options: LoadOptions
  ) throws(UpsurgeError) -> (ProducedFeed, [InferredColumn]) {
    do throws(UpsurgeError) {
      let snapshots = options.environment.databaseSnapshots
      let shared = try snapshots?.take(source.path)
      let connection =
        if let shared { shared } else { try Connection.looking(at: source.path) }
      let handover = Handover(connection) { if shared != nil { snapshots?.giveBack($0, source.path) } }
      let interrupter = connection.interrupter
      let columns = try handover.open { (connection) throws(UpsurgeError) in
        switch source.rows {
        case .query(let query):
          try RowText(query, on: connection, valueByteLimit: options.transaction.recordByteLimit)
        case .table(let table):
          try RowText(
            table: try schema(of: table, in: source, on: connection), on: connection,
            valueByteLimit: options.transaction.recordByteLimit)
        }
      }.map {
        InferredColumn(
          name: $0.name, type: columnType($0.declaredType), examples: [], nullCount: 0,
          sourceType: $0.declaredType.isEmpty ? nil : .sqlite($0.declaredType))
      }
      let feed = try ProducedFeed(
        name: name, interrupt: { interrupter.interrupt() },
        produce: { output throws(UpsurgeError) in
          do throws(UpsurgeError) {
            try handover.write(to: output)
          } catch {
            throw failure(error, of: source, name: name, isReading: true)
          }
        })
      return (feed, columns)
    } catch {
      throw failure(error, of: source, name: name)
    }
  }

  /// What keeps the values of a column as they are: of a type that is neither of whole numbers, reals, text nor BLOBs,
  /// such as DECIMAL or DATE, no conversion at all.
  static func columnType(_ declaredType: String) -> ColumnType {
    switch Affinity(declaredType: declaredType) {
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .numeric: .any
    case .none: declaredType.isEmpty ? .any : .blob
    }
  }

  private static func schema(
    of table: String, in source: DatabaseSource, on connection: Connection
  ) throws(UpsurgeError) -> TableSchema {
    if let schema = try TableSchema.read(connection, table: table) { return schema }
    let known = try TableList.names(connection).filter { !OwnTable.isOwn($0) }.prefix(20)
    throw UpsurgeError(
      .unreadableInput, "there is no table \(table.escapedForTerminal) in \(source.path.escapedForTerminal)",
      hint: known.isEmpty
        ? nil : "it has: \(known.map(\.escapedForTerminal).joined(separator: ", "))")
  }

  /// A failure of the source is not one of the database that is written.
  /// - Parameter isReading: whether rows were read; before that, an error is one of the query.
  private static func failure(
    _ error: UpsurgeError, of source: DatabaseSource, name: String, isReading: Bool = false
  ) -> UpsurgeError {
    var error = error
    let name = name.escapedForTerminal
    if error.code == .interrupted || error.message.contains(name) { return error }
    if error.code == .cannotCreate { error.code = .unreadableInput }
    if error.code == .database {
      error.code = error.snippet != nil && source.isQuery && !isReading ? .usage : .badInput
      if error.isTooLarge {
        error.remedy =
          "\(.memory, "BYTES"): a record may take a quarter of it; or leave the column out by a query"
      }
    }
    error.said = "reading \(name): \(saying: error.said)"
    return error
  }

  /// Takes a connection and its statement from the thread that has opened them to the one that reads.
  private final class Handover: @unchecked Sendable {
    // Sendable because the thread that has made it only starts the one that uses it, and forgets it.
    private let connection: Connection
    private var rows: RowText?
    private let done: (Connection) -> Void

    /// - Parameter done: takes the connection back when its statements are gone, whatever has come of them.
    init(_ connection: Connection, done: @escaping (Connection) -> Void) {
      self.connection = connection
      self.done = done
    }

    deinit {
      rows = nil
      done(connection)
    }

    /// - Returns: the columns.
    func open(
      _ body: (Connection) throws(UpsurgeError) -> RowText
    ) throws(UpsurgeError) -> [(name: String, declaredType: String)] {
      let rows = try body(connection)
      self.rows = rows
      return rows.columns
    }

    func write(to output: ProducedFeed.Output) throws(UpsurgeError) {
      connection.moveToCurrentThread()
      defer { rows = nil }
      try rows?.write { output.write($0) && !output.isStopped }
    }
  }
}
