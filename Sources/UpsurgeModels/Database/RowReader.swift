import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

extension Statement {
  /// Whether it shows what might write: EXPLAIN, or a PRAGMA, as that of the journal's mode.
  fileprivate var onlyTells: Bool {
    if sqlite3_stmt_isexplain(handle) != 0 { return true }
    guard let sql = sqlite3_sql(handle) else { return false }
    return String(cString: sql).drop(while: \.isWhitespace).prefix(6).lowercased() == "pragma"
  }

  /// Whether nothing but white space, semicolons and comments follows the statement.
  fileprivate func isWhole(_ text: String) -> Bool {
    guard let sql = sqlite3_sql(handle),
      let rest = String(text.utf8.dropFirst(String(cString: sql).utf8.count))
    else {
      return false
    }
    var next: OpaquePointer?
    defer { sqlite3_finalize(next) }
    return sqlite3_prepare_v2(sqlite3_db_handle(handle), rest, -1, &next, nil) == SQLITE_OK && next == nil
  }
}

extension UpsurgeError {
  /// SQL with parameters that are not values put into it.
  static func ownParameters(_ sql: String) -> UpsurgeError {
    UpsurgeError(
      .usage, "the SQL has parameters of its own: \(sql.escapedForTerminal)",
      hint: "put values into the text, as in \"id = \\(id)\"")
  }
}

/// A statement that gives rows; lives on the thread of its connection.
final class RowReader {
  private let statement: Statement
  /// The names that messages give the columns.
  private let names: [String]

  /// - Parameter mayWrite: whether the statement may be one that changes the database.
  /// - Throws: `usage` for text that holds no statement, or more than one, and for one that writes and may not; `database`.
  init(
    _ sql: SQLText, on connection: Connection, names: [String] = [], mayWrite: Bool = false
  ) throws(UpsurgeError) {
    let (text, values) = try sql.bound
    statement = try connection.prepare(text)
    if !statement.isWhole(text) {
      throw UpsurgeError(
        .usage, "only the first statement would run of: \(text.escapedForTerminal)",
        hint: "run one statement a call")
    }
    if !mayWrite && sqlite3_stmt_readonly(statement.handle) == 0 && !statement.onlyTells {
      throw UpsurgeError(
        .usage, "the SQL writes, and is only read here: \(text.escapedForTerminal)",
        hint: "execute runs it; what became of rows is said by returning: of a bulk call")
    }
    // A parameter that nothing is bound to would be NULL.
    if sqlite3_bind_parameter_count(statement.handle) != values.count {
      throw UpsurgeError.ownParameters(text)
    }
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    self.names = names
  }

  /// The next rows.
  /// - Parameters:
  ///   - limit: how many at most.
  ///   - places: where the decoder finds its columns; nil in their order.
  func all<Value>(
    _ limit: Int, at places: [Int32]?, _ decode: (inout RowDecoder) throws(UpsurgeError) -> Value
  ) throws(UpsurgeError) -> [Value] {
    var values: [Value] = []
    while values.count < limit, try statement.step() {
      var row = RowDecoder(.statement(statement.handle, places), names: names)
      values.append(try decode(&row))
    }
    return values
  }

  /// Where columns of these names are.
  /// - Throws: `usage` for one that is missing or there twice.
  func places(of names: [String]) throws(UpsurgeError) -> [Int32] {
    var found: [String: [Int32]] = [:]
    for column in 0..<sqlite3_column_count(statement.handle) {
      let name = sqlite3_column_name(statement.handle, column).map { String(cString: $0) } ?? ""
      found[SQLName.folded(name), default: []].append(column)
    }
    var places: [Int32] = []
    for name in names {
      let here = found[SQLName.folded(name)] ?? []
      guard here.count == 1 else {
        throw UpsurgeError(
          .usage,
          "the SQL gives \(here.isEmpty ? "no column" : "\(here.count) columns") named \(name.escapedForTerminal)",
          hint: "a model needs each of its columns once: \(names.joined(separator: ", ").escapedForTerminal)")
      }
      places.append(here[0])
    }
    return places
  }
}
