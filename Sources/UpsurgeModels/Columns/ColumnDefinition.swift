import Upsurge

/// What a column of a STRICT table holds (https://www.sqlite.org/stricttables.html).
public enum StorageClass: String, Sendable, CaseIterable {
  case integer = "INTEGER"
  case real = "REAL"
  case text = "TEXT"
  case blob = "BLOB"
  case any = "ANY"
}

/// A column of a model's table.
public struct ColumnDefinition: Sendable, Equatable {
  public var name: String
  public var storage = StorageClass.any
  /// Whether the column may be NULL.
  public var isNullable = false
  /// Whether the column is part of the primary key.
  public var isPrimaryKey: Bool
  /// What a record without the column gets.
  public var defaultValue: SQLValue?

  public init(_ name: String, isPrimaryKey: Bool = false, defaultValue: SQLValue? = nil) {
    self.name = name
    self.isPrimaryKey = isPrimaryKey
    self.defaultValue = defaultValue
  }
}
