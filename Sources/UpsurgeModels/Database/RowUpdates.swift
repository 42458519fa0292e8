import Upsurge

/// What a row that exists becomes when a record is merged into it: a closure sets the columns that change.
///
///     merge: { row, excluded in
///       row.name = excluded.name ?? row.name
///       row.count += excluded.count
///     }
///
/// A column reads as what the row has; columns that are not set stay as they are.
@dynamicMemberLookup
public struct RowUpdates<Model: Table>: Sendable {
  private let columns = Model.columns(of: .row)
  /// What columns become.
  private(set) var values: [String: SQLText] = [:]

  init() {}

  /// Sets a column to a value, as the column stores it.
  public mutating func set<Value>(_ path: KeyPath<Model.TableColumns, SQLExpression<Value>>, to value: Value)
  {
    let column = columns[keyPath: path]
    if let name = column.columnName { values[name] = column.text(value) }
  }

  /// Sets a column to SQL: one of a group, which has no name of its own in the row, as `\.timestamps.updatedAt`.
  public mutating func set<Value>(
    _ path: KeyPath<Model.TableColumns, SQLExpression<Value>>, to expression: SQLExpression<Value>
  ) {
    if let name = columns[keyPath: path].columnName { values[name] = expression.sql }
  }

  public subscript<Value>(dynamicMember path: KeyPath<Model.TableColumns, SQLExpression<Value>>)
    -> SQLExpression<Value>
  {
    get { columns[keyPath: path] }
    set { if let name = columns[keyPath: path].columnName { values[name] = newValue.sql } }
  }

  /// All columns of a group, which become those of another row: `row.timestamps = excluded.timestamps`.
  public subscript<Group: GroupColumns>(dynamicMember path: KeyPath<Model.TableColumns, Group>) -> Group {
    get { columns[keyPath: path] }
    set {
      for name in newValue.namedColumns {
        let coding = ExpressionCoding(SQLValue.self)
        values[name] = SQLExpression<SQLValue>(column: name, of: newValue._source, coding: coding).sql
      }
    }
  }
}
