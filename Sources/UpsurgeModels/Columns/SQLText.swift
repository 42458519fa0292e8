import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

/// A piece of SQL with values in it, which are bound and never spelled into the text.
///
///     let text: SQLText = "lower(\(identifier: "name")) = \(name)"
///
/// In a literal, `\(value)` binds a value, `\(expression)` puts an expression, `\(identifier:)` a quoted name, and
/// `\(raw:)` text as it is, which must not come from elsewhere.
public struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation {
  enum Piece: Sendable, Hashable {
    case sql(String)
    case value(SQLValue)
    /// What cannot be said in SQL: the text is not run.
    case refused(Refusal)
  }

  /// Why a text is not run.
  struct Refusal: Sendable, Hashable {
    var code: UpsurgeError.Code
    var reason: String
    var hint: String?

    var error: UpsurgeError { UpsurgeError(code, reason, hint: hint) }
  }

  private(set) var pieces: [Piece] = []
  /// Whether a part of it makes one value of many rows.
  private(set) var isAggregate = false

  public init() {}

  public init(stringLiteral text: String) { append(text) }

  public init(stringInterpolation interpolation: StringInterpolation) { self = interpolation.text }

  init(value: SQLValue) { pieces = [.value(value)] }

  /// - Parameter refusal: why the value cannot be stored; nil where it can.
  init(_ value: SQLValue, refusal: String?) {
    pieces = [refusal.map { .refused(Refusal(code: .badInput, reason: $0)) } ?? .value(value)]
  }

  /// Expressions that cannot stand together, and what to do instead.
  init(misused reason: String, hint: String) {
    pieces = [.refused(Refusal(code: .usage, reason: reason, hint: hint))]
  }

  /// A value as a coding of one column stores it.
  init<Value>(encoding value: Value, with encode: (Value, inout RowEncoder) -> Void) {
    self = EncodedValues(columnCount: 1) { encode(value, &$0) }.texts[0]
  }

  /// Whether it is the value NULL.
  var isNull: Bool { pieces == [.value(.null)] }

  /// The text with `?` for each value, and the values.
  /// - Throws: `badInput` for a value that cannot be stored; `usage` for columns that store values in different ways.
  public var bound: (sql: String, values: [SQLValue]) {
    get throws(UpsurgeError) {
      var (sql, values): (String, [SQLValue]) = ("", [])
      for piece in pieces {
        switch piece {
        case .sql(let text): sql += text
        case .value(let value):
          sql += "?"
          values.append(value)
        case .refused(let refusal): throw refusal.error
        }
      }
      return (sql, values)
    }
  }

  /// This SQL as one value of many rows.
  var ofManyRows: SQLText {
    var text = self
    text.isAggregate = true
    return text
  }

  /// The text with the values as literals, for what takes no parameters: constraints, conflict targets, merge rules.
  /// - Throws: `usage` for a text with a NUL byte, and for columns that store values in different ways; `badInput` for a value that
  ///   cannot be stored.
  func spelled() throws(UpsurgeError) -> String {
    var sql = ""
    for piece in pieces {
      switch piece {
      case .sql(let text): sql += text
      case .value(let value): sql += try value.literal()
      case .refused(let refusal): throw refusal.error
      }
    }
    return sql
  }

  mutating func append(_ sql: String) {
    if case .sql(let last)? = pieces.last {
      pieces[pieces.count - 1] = .sql(last + sql)
    } else if !sql.isEmpty {
      pieces.append(.sql(sql))
    }
  }

  mutating func append(_ other: SQLText) {
    if other.isAggregate { isAggregate = true }
    for piece in other.pieces {
      if case .sql(let text) = piece { append(text) } else { pieces.append(piece) }
    }
  }

  static func + (left: SQLText, right: SQLText) -> SQLText {
    var text = left
    text.append(right)
    return text
  }

  /// Several texts with a separator.
  static func joined(_ texts: [SQLText], separator: String) -> SQLText {
    var result = SQLText()
    for (index, text) in texts.enumerated() {
      if index > 0 { result.append(separator) }
      result.append(text)
    }
    return result
  }

  /// What stands between the quotes of a literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = SQLText()

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) { text.append(literal) }

    /// Binds a value.
    public mutating func appendInterpolation<Value: ColumnValue>(_ value: Value) {
      text.append(SQLText(encoding: value, with: Value.encode))
    }

    /// Binds a value, or NULL.
    public mutating func appendInterpolation<Value: ColumnValue>(_ value: Value?) {
      text.append(value.map { SQLText(encoding: $0, with: Value.encode) } ?? SQLText(value: .null))
    }

    public mutating func appendInterpolation(_ value: SQLValue) { text.append(SQLText(value: value)) }

    /// Puts an expression.
    public mutating func appendInterpolation<Value>(_ expression: SQLExpression<Value>) {
      text.append(expression.sql)
    }

    public mutating func appendInterpolation(_ other: SQLText) { text.append(other) }

    /// Puts a quoted name.
    public mutating func appendInterpolation(identifier: String) { text.append(identifier.quotedIdentifier) }

    /// Puts text as it is. It is part of the SQL: it must not come from elsewhere.
    public mutating func appendInterpolation(raw: String) { text.append(raw) }
  }
}

extension EncodedValues {
  /// Each as SQL, which is refused as the row is.
  var texts: [SQLText] { values.map { SQLText($0, refusal: refusal) } }
}

extension String {
  /// The name in double quotes.
  var quotedIdentifier: String {
    // SQLite ends a text at a NUL: a name with one is not found, and nothing after it is SQL.
    "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}

extension SQLValue {
  /// The value as SQL spells it.
  func literal() throws(UpsurgeError) -> String {
    switch self {
    case .null: "NULL"
    case .integer(let number): number == .min ? "(-9223372036854775807-1)" : "\(number)"
    case .real(let number):
      number.isNaN ? "NULL" : number.isInfinite ? number < 0 ? "-9e999" : "9e999" : "\(number)"
    case .text(let text): try SQLName.literal(text)
    case .blob(let bytes): "x'" + bytes.hexadecimal + "'"
    }
  }
}

extension [UInt8] {
  /// Two lower-case hexadecimal digits a byte.
  var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
