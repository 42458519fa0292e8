import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// SQL over the fields of one record: computed columns, and a condition that a record must meet.
///
///     SELECT (price*qty) FROM (SELECT CAST(?1 AS TEXT) AS "price", CAST(?2 AS TEXT) AS "qty") WHERE (qty <> '')
///
/// SQLite resolves the names, on a connection of its own without tables, so that nothing but the record can be seen and a
/// record's result never depends on what is stored. Computed columns of records that the condition leaves out are not
/// evaluated. Used by one thread at a time.
package final class RecordSQL {
  /// A computed column.
  package struct Column: Sendable {
    package var name: String
    package var sql: String

    package init(name: String, sql: String) { (self.name, self.sql) = (name, sql) }
  }

  /// What became of a record.
  package enum Outcome {
    /// The condition is met, and the values can be taken.
    case kept
    case filtered
    /// SQLite cannot evaluate the SQL.
    case failed
  }

  /// The fields that are spoken of, as indexes into those given; `evaluate` takes their values in this order.
  package let fields: [Int]
  /// The fields that each computed column needs, as places in `fields`.
  package let needs: [[Int]]
  /// Fields that the SQL takes for numbers, in the order of their places.
  package private(set) var numberUses: [FieldUse] = []
  private let columns: [Column]
  private let filter: String?
  private let source: String
  private let connection: Connection
  private let statement: Statement
  private let handle: OpaquePointer
  private let cancellation: ReadCancellation?

  /// A field that is taken for a number, or compared with one.
  package struct FieldUse: Sendable {
    /// The place of the field in `fields`.
    package let place: Int
    /// Whether it is compared: then also a text that is a number counts for a text.
    package let isCompared: Bool
    /// Whether the condition does it, so that records count that it leaves out.
    package let isOfFilter: Bool
  }

  /// - Parameters:
  ///   - byteLimit: bytes of a value at most.
  ///   - cancellation: ends an evaluation that takes long.
  /// - Throws: `usage` for what is not one expression over the fields.
  package init(
    _ columns: [Column], where filter: String?, fields record: RecordFields, byteLimit: Int,
    cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) {
    self.columns = columns
    self.filter = filter
    self.cancellation = cancellation
    connection = try Connection(path: "the fields of a record", createIfMissing: true, isTemporary: true)
    connection.bound(byteLimit: byteLimit)
    let check = RecordSQLCheck(connection, fields: record, computed: columns.map(\.name))
    var needed: [[Int]] = []
    var uses = NumberUse()
    for column in columns {
      needed.append(try check.fields(of: column.sql, option: .let(column.name)))
      let use = try check.numbers(in: column.sql, option: .let(column.name))
      uses.calculated.formUnion(use.calculated)
      uses.compared.formUnion(use.compared)
    }
    let ofFilter =
      try filter.map { (sql) throws(UpsurgeError) in try check.fields(of: sql, option: .where) } ?? []
    let filterUse =
      try filter.map { (sql) throws(UpsurgeError) in try check.numbers(in: sql, option: .where) }
      ?? NumberUse()
    let used = Set(needed.joined()).union(ofFilter).sorted()
    fields = used
    needs = needed.map { $0.compactMap { used.firstIndex(of: $0) } }
    source = try check.source(of: used)
    statement = try connection.prepare(
      "SELECT \(columns.isEmpty ? "1" : columns.map { "(\($0.sql)\n)" }.joined(separator: ", ")) FROM \(source)"
        + (filter.map { " WHERE (\($0)\n)" } ?? ""),
      isPersistent: true)
    handle = statement.handle
    numberUses = used.enumerated().compactMap { place, field in
      let isOfFilter = filterUse.compared.contains(field) || filterUse.calculated.contains(field)
      // Values of CSV are texts, and what would compare them with numbers is refused.
      let isCompared = !record.isText && (filterUse.compared.contains(field) || uses.compared.contains(field))
      guard isOfFilter || isCompared || uses.calculated.contains(field) else { return nil }
      return FieldUse(place: place, isCompared: isCompared, isOfFilter: isOfFilter)
    }
    watchCancellation()
  }

  /// Whether a name stands in SQL.
  package static func names(_ name: String, in sql: String) -> Bool {
    SQLFragment(sql).tokens.contains { $0.isName && SQLName.isSame($0.text, name) }
  }

  /// Names in SQL that records may have a field of, though none is known: what comes later may have it.
  package static func possibleFields(_ texts: [String], beside known: [String]) -> [String] {
    // Words of SQL that a column of that name would hide.
    var seen = Set((known + ["true", "false"]).map(SQLName.folded))
    var names: [String] = []
    for tokens in texts.map({ SQLFragment($0).tokens }) {
      for (index, token) in tokens.enumerated() where token.isName {
        let isCalled = index + 1 < tokens.count && tokens[index + 1].isMark("(")
        if !isCalled, seen.insert(SQLName.folded(token.text)).inserted { names.append(token.text) }
      }
    }
    return names
  }

  deinit { sqlite3_progress_handler(connection.handle, 0, nil, nil) }

  /// Evaluates a record; its values can be taken until `reset`.
  /// - Parameter values: one for each of `fields`, whose text lies in the batch.
  package func evaluate(_ values: UnsafePointer<Cell>, _ batch: borrowing Batch) -> Outcome {
    var code = bind(values, batch, to: handle)
    if code == SQLITE_OK { code = sqlite3_step(handle) }
    switch code {
    case SQLITE_ROW: return .kept
    case SQLITE_DONE: return .filtered
    default: return .failed
    }
  }

  /// Lets the next record be evaluated.
  package func reset() { sqlite3_reset(handle) }

  /// Lets go of every pointer into a batch.
  package func clear() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// The value of a computed column, whose text goes to the batch's spill.
  /// - Parameters:
  ///   - isText: whether a number becomes its text, as in a column of texts.
  ///   - missing: how many bytes the spill lacks; then there is no value.
  package func value(
    of column: Int, asText isText: Bool, _ batch: inout Batch, missing: inout Int
  ) -> Cell {
    let index = Int32(truncatingIfNeeded: column)
    var type = sqlite3_column_type(handle, index)
    if isText && (type == SQLITE_INTEGER || type == SQLITE_FLOAT) { type = SQLITE_TEXT }
    switch type {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
    case SQLITE_NULL: return .null
    default: break
    }
    let bytes =
      type == SQLITE_BLOB
      ? sqlite3_column_blob(handle, index) : UnsafeRawPointer(sqlite3_column_text(handle, index))
    let count = Int(sqlite3_column_bytes(handle, index))
    let offset = batch.spillByteCount
    if count > batch.spillCapacity - offset {
      missing += count
      return .null
    }
    if let bytes, count > 0 {
      UnsafeMutableRawPointer(batch.spill + offset).copyMemory(from: bytes, byteCount: count)
    }
    batch.spillByteCount = offset + count
    return type == SQLITE_BLOB
      ? .blob(offset: offset, byteCount: count) : .text(offset: offset, byteCount: count, isInSpill: true)
  }

  /// What SQLite says of the record that it could not evaluate, and the computed column, if it is one of those.
  package func failure(
    _ values: UnsafePointer<Cell>, _ batch: borrowing Batch
  ) -> (column: String?, message: String) {
    let message = connection.lastMessage
    sqlite3_reset(handle)
    if let filter, let said = failure(of: filter, values, batch) { return (nil, said) }
    for column in columns {
      if let said = failure(of: column.sql, values, batch) { return (column.name, said) }
    }
    return (nil, message)
  }

  /// Whether the evaluation ended because reading was cancelled.
  package var isCancelled: Bool { cancellation?.isRequested ?? false }

  private func failure(
    of sql: String, _ values: UnsafePointer<Cell>, _ batch: borrowing Batch
  ) -> String? {
    guard let alone = try? connection.prepare("SELECT (\(sql)\n) FROM \(source)") else { return nil }
    var code = bind(values, batch, to: alone.handle)
    if code == SQLITE_OK { code = sqlite3_step(alone.handle) }
    return code == SQLITE_ROW || code == SQLITE_DONE ? nil : connection.lastMessage
  }

  private func bind(
    _ values: UnsafePointer<Cell>, _ batch: borrowing Batch, to handle: OpaquePointer
  ) -> Int32 {
    var failed: Int32 = SQLITE_OK
    let (arena, spill) = (UnsafeRawPointer(batch.arena), UnsafeRawPointer(batch.spill))
    for place in 0..<fields.count {
      let (cell, parameter) = (values[place], Int32(truncatingIfNeeded: place + 1))
      switch cell.kind {
      case .integer: failed |= sqlite3_bind_int64(handle, parameter, Int64(bitPattern: cell.payload))
      case .real: failed |= sqlite3_bind_double(handle, parameter, Double(bitPattern: cell.payload))
      case .null, .absent: failed |= sqlite3_bind_null(handle, parameter)
      case .text:
        let start = (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload)
        failed |= sqlite3_bind_text64(
          handle, parameter, start.assumingMemoryBound(to: CChar.self), UInt64(cell.byteCount), nil,
          UInt8(SQLITE_UTF8))
      case .blob:
        let start = (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload)
        failed |= sqlite3_bind_blob64(handle, parameter, start, UInt64(cell.byteCount), nil)
      }
    }
    return failed
  }

  /// Ends what takes long when reading is cancelled.
  private func watchCancellation() {
    guard let cancellation else { return }
    sqlite3_progress_handler(
      connection.handle, Self.operationsBetweenLooks,
      { context in
        guard let context else { return 0 }
        return Unmanaged<ReadCancellation>.fromOpaque(context).takeUnretainedValue().isRequested ? 1 : 0
      }, Unmanaged.passUnretained(cancellation).toOpaque())
  }

  private static let operationsBetweenLooks: Int32 = 10_000
}

extension Connection {
  /// Makes it a connection for expressions alone.
  fileprivate func bound(byteLimit: Int) {
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: max(byteLimit, 1 << 20)))
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    // A misspelled "name" is no text.
    _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    refuseLoadExtension()
  }

  /// SQLite refuses to load code only when the function runs, and the SQL is to be refused before that.
  private func refuseLoadExtension() {
    sqlite3_set_authorizer(
      handle,
      { _, action, _, name, _, _ in
        guard action == SQLITE_FUNCTION, let name else { return SQLITE_OK }
        return SQLName.isSame(String(cString: name), "load_extension") ? SQLITE_DENY : SQLITE_OK
      }, nil)
  }
}
