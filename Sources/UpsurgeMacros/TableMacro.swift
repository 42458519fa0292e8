import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Makes a struct a table: columns, encoding, decoding, key, and the draft without the key.
enum TableMacro: ExtensionMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = declaration.as(StructDeclSyntax.self) else {
      diagnoseKind(declaration, context: context)
      return []
    }
    guard let name = tableName(node, of: model, context: context),
      !isGeneric(model, "@Table", context: context)
    else {
      return []
    }
    let properties = ModelProperty.all(in: model, of: type, context: context)
    guard check(properties, of: model, "@Table", context: context) else { return [] }
    let keys = primaryKey(properties)
    guard !hasReservedMember(model, isKeyed: !keys.isEmpty, context: context) else { return [] }
    if let key = keys.first(where: \.type.isOptional) {
      context.diagnose(
        Diagnostic(
          "A primary key is never NULL; '\(model.name.text).Draft' is a row that has none yet",
          id: "optional-key", at: key.token))
      return []
    }
    let writer = ModelWriter(
      name: type.trimmedDescription, properties: properties, visibility: Access(model.modifiers))
    let members = [
      "\(writer.access)typealias TableModel = \(writer.name)",
      writer.tableColumns(isGroup: false),
      "\(writer.access)static let tableName = \(literal(name))",
      writer.columnDefinitions(keys: keys),
      block(
        "\(writer.access)static func columns(of source: UpsurgeModels.ColumnSource) -> TableColumns",
        ["TableColumns(of: source)"]),
      writer.encode(), writer.decode(),
    ]
    let draft = keys.isEmpty ? [] : [writer.primaryKey(keys), DraftWriter(model: writer, keys: keys).draft()]
    // A conformance that another one implies has to be written, too.
    let conformances = ["TableRow", "Table"] + (keys.isEmpty ? [] : ["PrimaryKeyedTable"])
    let protocols = conformances.map { "UpsurgeModels.\($0)" }.joined(separator: ", ")
    let text = block(
      "extension \(type.trimmedDescription): \(protocols)", [(members + draft).joined(separator: "\n\n")])
    return [try ExtensionDeclSyntax("\(raw: text)")]
  }

  /// `@Table("name")`, or the type's name in lower camel case and plural.
  private static func tableName(
    _ node: AttributeSyntax, of model: StructDeclSyntax, context: some MacroExpansionContext
  ) -> String? {
    guard let argument = node.arguments?.as(LabeledExprListSyntax.self)?.first else {
      return model.name.text.trimmingBackticks.pluralTableName
    }
    guard let name = argument.expression.plainText, !name.isEmpty else {
      context.diagnose(
        Diagnostic(
          "A table's name must be a string literal that is not empty", id: "table-name",
          at: argument.expression))
      return nil
    }
    if name.lowercased().hasPrefix("sqlite_") {
      context.diagnose(
        Diagnostic(
          "Names that begin with 'sqlite_' are SQLite's own", id: "reserved-name", at: argument.expression))
      return nil
    }
    return name
  }

  /// Diagnoses members of the names that the macro gives.
  private static func hasReservedMember(
    _ model: StructDeclSyntax, isKeyed: Bool, context: some MacroExpansionContext
  ) -> Bool {
    let types = ["TableModel", "TableColumns"] + (isKeyed ? ["PrimaryKey", "Draft"] : [])
    let instances = isKeyed ? ["primaryKey"] : []
    let statics = ["tableName", "columnDefinitions"]
    var isReserved = false
    for member in model.memberBlock.members {
      let taken: [TokenSyntax]
      if let variable = member.decl.as(VariableDeclSyntax.self) {
        taken = variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier }
          .filter { (variable.isStatic ? statics : instances).contains($0.text.trimmingBackticks) }
      } else {
        taken = [member.decl.typeName].compactMap { $0 }.filter { types.contains($0.text) }
      }
      for token in taken {
        isReserved = true
        context.diagnose(
          Diagnostic(
            "'@Table' declares '\(token.text.trimmingBackticks)' itself: choose another name, and for a column's '@Column(\"…\")'",
            id: "reserved-member", at: token))
      }
    }
    return isReserved
  }

  /// `@Column(primaryKey: true)`, or the property `id`.
  private static func primaryKey(_ properties: [ModelProperty]) -> [ModelProperty] {
    let named = properties.filter { $0.isPrimaryKey == true }
    return named.isEmpty ? properties.filter { $0.name == "id" && $0.isPrimaryKey == nil } : named
  }

  private static func diagnoseKind(_ declaration: some DeclGroupSyntax, context: some MacroExpansionContext) {
    if let declaration = declaration.as(ClassDeclSyntax.self) {
      let keyword = declaration.classKeyword
      let replacement = TokenSyntax.keyword(
        .struct, leadingTrivia: keyword.leadingTrivia, trailingTrivia: keyword.trailingTrivia)
      context.diagnose(
        Diagnostic(
          "'@Table' can only be applied to a struct", id: "table-kind", at: keyword,
          fixIt: (
            "Replace 'class' with 'struct'",
            [.replace(oldNode: Syntax(keyword), newNode: Syntax(replacement))]
          )))
    } else if let declaration = declaration.as(EnumDeclSyntax.self) {
      context.diagnose(
        Diagnostic(
          "'@Table' can only be applied to a struct; an enum with values is a group of columns, '@Selection'",
          id: "table-kind", at: declaration.enumKeyword))
    } else {
      context.diagnose(
        Diagnostic("'@Table' can only be applied to a struct", id: "table-kind", at: declaration.introducer))
    }
  }
}

/// A string as source spells it.
func literal(_ text: String) -> String {
  StringLiteralExprSyntax(content: text).description
}

/// Diagnoses a generic type, whose static members could not be stored.
func isGeneric(_ model: StructDeclSyntax, _ macro: String, context: some MacroExpansionContext) -> Bool {
  guard let parameters = model.genericParameterClause else { return false }
  context.diagnose(
    Diagnostic("'\(macro)' cannot be applied to a generic type", id: "generic-type", at: parameters))
  return true
}

/// Diagnoses what is wrong with the columns together.
func check(
  _ properties: [ModelProperty], of model: StructDeclSyntax, _ macro: String,
  context: some MacroExpansionContext
) -> Bool {
  var isRight = true
  for member in model.memberBlock.members {
    guard let variable = member.decl.as(VariableDeclSyntax.self), let column = variable.attribute("Column"),
      variable.isStatic || variable.bindings.contains(where: { !$0.isStored })
    else { continue }
    isRight = false
    context.diagnose(
      Diagnostic(
        "'@Column' can only be applied to a stored property", id: "computed-column", at: column,
        fixIt: ("Remove '@Column'", [.remove(column, from: variable)])))
  }
  if properties.isEmpty {
    // What was wrong with each property has been said.
    let hasStored = model.memberBlock.members.contains { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else {
        return member.decl.is(IfConfigDeclSyntax.self)
      }
      return !variable.isStatic && variable.attribute("Ephemeral") == nil
        && variable.bindings.contains(where: \.isStored)
    }
    if !hasStored {
      context.diagnose(
        Diagnostic("'\(macro)' needs a stored property at least", id: "no-column", at: model.name))
    }
    return false
  }
  var seen: [String: String] = [:]
  for property in properties {
    if let other = seen.updateValue(property.name, forKey: property.columnName.lowercased()) {
      isRight = false
      context.diagnose(.columnTwice(other, property.name, named: property.columnName, at: property.token))
    }
  }
  return isRight
}

extension DeclSyntax {
  /// The name of a type's declaration.
  fileprivate var typeName: TokenSyntax? {
    self.as(StructDeclSyntax.self)?.name ?? self.as(EnumDeclSyntax.self)?.name ?? self.as(
      ClassDeclSyntax.self)?.name
      ?? self.as(ActorDeclSyntax.self)?.name ?? self.as(TypeAliasDeclSyntax.self)?.name
  }
}

extension DeclGroupSyntax {
  /// The word that the declaration begins with, after its modifiers.
  fileprivate var introducer: TokenSyntax {
    if let declaration = self.as(ActorDeclSyntax.self) { return declaration.actorKeyword }
    if let declaration = self.as(ProtocolDeclSyntax.self) { return declaration.protocolKeyword }
    if let declaration = self.as(ExtensionDeclSyntax.self) { return declaration.extensionKeyword }
    return self.firstToken(viewMode: .sourceAccurate) ?? .identifier("")
  }
}

extension String {
  /// `SyncUp` is `syncUps`, `Category` is `categories`, `Box` is `boxes`.
  var pluralTableName: String {
    let capitals = prefix { $0.isUppercase }
    // Of `URLItem` the item stays as it is: `urlItems`.
    let count = capitals.count > 1 && capitals.count < self.count ? capitals.count - 1 : capitals.count
    let name = prefix(count).lowercased() + dropFirst(count)
    let last = name.suffix(2).lowercased()
    if last.hasSuffix("y"), let before = last.dropLast().last, !"aeiou".contains(before) {
      return name.dropLast() + "ies"
    }
    if last.hasSuffix("s") || last.hasSuffix("x") || last.hasSuffix("z") || last == "ch" || last == "sh" {
      return name + "es"
    }
    return name + "s"
  }
}
