// Comparisons. `==` and `!=` are IS and IS NOT, so that NULL is a value like any other.
extension SQLExpression {
  public static func == (left: Self, right: Self) -> SQLExpression<Bool> {
    left.condition("IS", left.peer(right))
  }
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> {
    left.condition("IS", left.text(right))
  }
  public static func != (left: Self, right: Self) -> SQLExpression<Bool> {
    left.condition("IS NOT", left.peer(right))
  }
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> {
    left.condition("IS NOT", left.text(right))
  }

  public static func < (left: Self, right: Self) -> SQLExpression<Bool> {
    left.condition("<", left.peer(right))
  }
  public static func < (left: Self, right: Value) -> SQLExpression<Bool> {
    left.condition("<", left.text(right))
  }
  public static func <= (left: Self, right: Self) -> SQLExpression<Bool> {
    left.condition("<=", left.peer(right))
  }
  public static func <= (left: Self, right: Value) -> SQLExpression<Bool> {
    left.condition("<=", left.text(right))
  }
  public static func > (left: Self, right: Self) -> SQLExpression<Bool> {
    left.condition(">", left.peer(right))
  }
  public static func > (left: Self, right: Value) -> SQLExpression<Bool> {
    left.condition(">", left.text(right))
  }
  public static func >= (left: Self, right: Self) -> SQLExpression<Bool> {
    left.condition(">=", left.peer(right))
  }
  public static func >= (left: Self, right: Value) -> SQLExpression<Bool> {
    left.condition(">=", left.text(right))
  }

  /// Whether the value is one of these; NULL is a value like any other.
  public func isIn(_ values: some Sequence<Value>) -> SQLExpression<Bool> {
    let values = values.map(text)
    let list = SQLText.joined(values.filter { !$0.isNull }, separator: ", ")
    // Terms that an index can answer, and that are never NULL.
    return SQLExpression<Bool>(
      values.contains(where: \.isNull)
        ? "(\(sql) IN (\(list)) OR \(sql) IS NULL)" : "(\(sql) IN (\(list)) AND \(sql) IS NOT NULL)")
  }

  /// Whether the value lies between two, both included.
  public func isBetween(_ low: Value, and high: Value) -> SQLExpression<Bool> {
    condition("BETWEEN", "\(text(low)) AND \(text(high))")
  }
}

// Values that may be NULL.
extension SQLExpression {
  /// The first that is not NULL.
  public static func ?? <Wrapped>(left: Self, right: SQLExpression<Wrapped>) -> SQLExpression<Wrapped>
  where Value == Wrapped? {
    SQLExpression<Wrapped>("coalesce(\(left.sql), \(left.peer(right)))", coding: right.coding)
  }

  /// The first that is not NULL.
  public static func ?? <Wrapped>(left: Self, right: Self) -> Self where Value == Wrapped? {
    SQLExpression("coalesce(\(left.sql), \(left.peer(right)))", coding: left.coding)
  }

  /// The value, or this one for NULL.
  public static func ?? <Wrapped>(left: Self, right: Wrapped) -> SQLExpression<Wrapped>
  where Value == Wrapped? {
    SQLExpression<Wrapped>("coalesce(\(left.sql), \(left.text(right)))", coding: left.coding.unwrapped())
  }
}

// Conditions.
extension SQLExpression where Value == Bool {
  public static func && (left: Self, right: Self) -> Self {
    SQLExpression("\(left.truth) AND \(right.truth)")
  }
  public static func || (left: Self, right: Self) -> Self {
    SQLExpression("\(left.truth) OR \(right.truth)")
  }
  public static prefix func ! (operand: Self) -> Self { SQLExpression("NOT \(operand.truth)") }
}

// Arithmetic.
extension SQLExpression where Value: Numeric {
  public static func + (left: Self, right: Self) -> Self { left.combined("+", left.peer(right)) }
  public static func + (left: Self, right: Value) -> Self { left.combined("+", left.text(right)) }
  public static func - (left: Self, right: Self) -> Self { left.combined("-", left.peer(right)) }
  public static func - (left: Self, right: Value) -> Self { left.combined("-", left.text(right)) }
  public static func * (left: Self, right: Self) -> Self {
    left.asStored(Value.self).combined("*", left.peer(right))
  }
  public static func * (left: Self, right: Value) -> Self {
    left.asStored(Value.self).combined("*", left.text(right))
  }
  public static func += (left: inout Self, right: Self) { left = left + right }
  public static func += (left: inout Self, right: Value) { left = left + right }
  public static func -= (left: inout Self, right: Self) { left = left - right }
  public static func -= (left: inout Self, right: Value) { left = left - right }
}

// Arithmetic of values that may be NULL, which is what comes of NULL then.
extension SQLExpression {
  public static func + <Number: Numeric>(left: Self, right: Self) -> Self where Value == Number? {
    left.combined("+", left.peer(right))
  }
  public static func - <Number: Numeric>(left: Self, right: Self) -> Self where Value == Number? {
    left.combined("-", left.peer(right))
  }
  public static func * <Number: Numeric>(left: Self, right: Self) -> Self where Value == Number? {
    left.asStored(Number.self).combined("*", left.peer(right))
  }
}

// Text.
extension SQLExpression where Value == String {
  public static func + (left: Self, right: Self) -> Self { left.combined("||", left.peer(right)) }
  public static func + (left: Self, right: String) -> Self { left.combined("||", left.text(right)) }
  public static func + (left: String, right: Self) -> Self {
    SQLExpression("(\(right.text(left)) || \(right.sql))", coding: right.coding)
  }

  /// Whether the text fits a pattern of `%` (any text) and `_` (any character), in which ASCII letters are compared
  /// without case (https://www.sqlite.org/lang_expr.html#like).
  public func isLike(_ pattern: String) -> SQLExpression<Bool> {
    condition("LIKE", SQLText(value: .text(pattern)))
  }
}

extension SQLExpression where Value == String {
  /// The text with ASCII letters in lower case, `lower(column)`. `on: \.email.lowercased` names a UNIQUE index on that.
  public var lowercased: Self { SQLExpression("lower(\(sql))", coding: coding) }
  /// The text with ASCII letters in upper case, `upper(column)`.
  public var uppercased: Self { SQLExpression("upper(\(sql))", coding: coding) }
}

extension SQLExpression where Value == String? {
  /// Whether the text fits a pattern, as of a column that is never NULL; false for NULL.
  public func isLike(_ pattern: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>("(\(sql) IS NOT NULL AND \(sql) LIKE \(SQLText(value: .text(pattern))))")
  }

  /// The text with ASCII letters in lower case, `lower(column)`. `on: \.email.lowercased` names a UNIQUE index on that.
  public var lowercased: Self { SQLExpression("lower(\(sql))", coding: coding) }
  /// The text with ASCII letters in upper case, `upper(column)`.
  public var uppercased: Self { SQLExpression("upper(\(sql))", coding: coding) }
}

/// The larger of two values.
public func max<Value>(_ left: SQLExpression<Value>, _ right: SQLExpression<Value>) -> SQLExpression<Value> {
  SQLExpression("max(\(left.sql), \(left.peer(right)))", coding: left.coding)
}

/// The smaller of two values.
public func min<Value>(_ left: SQLExpression<Value>, _ right: SQLExpression<Value>) -> SQLExpression<Value> {
  SQLExpression("min(\(left.sql), \(left.peer(right)))", coding: left.coding)
}

/// The larger of two values; of NULL and a value it is the value.
public func max<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: SQLExpression<Wrapped?>) -> SQLExpression<
  Wrapped?
> {
  SQLExpression(
    "coalesce(max(\(left.sql), \(left.peer(right))), \(left.sql), \(right.sql))", coding: left.coding)
}

/// The smaller of two values; of NULL and a value it is the value.
public func min<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: SQLExpression<Wrapped?>) -> SQLExpression<
  Wrapped?
> {
  SQLExpression(
    "coalesce(min(\(left.sql), \(left.peer(right))), \(left.sql), \(right.sql))", coding: left.coding)
}

/// The larger of a value that may be NULL and one that is not: `row.best = max(row.best, excluded.points)`.
public func max<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: SQLExpression<Wrapped>) -> SQLExpression<
  Wrapped
> {
  SQLExpression("coalesce(max(\(left.sql), \(left.peer(right))), \(right.sql))", coding: right.coding)
}

/// The larger of a value that is not NULL and one that may be.
public func max<Wrapped>(_ left: SQLExpression<Wrapped>, _ right: SQLExpression<Wrapped?>) -> SQLExpression<
  Wrapped
> {
  max(right, left)
}

/// The larger of an expression and a value.
public func max<Value>(_ left: SQLExpression<Value>, _ right: Value) -> SQLExpression<Value> {
  SQLExpression("max(\(left.sql), \(left.text(right)))", coding: left.coding)
}

/// The larger of what may be NULL and a value; of NULL and a value it is the value.
public func max<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: Wrapped?) -> SQLExpression<Wrapped?> {
  let value = left.text(right)
  return SQLExpression("coalesce(max(\(left.sql), \(value)), \(left.sql), \(value))", coding: left.coding)
}

/// The larger of what may be NULL and a value.
public func max<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: Wrapped) -> SQLExpression<Wrapped> {
  // In this order the column's collation holds.
  SQLExpression(
    "coalesce(max(\(left.sql), \(left.text(right))), \(left.text(right)))", coding: left.coding.unwrapped())
}

/// The smaller of a value that may be NULL and one that is not.
public func min<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: SQLExpression<Wrapped>) -> SQLExpression<
  Wrapped
> {
  SQLExpression("coalesce(min(\(left.sql), \(left.peer(right))), \(right.sql))", coding: right.coding)
}

/// The smaller of a value that is not NULL and one that may be.
public func min<Wrapped>(_ left: SQLExpression<Wrapped>, _ right: SQLExpression<Wrapped?>) -> SQLExpression<
  Wrapped
> {
  min(right, left)
}

/// The smaller of an expression and a value.
public func min<Value>(_ left: SQLExpression<Value>, _ right: Value) -> SQLExpression<Value> {
  SQLExpression("min(\(left.sql), \(left.text(right)))", coding: left.coding)
}

/// The smaller of what may be NULL and a value; of NULL and a value it is the value.
public func min<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: Wrapped?) -> SQLExpression<Wrapped?> {
  let value = left.text(right)
  return SQLExpression("coalesce(min(\(left.sql), \(value)), \(left.sql), \(value))", coding: left.coding)
}

/// The smaller of what may be NULL and a value.
public func min<Wrapped>(_ left: SQLExpression<Wrapped?>, _ right: Wrapped) -> SQLExpression<Wrapped> {
  SQLExpression(
    "coalesce(min(\(left.sql), \(left.text(right))), \(left.text(right)))", coding: left.coding.unwrapped())
}

extension SQLExpression {
  /// How many rows have a value.
  public func count() -> SQLExpression<Int> { SQLExpression<Int>("count(\(sql))").ofManyRows }

  /// The largest value; nil without any.
  public func maximum() -> SQLExpression<Value?> {
    SQLExpression<Value?>("max(\(sql))", coding: coding.optional()).ofManyRows
  }

  /// The largest value; nil without any.
  public func maximum<Wrapped>() -> SQLExpression where Value == Wrapped? {
    SQLExpression("max(\(sql))", coding: coding).ofManyRows
  }

  /// The smallest value; nil without any.
  public func minimum() -> SQLExpression<Value?> {
    SQLExpression<Value?>("min(\(sql))", coding: coding.optional()).ofManyRows
  }

  /// The smallest value; nil without any.
  public func minimum<Wrapped>() -> SQLExpression where Value == Wrapped? {
    SQLExpression("min(\(sql))", coding: coding).ofManyRows
  }
}

extension SQLExpression where Value: Numeric {
  /// The sum of the values; nil without any. One that their type cannot hold is an error when it is read: a larger type is said by
  /// SQL of your own, `SQLExpression<Int?>(aggregate: "sum(…)")`.
  public func sum() -> SQLExpression<Value?> {
    SQLExpression<Value?>("sum(\(sql))", coding: coding.optional()).ofManyRows
  }

  /// The mean of the values; nil without any.
  public func average() -> SQLExpression<Double?> {
    SQLExpression<Double?>(aggregate: "avg(\(asStored(Value.self)))")
  }
}

extension SQLExpression {
  /// The sum of the values that are not NULL; nil without any.
  public func sum<Number: Numeric>() -> SQLExpression where Value == Number? {
    SQLExpression("sum(\(sql))", coding: coding).ofManyRows
  }

  /// The mean of the values that are not NULL; nil without any.
  public func average<Number: Numeric>() -> SQLExpression<Double?> where Value == Number? {
    SQLExpression<Double?>(aggregate: "avg(\(asStored(Number.self)))")
  }
}
