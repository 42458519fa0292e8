import SwiftSyntax

/// Writes the members that tables and groups of columns have in common.
struct ModelWriter {
  /// The type's name, with those that it is nested in.
  let name: String
  let properties: [ModelProperty]
  /// How visible the type is.
  let visibility: Access

  /// `public ` or the like.
  var access: String { visibility.modifier }

  /// `public ` or the like: as visible as the property, in a type as visible as the model.
  func access(of property: ModelProperty) -> String { min(visibility, property.access).modifier }

  /// The structure of the columns in SQL.
  func tableColumns(isGroup: Bool) -> String {
    let group = ["\(access)typealias Group = \(name)", "\(access)let _source: UpsurgeModels.ColumnSource"]
    return block(
      "\(access)struct TableColumns: \(isGroup ? "UpsurgeModels.GroupColumns" : "Swift.Sendable")",
      (isGroup ? group : [])
        + properties.map {
          "\(access(of: $0))let \($0.identifier): UpsurgeModels.ColumnsOf<\($0.codingText)>"
        } + [
          block(
            "\(access)init(of source: UpsurgeModels.ColumnSource)",
            (isGroup ? ["self._source = source"] : [])
              + properties.map {
                "self.\($0.identifier) = \($0.codingText).columns(\(literal($0.columnName)), of: source)"
              })
        ])
  }

  func columnDefinitions(keys: [ModelProperty]) -> String {
    block(
      "\(access)static let columnDefinitions: [UpsurgeModels.ColumnDefinition] =",
      ["var columns: [UpsurgeModels.ColumnDefinition] = []"]
        + properties.map { define($0, isKey: keys.map(\.name).contains($0.name)) } + ["return columns"])
      + "()"
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
    block(
      "\(access)func encode(into row: inout UpsurgeModels.RowEncoder)",
      properties.map { "\($0.codingText).encode(self.\($0.identifier), into: &row)" })
  }

  func decode() -> String {
    block(
      "\(access)init(from row: inout UpsurgeModels.RowDecoder) throws(UpsurgeModels.UpsurgeError)",
      properties.map { "self.\($0.identifier) = try \($0.codingText).decode(from: &row)" })
  }

  func primaryKey(_ keys: [ModelProperty]) -> String {
    let types = keys.map(\.type.trimmedDescription).joined(separator: ", ")
    let values = keys.map { "self.\($0.identifier)" }.joined(separator: ", ")
    let encoded = keys.enumerated().map { index, key in
      "\(key.codingText).encode(key\(keys.count == 1 ? "" : ".\(index)"), into: &row)"
    }
    return [
      "\(access)typealias PrimaryKey = \(keys.count == 1 ? types : "(\(types))")",
      block("\(access)var primaryKey: PrimaryKey", [keys.count == 1 ? values : "(\(values))"]),
      block(
        "\(access)static func encodePrimaryKey(_ key: PrimaryKey, into row: inout UpsurgeModels.RowEncoder)",
        encoded),
    ].joined(separator: "\n\n")
  }
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
