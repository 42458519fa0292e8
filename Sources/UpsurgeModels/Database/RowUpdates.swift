import UpsurgeSQLite


/// What a row that exists becomes when a record is merged into it: a closure sets the columns that change.
///
///     merge: { row, excluded in
///       row.name = excluded.name ?? row.name
///       row.count += excluded.count
///     }
///
/// A column reads as what the row has; columns that are not set stay as they are. A value is set
/// by `row.set(\.name, to: "x")`, which stores it as the column does.
@dynamicMemberLookup
public struct RowUpdates<Model: Table>: Sendable {
  private let columns = Model.columns(of: .row)
  /// What columns become.
  private(set) var values: [String: SQLText] = [:]

  /// Whether a key path to something else was set.
  private(set) var setsNoColumn = false

  init() {}

  /// Sets a column to a value, as the column stores it: `row.set(\.seenAt, to: Date())`. It stands as text in the statement, of which SQLite
  /// reads few numbers below 1e-100 or above 1e280 as others in their last place.
  public mutating func set<Value>(_ path: KeyPath<Model.TableColumns, SQLExpression<Value>>, to value: Value)
  {
    let column = columns[keyPath: path]
    set(column, to: column.text(value))
  }

  /// Sets a column to SQL: one of a group, which has no name of its own in the row, as `\.timestamps.updatedAt`.
  public mutating func set<Value>(
    _ path: KeyPath<Model.TableColumns, SQLExpression<Value>>, to expression: SQLExpression<Value>
  ) {
    set(columns[keyPath: path], to: expression)
  }

  /// A column: `row.count = row.count + excluded.count`.
  public subscript<Value>(dynamicMember path: KeyPath<Model.TableColumns, SQLExpression<Value>>)
    -> SQLExpression<Value>
  {
    get { columns[keyPath: path] }
    set { set(columns[keyPath: path], to: newValue) }
  }

  /// Sets a column that may be NULL to what never is: `row.total = (row.total ?? 0) + 1`.
  @_disfavoredOverload
  public subscript<Value>(dynamicMember path: KeyPath<Model.TableColumns, SQLExpression<Value?>>)
    -> SQLExpression<Value>
  {
    @available(*, unavailable, message: "the column may be NULL: row.column ?? value is what is stored then")
    get { SQLExpression(columns[keyPath: path].sql, coding: columns[keyPath: path].coding.unwrapped()) }
    set { set(columns[keyPath: path], to: newValue) }
  }

  private mutating func set<Value, Other>(_ column: SQLExpression<Value>, to other: SQLExpression<Other>) {
    set(column, to: column.peer(other))
  }

  private mutating func set<Value>(_ column: SQLExpression<Value>, to sql: SQLText) {
    if let name = column.columnName { values[name] = sql } else { setsNoColumn = true }
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
