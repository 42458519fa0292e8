import CSQLite
import UpsurgeRecords

/// Finds the row that a record is about, for those who want to see it.
///
/// By the key of the plan; without one, by the PRIMARY KEY where the records have it. A row that was just inserted is
/// found by its rowid, so that records without a key are seen too.
final class RowLookup {
  private let connection: Connection
  private let byKey: Statement?
  private let byRowid: Statement?
  /// The cells of the key, in the order of the parameters.
  private let keyCells: [Int]
  private let termCount: Int32

  /// - Parameter terms: SQL over the row.
  init(connection: Connection, plan: UpsertPlan, terms: [String]) throws(UpsurgeError) {
    self.connection = connection
    let schema = plan.schema
    let table = try SQLName.quote(schema.name)
    let list = terms.isEmpty ? "NULL" : terms.joined(separator: ", ")
    termCount = Int32(terms.count)
    var cells: [Int] = []
    var conditions: [String] = []
    let key = plan.key ?? schema.keys.first { $0.kind == .primaryKey }
    for part in key?.parts ?? [] {
      guard let column = part.column,
        let slot = plan.slots.first(where: { SQLName.isSame(schema.columns[$0.columnIndex].name, column) })
      else { continue }
      cells.append(slot.cellIndex)
      let collation = key?.isRowidAlias == true ? "" : " COLLATE \(try SQLName.quote(part.collation))"
      conditions.append("\(try SQLName.quote(column)) = ?\(cells.count)\(collation)")
    }
    let isWhole = !conditions.isEmpty && conditions.count == key?.parts.count
    keyCells = cells
    byKey =
      isWhole
      ? try connection.prepare("SELECT \(list) FROM \(table) WHERE \(conditions.joined(separator: " AND "))")
      : nil
    byRowid = try schema.rowidName.map { (name) throws(UpsurgeError) in
      try connection.prepare("SELECT \(list) FROM \(table) WHERE \(name) = ?1")
    }
  }

  /// The row with a record's key; nil when there is none, or the record does not say its key.
  func row(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) -> [SQLValue]? {
    guard let byKey else { return nil }
    defer { clear(byKey) }
    let cells = batch.cells + record * batch.columnCount
    for (index, cellIndex) in keyCells.enumerated() {
      let cell = cellIndex < batch.columnCount ? cells[cellIndex] : .absent
      if cell.kind == .null || cell.kind == .absent { return nil }
      try connection.check(bind(cell, batch, to: byKey.handle, Int32(index + 1)))
    }
    return try values(of: byKey)
  }

  /// The row that the last INSERT has made.
  func insertedRow(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) -> [SQLValue]? {
    guard let byRowid else { return try row(batch, record) }
    defer { clear(byRowid) }
    try byRowid.bind(sqlite3_last_insert_rowid(connection.handle), at: 1)
    return try values(of: byRowid)
  }

  private func values(of statement: Statement) throws(UpsurgeError) -> [SQLValue]? {
    guard try statement.step() else { return nil }
    return (0..<termCount).map { statement.sqlValue(at: $0) }
  }

  /// No pointer into the batch, and no read lock, stays behind.
  private func clear(_ statement: Statement) {
    statement.reset()
    sqlite3_clear_bindings(statement.handle)
  }

  private func bind(
    _ cell: Cell, _ batch: borrowing Batch, to handle: OpaquePointer, _ parameter: Int32
  ) -> Int32 {
    switch cell.kind {
    case .integer: return sqlite3_bind_int64(handle, parameter, Int64(bitPattern: cell.payload))
    case .real: return sqlite3_bind_double(handle, parameter, Double(bitPattern: cell.payload))
    case .text:
      let bytes = batch.bytes(of: cell)
      return bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text64(handle, parameter, $0.baseAddress, UInt64($0.count), nil, UInt8(SQLITE_UTF8))
      }
    case .blob:
      let bytes = batch.bytes(of: cell)
      return sqlite3_bind_blob64(handle, parameter, bytes.baseAddress, UInt64(bytes.count), nil)
    case .null, .absent: return sqlite3_bind_null(handle, parameter)
    }
  }
}

extension Statement {
  /// A column of the current row as it is stored.
  package func sqlValue(at column: Int32) -> SQLValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return .integer(integer(at: column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: return .text(text(at: column) ?? "")
    case SQLITE_BLOB:
      let start = sqlite3_column_blob(handle, column)
      let count = Int(sqlite3_column_bytes(handle, column))
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
    default: return .null
    }
  }
}
