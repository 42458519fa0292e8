import UpsurgeSQLite


/// A value that is several columns of its table; `@Selection` writes what it asks for.
public protocol ColumnGroup: ColumnCoding
where Value == Self, Columns == TableColumns, OptionalColumns == TableColumns {
  associatedtype TableColumns: GroupColumns where TableColumns.Group == Self
}

/// The columns of a group in SQL; in a condition all of them are one value.
public protocol GroupColumns: Sendable {
  associatedtype Group: ColumnGroup where Group.TableColumns == Self

  init(of source: ColumnSource)
  /// Whose columns they are.
  var _source: ColumnSource { get }
}

extension ColumnGroup {
  public static func columns(_ name: String, of source: ColumnSource) -> TableColumns {
    TableColumns(of: source)
  }
  public static func optionalColumns(_ name: String, of source: ColumnSource) -> TableColumns {
    TableColumns(of: source)
  }
}

extension GroupColumns {
  var namedColumns: [String] {
    var columns: [ColumnDefinition] = []
    Group.define(ColumnDefinition(""), in: &columns)
    return columns.map(\.name)
  }

  /// Whether every column has the value that the group has; of none, whether all are NULL.
  public static func == (left: Self, right: Group?) -> SQLExpression<Bool> {
    SQLExpression<Bool>(SQLText.joined(left.compared(right), separator: " AND "))
  }

  /// Whether a column has another value than the group has.
  public static func != (left: Self, right: Group?) -> SQLExpression<Bool> { !(left == right) }

  private func compared(_ group: Group?) -> [SQLText] {
    let values = EncodedValues(columnCount: Group.columnCount) { Group?.encode(group, into: &$0) }.texts
    return zip(namedColumns, values).map { name, value in
      "\(SQLExpression<SQLValue>(column: name, of: _source, coding: ExpressionCoding(SQLValue.self))) IS \(value)"
    }
  }
}

extension ColumnDefinition {
  /// Makes columns those of a group, of which one definition is given.
  public static func makeGroup(_ group: ColumnDefinition, of columns: inout ArraySlice<ColumnDefinition>) {
    for index in columns.indices {
      if group.isNullable { columns[index].isNullable = true }
      if group.isPrimaryKey { columns[index].isPrimaryKey = true }
    }
  }
}
