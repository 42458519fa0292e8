import SwiftSyntax

/// Writes `Draft`: the model's properties, the key's optional.
struct DraftWriter {
  let model: ModelWriter
  let keys: [ModelProperty]

  func draft() -> String {
    let access = model.access
    let members = [
      (["\(access)typealias Model = \(model.name)"]
        + model.properties.map { "\(access)var \($0.identifier): \(type($0))" }).joined(separator: "\n"),
      block(
        "\(access)init(\(model.properties.map(parameter).joined(separator: ", ")))",
        model.properties.map { "self.\($0.identifier) = \($0.identifier)" }),
      block(
        "\(access)init(_ other: \(model.name))",
        model.properties.map { "self.\($0.identifier) = other.\($0.identifier)" }),
      block(
        "\(access)func encode(into row: inout UpsurgeModels.RowEncoder)", model.properties.map(encode)),
    ]
    return block("\(access)struct Draft: UpsurgeModels.TableRow", [members.joined(separator: "\n\n")])
  }

  private func isKey(_ property: ModelProperty) -> Bool { keys.contains { $0.name == property.name } }

  private func type(_ property: ModelProperty) -> String {
    property.type.trimmedDescription + (isKey(property) ? "?" : "")
  }

  private func parameter(_ property: ModelProperty) -> String {
    var text = "\(property.identifier): \(type(property))"
    if isKey(property) || property.initialValue == nil && property.type.isOptional {
      text += " = nil"
    } else if let value = property.initialValue {
      text += " = \(value)"
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
