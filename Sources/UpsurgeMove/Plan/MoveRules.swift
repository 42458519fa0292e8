import UpsurgeRecords
import UpsurgeSQLite

/// What a person says of a move.
struct MoveRules: Sendable {
  /// The only tables that move; empty for all.
  var tables: [String] = []
  /// Tables that stay.
  var exceptions: [String] = []
  /// Types of columns, by table and column.
  var types: [TypeRule] = []

  struct TypeRule: Sendable {
    var table: String
    var column: String
    var type: String
  }

  /// - Parameter texts: `TABLE.COLUMN:TYPE`, each.
  /// - Throws: `usage` for another form.
  init(tables: [String], exceptions: [String], types texts: [String]) throws(UpsurgeError) {
    (self.tables, self.exceptions) = (tables, exceptions)
    for text in texts {
      // A type has no colon, and a table may have a dot.
      guard let colon = text.lastIndex(of: ":"), let dot = text[..<colon].lastIndex(of: "."),
        colon > text.index(after: dot), text.index(after: colon) < text.endIndex, dot > text.startIndex
      else {
        throw UpsurgeError(
          .usage, "\(text.escapedForTerminal) names no column and type",
          hint: "\(.type, "TABLE.COLUMN:TYPE"), as in orders.note:text")
      }
      types.append(
        TypeRule(
          table: String(text[..<dot]), column: String(text[text.index(after: dot)..<colon]),
          type: String(text[text.index(after: colon)...])))
    }
  }

  func type(of column: String, in table: String) -> String? {
    types.last { SQLName.isSame($0.table, table) && SQLName.isSame($0.column, column) }?.type
  }

  /// The tables that move.
  /// - Throws: `usage` for names that are none.
  func chosen(of all: [TableShape]) throws(UpsurgeError) -> [TableShape] {
    func find(_ name: String) -> TableShape? {
      all.first { $0.name == name } ?? all.first { SQLName.isSame($0.name, name) }
    }
    for name in tables + exceptions + types.map(\.table) where find(name) == nil {
      let known = all.prefix(20).map(\.name.escapedForTerminal).joined(separator: ", ")
      throw UpsurgeError(
        .usage, "there is no table \(name.escapedForTerminal) to move",
        hint: known.isEmpty ? nil : "it has: \(known)")
    }
    for rule in types where find(rule.table)?.column(rule.column) == nil {
      throw UpsurgeError(
        .usage, "table \(rule.table.escapedForTerminal) has no column \(rule.column.escapedForTerminal)",
        hint: "\(.type, "TABLE.COLUMN:TYPE") names one of its columns")
    }
    let left = exceptions.compactMap { find($0)?.name }
    let wanted = tables.compactMap { find($0)?.name }
    return all.filter { (wanted.isEmpty || wanted.contains($0.name)) && !left.contains($0.name) }
  }
}
