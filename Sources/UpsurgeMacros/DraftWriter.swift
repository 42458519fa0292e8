import SwiftSyntax

/// Writes `Draft`: the model's properties, the key's optional.
struct DraftWriter {
  let model: ModelWriter
  let keys: [ModelProperty]

  func draft() -> String {
    let access = model.access
    let members = [
      (["\(access)typealias TableModel = \(model.name)"]
        + model.properties.map { "\(model.access(of: $0))var \($0.identifier): \(type($0))" }).joined(
          separator: "\n"),
      block(
        "\(memberwise.modifier)init(\(model.properties.map(parameter).joined(separator: ", ")))",
        model.properties.map { "self.\($0.identifier) = \($0.identifier)" }),
      block(
        "\(access)init(_ other: \(model.name))",
        model.properties.map { "self.\($0.identifier) = other.\($0.identifier)" }),
      block(
        "\(access)func encode(into row: inout UpsurgeModels.RowEncoder)", model.properties.map(encode)),
    ]
    let defaults = model.properties.compactMap { property -> String? in
      guard let value = property.initialValue, hasHiddenDefault(property) else { return nil }
      return block(
        "\(memberwise.modifier)static func \(defaultName(property))() -> \(type(property))", ["\(value)"])
    }
    return block(
      "\(access)struct Draft: UpsurgeModels.TableRow", [(members + defaults).joined(separator: "\n\n")])
  }

  /// As of a struct's own, the initializer is as visible as the least visible property.
  private var memberwise: Access { model.properties.map(\.access).reduce(model.visibility, min) }

  /// Whether the default may name what is less visible than the initializer is: it stands in a function then.
  private func hasHiddenDefault(_ property: ModelProperty) -> Bool {
    memberwise > .internal && !isKey(property) && property.initialValue != nil
      && property.literalDefault == nil
  }

  private func defaultName(_ property: ModelProperty) -> String { "_default_\(property.name)" }

  private func isKey(_ property: ModelProperty) -> Bool { keys.contains { $0.name == property.name } }

  private func type(_ property: ModelProperty) -> String {
    property.type.trimmedDescription + (isKey(property) ? "?" : "")
  }

  private func parameter(_ property: ModelProperty) -> String {
    var text = "\(property.identifier): \(type(property))"
    if isKey(property) || property.initialValue == nil && property.type.isOptional {
      text += " = nil"
    } else if let value = property.initialValue {
      text += " = \(hasHiddenDefault(property) ? "Self.\(defaultName(property))()" : "\(value)")"
    }
    return text
  }

  private func encode(_ property: ModelProperty) -> String {
    let value = "self.\(property.identifier)"
    if !isKey(property) { return "\(property.codingText).encode(\(value), into: &row)" }
    return block("if let key = \(value)", ["\(property.codingText).encode(key, into: &row)"])
      + block(" else", ["row.appendAbsent(\(property.codingText).columnCount)"])
  }
}
