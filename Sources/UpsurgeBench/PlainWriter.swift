import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Stores rows as programs usually do it by hand: what a benchmark compares the engine with.
///
/// Every pattern gets the same favours: rows that lie typed in memory and are bound where they lie, one connection with
/// the engine's settings, transactions of the same size, and the same checkpoints.
package struct PlainWriter {
  /// How many statements the rows become.
  package enum Pattern: Sendable, Equatable {
    /// Each row compiles a statement of its own.
    case freshStatement
    /// One statement, compiled once, stores row after row.
    case cachedStatement
    /// `VALUES` of so many rows, compiled once; what is left over goes row by row.
    case manyRows(Int)
  }

  private let connection: Connection
  private let pattern: Pattern
  private let columnCount: Int
  private let single: [CChar]
  private let multi: [CChar]
  private let rowsPerStatement: Int
  private let rowsPerTransaction: Int
  private let checkpointByteCount: Int
  private let isCancelled: @Sendable () -> Bool
  /// A page with its header in the log.
  private let frameByteCount: Int

  /// Rows between two looks at `isCancelled`.
  private static let rowsBetweenLooks = 4096

  /// - Parameters:
  ///   - connection: configured; the table is there.
  ///   - key: the columns of the conflict target of an upsert; empty inserts.
  ///   - checkpointByteCount: a checkpoint runs after a commit that leaves more in the log.
  package init(
    _ connection: Connection, table: String, columns: [String], key: [String], pattern: Pattern,
    rowsPerTransaction: Int, checkpointByteCount: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(UpsurgeError) {
    self.connection = connection
    self.pattern = pattern
    self.rowsPerTransaction = max(rowsPerTransaction, 1)
    self.checkpointByteCount = checkpointByteCount
    self.isCancelled = isCancelled
    columnCount = columns.count
    rowsPerStatement = PlainWriter.rows(pattern, columnCount: columns.count, on: connection)
    single = Array(
      try PlainWriter.sql(table: table, columns: columns, key: key, rowCount: 1).utf8CString)
    multi = Array(
      try PlainWriter.sql(table: table, columns: columns, key: key, rowCount: rowsPerStatement).utf8CString)
    frameByteCount = Int(try connection.integer("PRAGMA page_size") ?? 4096) + 24
    connection.noteWALFrames()
  }

  /// The rows of a statement, within SQLite's limit of variables.
  private static func rows(_ pattern: Pattern, columnCount: Int, on connection: Connection) -> Int {
    guard case .manyRows(let count) = pattern else { return 1 }
    let limit = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    return max(1, min(count, limit / max(columnCount, 1)))
  }

  /// The statement as a program would spell it.
  package static func sql(
    table: String, columns: [String], key: [String], rowCount: Int
  ) throws(UpsurgeError) -> String {
    let row = "(" + Array(repeating: "?", count: columns.count).joined(separator: ",") + ")"
    var sql = "INSERT INTO main.\(try SQLName.quote(table))(\(try SQLName.quoteList(columns))) VALUES "
    sql += Array(repeating: row, count: rowCount).joined(separator: ",")
    return sql + (try conflictClause(columns: columns, key: key))
  }

  /// What makes an INSERT an upsert that replaces all columns; empty without a key.
  package static func conflictClause(columns: [String], key: [String]) throws(UpsurgeError) -> String {
    if key.isEmpty { return "" }
    var changes: [String] = []
    for column in columns where !key.contains(where: { SQLName.isSame($0, column) }) {
      let name = try SQLName.quote(column)
      changes.append("\(name)=excluded.\(name)")
    }
    let action = changes.isEmpty ? "NOTHING" : "UPDATE SET " + changes.joined(separator: ", ")
    return " ON CONFLICT(\(try SQLName.quoteList(key))) DO \(action)"
  }

  /// Stores all rows and brings the log into the database.
  /// - Throws: `interrupted`; `database`.
  package func write(_ rows: RowSet) throws(UpsurgeError) {
    precondition(rows.columnNames.count == columnCount, "the rows have other columns than the statement")
    var statements = Statements()
    defer { statements.finalize() }
    if pattern != .freshStatement {
      statements.single = try compile(single)
      if rowsPerStatement > 1 { statements.multi = try compile(multi) }
    }
    try rows.withMemory { cells, bytes throws(UpsurgeError) in
      var row = 0
      while row < rows.count {
        let end = min(row + rowsPerTransaction, rows.count)
        try transact(Memory(cells: cells, bytes: bytes), row..<end, statements)
        row = end
      }
    }
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  private func transact(
    _ memory: Memory, _ range: Range<Int>, _ statements: Statements
  ) throws(UpsurgeError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(UpsurgeError) {
      try store(memory, range, statements)
      try connection.execute("COMMIT")
    } catch {
      if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      throw error
    }
    if connection.walFrameCount * frameByteCount > checkpointByteCount {
      try checkpoint(SQLITE_CHECKPOINT_PASSIVE)
    }
  }

  /// The rows as they lie there while they are written.
  private struct Memory {
    let cells: UnsafeBufferPointer<Cell>
    let bytes: UnsafeBufferPointer<UInt8>
  }

  private struct Statements {
    var single: OpaquePointer?
    var multi: OpaquePointer?

    func finalize() {
      sqlite3_finalize(single)
      sqlite3_finalize(multi)
    }
  }

  private func compile(_ sql: [CChar]) throws(UpsurgeError) -> OpaquePointer? {
    var statement: OpaquePointer?
    let flags = pattern == .freshStatement ? 0 : UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = sqlite3_prepare_v3(connection.handle, sql, Int32(sql.count), flags, &statement, nil)
    if code != SQLITE_OK {
      throw connection.failure(
        code, sql: String(decoding: sql.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return statement
  }

  private func store(_ memory: Memory, _ range: Range<Int>, _ statements: Statements) throws(UpsurgeError) {
    var row = range.lowerBound
    var lookAt = row
    while row < range.upperBound {
      if row >= lookAt {
        if isCancelled() { throw UpsurgeError(.interrupted, "the benchmark was interrupted") }
        lookAt = row + Self.rowsBetweenLooks
      }
      if let multi = statements.multi, row + rowsPerStatement <= range.upperBound {
        try step(multi, memory, row, rowsPerStatement)
        row += rowsPerStatement
        continue
      }
      if let single = statements.single {
        try step(single, memory, row, 1)
      } else {
        let fresh = try compile(single)
        defer { sqlite3_finalize(fresh) }
        try step(fresh, memory, row, 1)
      }
      row += 1
    }
  }

  @inline(__always)
  private func step(
    _ statement: OpaquePointer?, _ memory: Memory, _ row: Int, _ rowCount: Int
  ) throws(UpsurgeError) {
    var parameter: Int32 = 1
    var code: Int32 = SQLITE_OK
    for index in row * columnCount..<(row + rowCount) * columnCount {
      code |= Self.bind(memory.cells[index], memory.bytes, to: statement, parameter)
      parameter += 1
    }
    if code == SQLITE_OK { code = sqlite3_step(statement) }
    // Before the reset, which forgets what went wrong.
    if code != SQLITE_DONE {
      let error = connection.failure(code)
      sqlite3_reset(statement)
      throw error
    }
    sqlite3_reset(statement)
  }

  @inline(__always)
  private static func bind(
    _ cell: Cell, _ bytes: UnsafeBufferPointer<UInt8>, to statement: OpaquePointer?, _ parameter: Int32
  ) -> Int32 {
    switch cell.kind {
    case .integer: return sqlite3_bind_int64(statement, parameter, Int64(bitPattern: cell.payload))
    case .real: return sqlite3_bind_double(statement, parameter, Double(bitPattern: cell.payload))
    case .null, .absent: return sqlite3_bind_null(statement, parameter)
    case .text:
      // There may be no byte at all, and a NULL pointer would bind NULL.
      guard cell.byteCount > 0, let base = bytes.baseAddress else {
        return sqlite3_bind_text64(statement, parameter, Self.empty, 0, nil, UInt8(SQLITE_UTF8))
      }
      return sqlite3_bind_text64(
        statement, parameter, UnsafeRawPointer(base + Int(cell.payload)).assumingMemoryBound(to: CChar.self),
        UInt64(cell.byteCount), nil, UInt8(SQLITE_UTF8))
    case .blob:
      guard cell.byteCount > 0, let base = bytes.baseAddress else {
        return sqlite3_bind_zeroblob(statement, parameter, 0)
      }
      return sqlite3_bind_blob64(
        statement, parameter, base + Int(cell.payload), UInt64(cell.byteCount), nil)
    }
  }

  /// An empty text that stays where it is.
  nonisolated(unsafe) private static let empty: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    return UnsafePointer(text)
  }()

  private func checkpoint(_ mode: Int32) throws(UpsurgeError) {
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, nil, nil)
    if code != SQLITE_OK { throw connection.failure(code) }
  }
}
