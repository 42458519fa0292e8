import Upsurge

/// Whose columns an expression speaks of.
public enum ColumnSource: Sendable, Hashable {
  /// The only table of a statement, or the row that exists where a record is merged into it.
  case row
  /// A table, view or alias of this name.
  case table(String)
  /// The record that is merged into a row.
  case excluded
}

/// A column, or SQL over columns, whose values are of one type.
///
///     $0.price > 10 && $0.name == nil          row.count + excluded.count          excluded.name ?? row.name
///
/// Values that it is compared with are bound, as the column's coding stores them.
public struct SQLExpression<Value>: Sendable {
  /// The expression in SQL.
  public let sql: SQLText
  /// The name of the column, where the expression is one.
  public let columnName: String?
  /// How its values are stored.
  let coding: ExpressionCoding<Value>

  /// A column.
  init(column name: String, of source: ColumnSource, coding: ExpressionCoding<Value>) {
    let quoted = name.quotedIdentifier
    switch source {
    case .row: sql = SQLText(stringLiteral: quoted)
    case .table(let table): sql = SQLText(stringLiteral: "\(table.quotedIdentifier).\(quoted)")
    case .excluded: sql = SQLText(stringLiteral: "excluded.\(quoted)")
    }
    columnName = name
    self.coding = coding
  }

  init(_ sql: SQLText, coding: ExpressionCoding<Value>) {
    self.sql = sql
    columnName = nil
    self.coding = coding
  }

  /// SQL of your own: `SQLExpression<Int>("length(\($0.name))")`.
  public init(_ sql: SQLText) where Value: ColumnCoding, Value.Value == Value {
    self.init("(\(sql))", coding: ExpressionCoding(Value.self))
  }

  /// A value.
  public static func value(_ value: Value) -> SQLExpression where Value: ColumnCoding, Value.Value == Value {
    let coding = ExpressionCoding(Value.self)
    return SQLExpression(SQLText(encoding: value, with: coding.encode), coding: coding)
  }

  /// The same, one value of many rows.
  var ofManyRows: SQLExpression { SQLExpression(sql.ofManyRows, coding: coding) }

  /// A value as this column stores it.
  func text(_ value: Value) -> SQLText { SQLText(encoding: value, with: coding.encode) }

  /// `(left OP right)` of the same values.
  func combined(_ word: String, _ right: SQLText) -> SQLExpression {
    SQLExpression(joined(word, right), coding: coding)
  }

  /// `(left OP right)`, a condition.
  func condition(_ word: String, _ right: SQLText) -> SQLExpression<Bool> {
    SQLExpression<Bool>(joined(word, right), coding: ExpressionCoding(Bool.self))
  }

  private func joined(_ word: String, _ right: SQLText) -> SQLText { "(\(sql) \(raw: word) \(right))" }
}

/// A coding of one column, its type forgotten: what an expression needs of it.
struct ExpressionCoding<Value>: Sendable {
  let encode: @Sendable (Value, inout RowEncoder) -> Void
  let decode: @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value

  init<Coding: ColumnCoding>(_ coding: Coding.Type) where Coding.Value == Value {
    encode = { Coding.encode($0, into: &$1) }
    decode = { (row) throws(UpsurgeError) in try Coding.decode(from: &row) }
  }

  private init(
    encode: @escaping @Sendable (Value, inout RowEncoder) -> Void,
    decode: @escaping @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value
  ) {
    self.encode = encode
    self.decode = decode
  }

  /// The coding of values that may be NULL.
  func optional() -> ExpressionCoding<Value?> {
    ExpressionCoding<Value?>(encode: { value, row in
      if let value { encode(value, &row) } else { row.appendNull() }
    }) { (row) throws(UpsurgeError) in
      row.skipNulls(1) ? nil : try decode(&row)
    }
  }

  /// The coding of values that are never NULL.
  func unwrapped<Wrapped>() -> ExpressionCoding<Wrapped> where Value == Wrapped? {
    ExpressionCoding<Wrapped>(encode: { encode($0, &$1) }) { (row) throws(UpsurgeError) in
      guard let value = try decode(&row) else { throw row.invalid("a value") }
      return value
    }
  }
}
