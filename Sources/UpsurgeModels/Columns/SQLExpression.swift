import UpsurgeRecords

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
/// Values that it is compared with are bound, as the column's coding stores them. Columns of one type that store it in different
/// ways, as a date in text and one in seconds, are neither compared nor mixed: that is refused with `usage`.
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

  /// SQL of your own: `SQLExpression<Int>("length(\($0.name))")`. One that makes a value of many rows is said with `aggregate:`.
  public init(_ sql: SQLText) where Value: ColumnCoding, Value.Value == Value {
    self.init("(\(sql))", coding: ExpressionCoding(Value.self))
  }

  /// SQL of your own that makes one value of many rows: `SQLExpression<String?>(aggregate: "group_concat(\($0.name))")`. Of a query with
  /// a limit, it is made of the rows within that.
  public init(aggregate sql: SQLText) where Value: ColumnCoding, Value.Value == Value {
    self.init(("(\(sql))" as SQLText).ofManyRows, coding: ExpressionCoding(Value.self))
  }

  /// SQL of your own whose values are stored as a coding says: `SQLExpression("unixepoch('subsec')", as: Date.UnixTime.self)`.
  public init<Coding: SingleColumnCoding>(_ sql: SQLText, as coding: Coding.Type)
  where Coding.Value == Value {
    self.init("(\(sql))", coding: ExpressionCoding(coding))
  }

  /// A value.
  public static func value(_ value: Value) -> SQLExpression where Value: ColumnCoding, Value.Value == Value {
    let coding = ExpressionCoding(Value.self)
    return SQLExpression(SQLText(encoding: value, with: coding.encode), coding: coding)
  }

  /// This expression as one value of many rows.
  var ofManyRows: SQLExpression { SQLExpression(sql.ofManyRows, coding: coding) }

  /// A value as this column stores it.
  func text(_ value: Value) -> SQLText { SQLText(encoding: value, with: coding.encode) }

  /// The SQL of an expression that is compared or mixed with this one; refused where it stores values in another way.
  func peer<Other>(_ other: SQLExpression<Other>) -> SQLText {
    if coding.kind == other.coding.kind { return other.sql }
    return SQLText(
      misused:
        "\(name ?? "an expression") is stored as \(coding.kindName), and \(other.name ?? "an expression") as "
        + "\(other.coding.kindName): SQL cannot compare or mix them",
      hint:
        "give both the same @Column(as:), or convert one with SQL of your own: "
        + "SQLExpression(\"…\", as: \(coding.kindName).self); "
        + #"a value of Swift is set by row.set(\.column, to: value)"#)
  }

  /// The expression where its numbers are stored as they are; refused where a coding stores other ones for them, which SQL would
  /// multiply or take the mean of.
  func asStored(_ number: Any.Type) -> SQLExpression {
    if coding.kind as Any.Type == number,
      (coding.kind as? any SingleColumnCoding.Type)?.storesOneAsOne == true
    {
      return self
    }
    let text = SQLText(
      misused:
        "\(name ?? "an expression") is stored as \(coding.kindName): SQL cannot multiply it or find its mean",
      hint: "SQL of your own says what is meant: SQLExpression<Double>(\"…\")")
    return SQLExpression(text, coding: coding)
  }

  /// What messages call it.
  private var name: String? { columnName.map { "the column \($0.escapedForTerminal)" } }

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

extension SQLExpression where Value == Bool {
  /// The SQL of a condition; refused for truths that are stored as something else than 1 and 0.
  package var truth: SQLText {
    if coding.kind == Bool.self { return sql }
    return SQLText(
      misused: "a truth that is stored as \(coding.kindName) is no condition in SQL",
      hint: "compare it: == true")
  }
}

/// A coding of one column, its type forgotten: what an expression needs of it.
struct ExpressionCoding<Value>: Sendable {
  /// Which coding it is; of values that may be NULL, that of the others.
  let kind: any ColumnCoding.Type
  let encode: @Sendable (Value, inout RowEncoder) -> Void
  let decode: @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value

  init<Coding: ColumnCoding>(_ coding: Coding.Type) where Coding.Value == Value {
    kind = (coding as? any OptionalCoding.Type)?.wrapped ?? coding
    encode = { Coding.encode($0, into: &$1) }
    decode = { (row) throws(UpsurgeError) in try Coding.decode(from: &row) }
  }

  private init(
    kind: any ColumnCoding.Type, encode: @escaping @Sendable (Value, inout RowEncoder) -> Void,
    decode: @escaping @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value
  ) {
    self.kind = kind
    self.encode = encode
    self.decode = decode
  }

  /// What messages call the coding: `Date.UnixTime`.
  var kindName: String {
    // `Module.Date.UnixTime`, and of an extension `(extension in Module):Other.Date.UnixTime`.
    let name = String(reflecting: kind).split(separator: ":").last ?? ""
    return name.split(separator: ".", maxSplits: 1).last.map(String.init) ?? String(name)
  }

  /// The coding of values that may be NULL.
  func optional() -> ExpressionCoding<Value?> {
    ExpressionCoding<Value?>(
      kind: kind,
      encode: { value, row in
        if let value { encode(value, &row) } else { row.appendNull() }
      }
    ) { (row) throws(UpsurgeError) in
      row.skipNulls(1) ? nil : try decode(&row)
    }
  }

  /// The coding of values that are never NULL.
  func unwrapped<Wrapped>() -> ExpressionCoding<Wrapped> where Value == Wrapped? {
    ExpressionCoding<Wrapped>(kind: kind, encode: { encode($0, &$1) }) { (row) throws(UpsurgeError) in
      guard let value = try decode(&row) else { throw row.invalid("a value") }
      return value
    }
  }
}

/// A coding of optional values.
private protocol OptionalCoding {
  /// The coding of the values that are there.
  static var wrapped: any ColumnCoding.Type { get }
}

extension Optional: OptionalCoding where Wrapped: ColumnCoding {
  fileprivate static var wrapped: any ColumnCoding.Type {
    (Wrapped.self as? any OptionalCoding.Type)?.wrapped ?? Wrapped.self
  }
}
