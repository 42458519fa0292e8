import SwiftSyntax

/// Writes `Draft`: the model's properties, the key's optional.
struct DraftWriter {
  let model: ModelWriter
  let keys: [ModelProperty]

  func draft() -> String {
    let access = model.access
    // As of a struct's own, the initializer is as visible as the least visible property.
    let memberwise = model.properties.map(\.access).reduce(model.visibility, min)
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
      text += " = \(SelfNamer(name: model.name).rewrite(value))"
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

/// Names the model where its properties' values say `Self`, which in the draft is the draft.
private final class SelfNamer: SyntaxRewriter {
  private let name: TokenSyntax

  init(name: String) {
    self.name = .identifier(name)
    super.init()
  }

  override func visit(_ token: TokenSyntax) -> TokenSyntax {
    guard token.tokenKind == .keyword(.Self) else { return token }
    return name.with(\.leadingTrivia, token.leadingTrivia).with(\.trailingTrivia, token.trailingTrivia)
  }
}
