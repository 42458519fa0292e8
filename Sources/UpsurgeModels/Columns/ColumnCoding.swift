import UpsurgeRecords
import UpsurgeSQLite

/// How a value lies in the columns of a table: one column for most, several for a group of them.
///
/// A type that stores itself is its own coding, as `Int` is. One that can be stored in several ways has codings of other
/// names, which a model's property picks with `@Column(as:)`:
///
///     @Column(as: Date.UnixTime.self) var updatedAt: Date
///
/// `Optional` of a coding is the coding of optional values: nil is NULL in every column.
public protocol ColumnCoding: SendableMetatype {
  /// What is stored.
  associatedtype Value
  /// The columns in SQL: a ``SQLExpression`` for a single one, a structure of them for a group.
  associatedtype Columns: Sendable = SQLExpression<Value>
  /// The columns of optional values in SQL.
  associatedtype OptionalColumns: Sendable = SQLExpression<Value?>

  /// How many columns a value takes.
  static var columnCount: Int { get }
  /// Adds the columns to those of a table.
  /// - Parameters:
  ///   - column: the name, and what is said of the property; a group gives its columns names of its own.
  ///   - columns: of the table, in their order.
  static func define(_ column: ColumnDefinition, in columns: inout [ColumnDefinition])
  /// The columns of a table as an expression.
  static func columns(_ name: String, of source: ColumnSource) -> Columns
  /// The columns of a table as an expression of optional values.
  static func optionalColumns(_ name: String, of source: ColumnSource) -> OptionalColumns
  /// Appends the value's columns to a row, `columnCount` of them.
  static func encode(_ value: Value, into row: inout RowEncoder)
  /// Takes a value from a row, which has `columnCount` columns for it.
  /// - Throws: `badInput` for what cannot be such a value, with the column's name.
  static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Value
}

/// The columns of a coding in SQL.
public typealias ColumnsOf<Coding: ColumnCoding> = Coding.Columns

extension ColumnCoding {
  /// A value as the default of its column; nil for several columns, and for what cannot be stored.
  public static func defaultValue(_ value: Value) -> SQLValue? {
    columnCount == 1 ? try? storedValue(value) : nil
  }
}

extension ColumnCoding {
  /// A value as its only column stores it.
  /// - Throws: `badInput` where it cannot be stored.
  static func storedValue(_ value: Value) throws(UpsurgeError) -> SQLValue {
    try EncodedValues(columnCount: 1) { encode(value, into: &$0) }.stored()[0]
  }
}

extension [SQLValue] {
  /// What a coding makes of a value, one for each column.
  init<Coding: ColumnCoding>(encoding value: Coding.Value, as coding: Coding.Type) {
    self.init(columnCount: Coding.columnCount) { Coding.encode(value, into: &$0) }
  }
}

/// A coding of one column.
public protocol SingleColumnCoding: ColumnCoding
where Columns == SQLExpression<Value>, OptionalColumns == SQLExpression<Value?> {
  /// What the column holds.
  static var storage: StorageClass { get }
  /// SQL for a value that no other row has: what a new row gets whose primary key is this column and is not given, as in a draft. Nil,
  /// the default, for none.
  static var newKeySQL: String? { get }
}

extension SingleColumnCoding {
  public static var newKeySQL: String? { nil }
}

/// A value that stores itself in one column.
public protocol ColumnValue: SingleColumnCoding where Value == Self {}

extension SingleColumnCoding {
  public static var columnCount: Int { 1 }

  public static func define(_ column: ColumnDefinition, in columns: inout [ColumnDefinition]) {
    var column = column
    column.storage = storage
    column.storing = ColumnStorage(Self.self)
    columns.append(column)
  }

  public static func columns(_ name: String, of source: ColumnSource) -> SQLExpression<Value> {
    SQLExpression(column: name, of: source, coding: ExpressionCoding(Self.self))
  }

  public static func optionalColumns(_ name: String, of source: ColumnSource) -> SQLExpression<Value?> {
    SQLExpression(column: name, of: source, coding: ExpressionCoding(Self?.self))
  }
}

extension Optional: ColumnCoding where Wrapped: ColumnCoding {
  public typealias Value = Wrapped.Value?
  public typealias Columns = Wrapped.OptionalColumns
  public typealias OptionalColumns = Wrapped.OptionalColumns

  public static var columnCount: Int { Wrapped.columnCount }

  public static func define(_ column: ColumnDefinition, in columns: inout [ColumnDefinition]) {
    var column = column
    column.isNullable = true
    Wrapped.define(column, in: &columns)
  }

  public static func columns(_ name: String, of source: ColumnSource) -> Wrapped.OptionalColumns {
    Wrapped.optionalColumns(name, of: source)
  }
  public static func optionalColumns(_ name: String, of source: ColumnSource) -> Wrapped.OptionalColumns {
    Wrapped.optionalColumns(name, of: source)
  }

  public static func encode(_ value: Wrapped.Value?, into row: inout RowEncoder) {
    if let value {
      Wrapped.encode(value, into: &row)
    } else {
      for _ in 0..<Wrapped.columnCount { row.appendNull() }
    }
  }

  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Wrapped.Value? {
    if row.skipNulls(Wrapped.columnCount) { return nil }
    return try Wrapped.decode(from: &row)
  }
}
