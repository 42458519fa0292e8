/// The type of a column in a table that is created.
public enum ColumnType: String, Sendable, CaseIterable {
  case integer = "INTEGER"
  case real = "REAL"
  case text = "TEXT"
  case blob = "BLOB"
  /// No conversion: declared without a type, or ANY in a STRICT table.
  case any = "ANY"
}
