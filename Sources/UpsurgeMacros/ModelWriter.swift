import SwiftSyntax

/// Writes the members that tables and groups of columns have in common.
struct ModelWriter {
  /// The type's name, with those that it is nested in.
  let name: String
  let properties: [ModelProperty]
  /// `public ` or the like.
  let access: String

  /// The structure of the columns in SQL.
  func tableColumns(isGroup: Bool) -> String {
    """
    \(access)struct TableColumns: \(isGroup ? "UpsurgeModels.GroupColumns" : "Swift.Sendable") {
    \(isGroup ? "\(access)typealias Group = \(name)\n\(access)let _source: UpsurgeModels.ColumnSource\n" : "")\
    \(lines { "\(access)let \($0.identifier): UpsurgeModels.ColumnsOf<\($0.codingText)>" })
    \(access)init(of source: UpsurgeModels.ColumnSource) {
    \(isGroup ? "self._source = source\n" : "")\
    \(lines { "self.\($0.identifier) = \($0.codingText).columns(\(literal($0.columnName)), of: source)" })
    }
    }
    """
  }

  func columnDefinitions(keys: [ModelProperty]) -> String {
    """
    \(access)static let columnDefinitions: [UpsurgeModels.ColumnDefinition] = {
    var columns: [UpsurgeModels.ColumnDefinition] = []
    \(lines { define($0, isKey: keys.map(\.name).contains($0.name)) })
    return columns
    }()
    """
  }

  func define(_ property: ModelProperty, isKey: Bool) -> String {
    var definition = "UpsurgeModels.ColumnDefinition(\(literal(property.columnName))"
    if isKey { definition += ", isPrimaryKey: true" }
    if let value = property.literalDefault {
      definition += ", defaultValue: \(property.codingText).defaultValue(\(value))"
    }
    return "\(property.codingText).define(\(definition)), in: &columns)"
  }

  func encode() -> String {
    """
    \(access)func encode(into row: inout UpsurgeModels.RowEncoder) {
    \(lines { "\($0.codingText).encode(self.\($0.identifier), into: &row)" })
    }
    """
  }

  func decode() -> String {
    """
    \(access)init(from row: inout UpsurgeModels.RowDecoder) throws(UpsurgeModels.UpsurgeError) {
    \(lines { "self.\($0.identifier) = try \($0.codingText).decode(from: &row)" })
    }
    """
  }

  func primaryKey(_ keys: [ModelProperty]) -> String {
    let types = keys.map(\.type.trimmedDescription).joined(separator: ", ")
    let values = keys.map { "self.\($0.identifier)" }.joined(separator: ", ")
    let encoded = keys.enumerated().map { index, key in
      "\(key.codingText).encode(key\(keys.count == 1 ? "" : ".\(index)"), into: &row)"
    }
    return """
      \(access)typealias PrimaryKey = \(keys.count == 1 ? types : "(\(types))")

      \(access)var primaryKey: PrimaryKey {
      \(keys.count == 1 ? values : "(\(values))")
      }

      \(access)static func encodePrimaryKey(_ key: PrimaryKey, into row: inout UpsurgeModels.RowEncoder) {
      \(encoded.joined(separator: "\n"))
      }
      """
  }

  /// A line for each property.
  func lines(_ line: (ModelProperty) -> String) -> String { properties.map(line).joined(separator: "\n") }
}

extension ModelProperty {
  /// The coding as an expression can name it.
  var codingText: String { coding.expressionText }
}

extension TypeSyntax {
  /// The type as an expression can name it: `T?` is `Swift.Optional<T>`.
  var expressionText: String {
    let wrapped =
      self.as(OptionalTypeSyntax.self)?.wrappedType
      ?? self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType
    return wrapped.map { "Swift.Optional<\($0.expressionText)>" } ?? trimmedDescription
  }
}
