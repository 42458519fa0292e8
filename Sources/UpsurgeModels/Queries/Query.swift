/// Which rows of a table are read, and in which order.
///
///     Player.where { $0.highScore > 100 }.order { [$0.team.ascending(), $0.name.ascending()] }.limit(10)
///
/// A query says what is wanted and reads nothing; `Database.fetchAll` and its like do.
public struct Query<Model: Table>: Sendable {
  private var conditions: [SQLText] = []
  private var orderings: [Ordering] = []
  private var limit: (count: Int, offset: Int)?

  init() {}

  /// Only rows for which this is true, and what was said before.
  public func `where`(_ condition: (Model.TableColumns) -> SQLExpression<Bool>) -> Query {
    adding { $0.conditions.append(condition(Query.columns).truth) }
  }

  /// Only the row with this key.
  public func find(_ key: Model.PrimaryKey) -> Query where Model: PrimaryKeyedTable {
    let names = Model.primaryKeyColumnNames
    let values = EncodedValues(columnCount: names.count) { Model.encodePrimaryKey(key, into: &$0) }.texts
    return adding {
      $0.conditions += zip(names, values).map { name, value in "\(Query.column(name)) IS \(value)" }
    }
  }

  /// Sorts the rows by several columns; the first decides, among equals the next.
  public func order(_ orderings: (Model.TableColumns) -> [Ordering]) -> Query {
    adding { $0.orderings += orderings(Query.columns) }
  }

  /// Sorts the rows by a column, from the smallest value on.
  public func order<Value>(by column: KeyPath<Model.TableColumns, SQLExpression<Value>>) -> Query {
    adding { $0.orderings.append(Query.columns[keyPath: column].ascending()) }
  }

  /// At most so many rows, after those that are left out. What is made of many rows, as a sum, is made of these; SQL of your own for that
  /// knows the model's columns only.
  public func limit(_ count: Int, offset: Int = 0) -> Query { adding { $0.limit = (count, offset) } }

  /// Values of the rows instead of models.
  public func select<Value>(_ expression: (Model.TableColumns) -> SQLExpression<Value>) -> Selected<Value> {
    let expression = expression(Query.columns)
    // What is made of many rows is made of those within the limit.
    let isOfSome = limit != nil && expression.sql.isAggregate
    return Selected(
      sql: isOfSome
        ? "SELECT \(expression.sql) FROM (\(rankedSQL)) AS \(identifier: Model.tableName)"
        : sql(selecting: expression.sql), coding: expression.coding)
  }

  // MARK: - SQL

  /// The SELECT of the model's columns in their order.
  public var sql: SQLText {
    sql(selecting: SQLText.joined(Model.columnNames.map(Query.column), separator: ", "))
  }

  /// The SELECT of the model's columns, and of all else that an expression over the rows may name.
  private var rankedSQL: SQLText {
    let rank = Model.self is any SearchTable.Type ? ["\(Query.column("rank"))" as SQLText] : []
    return sql(selecting: SQLText.joined(Model.columnNames.map(Query.column) + rank, separator: ", "))
  }

  /// The SELECT of how many rows there are.
  var countSQL: SQLText {
    limit == nil
      ? sql(selecting: "count(*)", isOrdered: false) : "SELECT count(*) FROM (\(sql(selecting: "1")))"
  }

  private func sql(selecting columns: SQLText, isOrdered: Bool = true) -> SQLText {
    var text: SQLText = "SELECT \(columns) FROM \(identifier: Model.tableName)"
    if !conditions.isEmpty {
      text.append(" WHERE \(SQLText.joined(conditions, separator: " AND "))" as SQLText)
    }
    if isOrdered && !orderings.isEmpty {
      text.append(" ORDER BY \(SQLText.joined(orderings.map(\.sql), separator: ", "))" as SQLText)
    }
    if let limit { text.append(" LIMIT \(limit.count) OFFSET \(limit.offset)" as SQLText) }
    return text
  }

  private static var columns: Model.TableColumns { Model.columns(of: .table(Model.tableName)) }

  private static func column(_ name: String) -> SQLText {
    "\(identifier: Model.tableName).\(identifier: name)"
  }

  private func adding(_ change: (inout Query) -> Void) -> Query {
    var query = self
    change(&query)
    return query
  }
}

/// Values that a query gives instead of models.
public struct Selected<Value>: Sendable {
  public let sql: SQLText
  let coding: ExpressionCoding<Value>
}

extension Table {
  /// All rows.
  public static var all: Query<Self> { Query() }

  /// The rows for which this is true.
  public static func `where`(_ condition: (TableColumns) -> SQLExpression<Bool>) -> Query<Self> {
    all.where(condition)
  }

  /// The rows, sorted.
  public static func order(_ orderings: (TableColumns) -> [Ordering]) -> Query<Self> { all.order(orderings) }

  /// The rows, sorted by a column.
  public static func order<Value>(by column: KeyPath<TableColumns, SQLExpression<Value>>) -> Query<Self> {
    all.order(by: column)
  }
}
