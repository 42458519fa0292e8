import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Two tables in memory with a column of each affinity: one is given texts, the other the cells made of them.
final class SQLiteColumns {
  /// The affinities, in column order.
  static let affinities: [Affinity] = [.integer, .real, .numeric, .text, .none]

  private static let columns = "(i INTEGER, r REAL, n NUMERIC, t TEXT, b)"

  private var database: OpaquePointer?
  private var insertText: OpaquePointer?
  private var insertCells: OpaquePointer?
  private var select: OpaquePointer?

  init() {
    sqlite3_open(":memory:", &database)
    sqlite3_exec(
      database, "CREATE TABLE texts\(Self.columns); CREATE TABLE cells\(Self.columns); BEGIN", nil, nil, nil)
    insertText = prepare("INSERT INTO texts VALUES (?1, ?1, ?1, ?1, ?1)")
    insertCells = prepare("INSERT INTO cells VALUES (?1, ?2, ?3, ?4, ?5)")
    select = prepare(
      "SELECT texts.*, cells.* FROM texts JOIN cells ON cells.rowid = texts.rowid ORDER BY texts.rowid")
  }

  deinit {
    for statement in [insertText, insertCells, select] { sqlite3_finalize(statement) }
    sqlite3_close(database)
  }

  private func prepare(_ sql: String) -> OpaquePointer? {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(database, sql, -1, &statement, nil)
    return statement
  }

  /// Stores a text in one table and its cells, one for each affinity, in the other; text cells point into the
  /// text.
  func store(_ text: [UInt8], as cells: [Cell]) {
    let terminated = text + [0]  // so that an empty text has an address
    terminated.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
      sqlite3_bind_text(insertText, 1, start, Int32(text.count), nil)
      for (index, cell) in cells.enumerated() {
        let column = Int32(index + 1)
        switch cell.kind {
        case .integer: sqlite3_bind_int64(insertCells, column, Int64(bitPattern: cell.payload))
        case .real: sqlite3_bind_double(insertCells, column, Double(bitPattern: cell.payload))
        case .text:
          sqlite3_bind_text(insertCells, column, start + Int(cell.payload), Int32(cell.byteCount), nil)
        default: sqlite3_bind_null(insertCells, column)
        }
      }
      for statement in [insertText, insertCells] {
        sqlite3_step(statement)
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
    }
  }

  /// Gives what the tables hold, in the order in which it was stored, and empties them.
  /// - Returns: how many rows there were.
  func takeRows(_ body: (Row) -> Void) -> Int {
    var index = 0
    while sqlite3_step(select) == SQLITE_ROW {
      body(Row(statement: select, index: index))
      index += 1
    }
    sqlite3_reset(select)
    sqlite3_exec(database, "DELETE FROM texts; DELETE FROM cells", nil, nil, nil)
    return index
  }

  /// What SQLite has stored of a text, beside what it has stored of the cells; valid while it is given.
  struct Row {
    fileprivate let statement: OpaquePointer?
    let index: Int

    /// Whether both are the same in a column, to the bit.
    func isSame(_ column: Int) -> Bool {
      let (left, right) = (Int32(column), Int32(column + SQLiteColumns.affinities.count))
      let type = sqlite3_column_type(statement, left)
      if type != sqlite3_column_type(statement, right) { return false }
      switch type {
      case SQLITE_INTEGER:
        return sqlite3_column_int64(statement, left) == sqlite3_column_int64(statement, right)
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, left).bitPattern
          == sqlite3_column_double(statement, right).bitPattern
      default:
        let count = sqlite3_column_bytes(statement, left)
        guard count == sqlite3_column_bytes(statement, right) else { return false }
        guard count > 0, let one = sqlite3_column_blob(statement, left),
          let other = sqlite3_column_blob(statement, right)
        else { return count == 0 }
        return memcmp(one, other, Int(count)) == 0
      }
    }

    /// Whether both values are the same; of a decimal also where ours is the nearest double, and SQLite has its neighbour.
    func isSame(_ column: Int, of text: [UInt8]) -> Bool {
      if isSame(column) { return true }
      let (left, right) = (Int32(column), Int32(column + SQLiteColumns.affinities.count))
      // A double that is a whole number is an integer in some columns.
      let numbers = [SQLITE_FLOAT, SQLITE_INTEGER]
      guard numbers.contains(sqlite3_column_type(statement, left)),
        numbers.contains(sqlite3_column_type(statement, right))
      else { return false }
      let (one, other) = (sqlite3_column_double(statement, left), sqlite3_column_double(statement, right))
      return other == SlowNumbers.nearestDouble(text) && (one == other.nextUp || one == other.nextDown)
    }

    /// Whether the text is stored as text.
    func isText(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_TEXT }

    /// Both values in words.
    func words(_ column: Int) -> String {
      "SQLite makes \(value(column)) of it, and \(value(column + SQLiteColumns.affinities.count)) of its cell"
    }

    private func value(_ column: Int) -> String {
      let column = Int32(column)
      let word = [
        SQLITE_INTEGER: "the integer ", SQLITE_FLOAT: "the real ", SQLITE_TEXT: "the text ",
        SQLITE_NULL: "NULL",
      ]
      let type = sqlite3_column_type(statement, column)
      if type == SQLITE_FLOAT { return "the real \(sqlite3_column_double(statement, column))" }
      let text = sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
      return (word[type] ?? "a BLOB ") + text
    }
  }
}
