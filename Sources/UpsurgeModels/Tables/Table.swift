import UpsurgeRecords
import UpsurgeSQLite

/// What can be stored as a row of a table: a model, or its draft.
public protocol TableRow: Sendable {
  associatedtype TableModel: Table

  /// Appends a value for each column of the table.
  func encode(into row: inout RowEncoder)
}

extension TableRow {
  /// What the row has in the columns of its table.
  /// - Throws: `badInput` for a value that cannot be stored.
  package var columnValues: [SQLValue] {
    get throws(UpsurgeError) {
      try EncodedValues(columnCount: TableModel.columnDefinitions.count) { encode(into: &$0) }.stored()
    }
  }
}

/// A type whose values are rows of a table; `@Table` writes what it asks for.
public protocol Table: TableRow where TableModel == Self {
  /// The columns in SQL, a property for each of the model's.
  associatedtype TableColumns: Sendable

  static var tableName: String { get }
  /// The columns in the order of the properties, those of groups in their place.
  static var columnDefinitions: [ColumnDefinition] { get }
  /// The columns as SQL speaks of them.
  static func columns(of source: ColumnSource) -> TableColumns

  /// Takes a value from each column.
  /// - Throws: `badInput` for a value that a property cannot have.
  init(from row: inout RowDecoder) throws(UpsurgeError)
}

/// A table with a primary key.
public protocol PrimaryKeyedTable: Table {
  /// The key's type; a tuple of several.
  associatedtype PrimaryKey

  /// The row's key.
  var primaryKey: PrimaryKey { get }
  /// Appends a value for each column of the key.
  static func encodePrimaryKey(_ key: PrimaryKey, into row: inout RowEncoder)
}

extension Table {
  /// The names of the columns.
  public static var columnNames: [String] { columnDefinitions.map(\.name) }

  /// The column that is another name of the rowid, in the table that `createTable` makes.
  static var rowidColumn: String? {
    let keys = columnDefinitions.filter(\.isPrimaryKey)
    return keys.count == 1 && keys[0].storage == .integer ? keys[0].name : nil
  }

  /// The names of the primary key's columns; empty for none.
  public static var primaryKeyColumnNames: [String] { columnDefinitions.filter(\.isPrimaryKey).map(\.name) }
}
