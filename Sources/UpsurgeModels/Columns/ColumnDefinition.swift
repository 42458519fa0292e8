import Foundation
import UpsurgeSQLite

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
  /// How it stores values, where it is of a coding of one column.
  package var storing: ColumnStorage?

  /// Whether both say the same of a column.
  public static func == (left: ColumnDefinition, right: ColumnDefinition) -> Bool {
    left.name == right.name && left.storage == right.storage && left.isNullable == right.isNullable
      && left.isPrimaryKey == right.isPrimaryKey && left.defaultValue == right.defaultValue
  }

  public init(_ name: String, isPrimaryKey: Bool = false, defaultValue: SQLValue? = nil) {
    self.name = name
    self.isPrimaryKey = isPrimaryKey
    self.defaultValue = defaultValue
  }
}

/// How a column stores values, the coding's type forgotten.
package struct ColumnStorage: Sendable, Equatable {
  private let coding: any SingleColumnCoding.Type

  init(_ coding: any SingleColumnCoding.Type) { self.coding = coding }

  /// A value as the column stores it; nil for one of another type than its values are, or that cannot be
  /// stored.
  package func stored(_ value: Any) -> SQLValue? {
    func stored<Coding: SingleColumnCoding>(as coding: Coding.Type) -> SQLValue? {
      guard let value = value as? Coding.Value else { return nil }
      return try? Coding.storedValue(value)
    }
    return stored(as: coding)
  }

  /// What the column has in rows that are gone and in those that are there, as ``SnapshotMark`` knows them: the time or an empty text, 1 or
  /// 0, true or false.
  /// - Parameter isNullable: whether NULL says that a row is there.
  /// - Returns: nil where it cannot say both; `there` is nil where only NULL says it.
  func marks(at time: Date, isNullable: Bool) -> (gone: SQLValue, there: SQLValue?)? {
    func marks<Coding: SingleColumnCoding>(as coding: Coding.Type) -> (gone: SQLValue, there: SQLValue?)? {
      guard let values = Self.marks(of: Coding.Value.self, at: time), let gone = stored(values.gone) else {
        return nil
      }
      var row = RowDecoder([gone], names: [])
      let there = values.there.flatMap(stored)
      guard (try? Coding.decode(from: &row)) != nil, there != nil || isNullable, gone != there,
        !SnapshotMark.saysThere(gone)
      else { return nil }
      return (gone, there)
    }
    return marks(as: coding)
  }

  /// What says that a row is gone or there, as values of a type; of one that wraps another, as that has them.
  private static func marks(of type: Any.Type, at time: Date) -> (gone: Any, there: Any?)? {
    func wrapped<Value: RawRepresentable>(_ type: Value.Type) -> (gone: Any, there: Any?)? {
      func value(_ rawValue: Any?) -> Value? { (rawValue as? Value.RawValue).flatMap(Value.init) }
      guard let marks = marks(of: Value.RawValue.self, at: time), let gone = value(marks.gone) else {
        return nil
      }
      return (gone, value(marks.there))
    }
    return switch type {
    case is Date.Type: (time, nil)
    case is Bool.Type: (true, false)
    case is String.Type: (time.ISO8601Format(), "")
    case let number as any Numeric.Type: (number.one, number.zero)
    case let wrapper as any RawRepresentable.Type: wrapped(wrapper)
    default: nil
    }
  }

  /// As `SingleColumnCoding.newKeySQL`.
  var newKeySQL: String? { coding.newKeySQL }

  package static func == (left: Self, right: Self) -> Bool { left.coding == right.coding }
}

extension SingleColumnCoding {
  /// Whether numbers are stored as they are, as far as 1 shows: cents are not.
  static var storesOneAsOne: Bool {
    guard let number = Value.self as? any Numeric.Type,
      let stored = ColumnStorage(Self.self).stored(number.one)
    else { return false }
    return stored == .integer(1) || stored == .real(1)
  }
}

extension Numeric {
  fileprivate static var one: Any { Self(exactly: 1) ?? zero }
}
