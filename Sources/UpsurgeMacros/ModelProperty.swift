import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A stored property that becomes a column, or columns.
struct ModelProperty {
  /// The name in Swift, without backticks.
  let name: String
  /// The name of the column.
  let columnName: String
  /// The property's type as it was written.
  let type: TypeSyntax
  /// The type that says how it is stored.
  let coding: TypeSyntax
  /// The initial value.
  let initialValue: ExprSyntax?
  /// What `primaryKey:` says; nil where it is not given.
  let isPrimaryKey: Bool?
  /// How visible it is; private ones can be seen in the module, as the columns they are.
  let access: Access
  /// The name's token, where diagnostics point.
  let token: TokenSyntax

  /// The name as source spells it.
  var identifier: String { token.trimmedDescription }

  /// The initial value, where it is a literal, so that the schema can have it as the column's default.
  var literalDefault: ExprSyntax? {
    guard let initialValue else { return nil }
    if let prefixed = initialValue.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-",
      prefixed.expression.is(IntegerLiteralExprSyntax.self)
        || prefixed.expression.is(FloatLiteralExprSyntax.self)
    {
      return initialValue
    }
    if let text = initialValue.as(StringLiteralExprSyntax.self) {
      return text.segments.allSatisfy { $0.is(StringSegmentSyntax.self) } ? initialValue : nil
    }
    let isLiteral =
      initialValue.is(IntegerLiteralExprSyntax.self) || initialValue.is(FloatLiteralExprSyntax.self)
      || initialValue.is(BooleanLiteralExprSyntax.self)
    return isLiteral ? initialValue : nil
  }
}

extension ModelProperty {
  /// The properties of a declaration that are stored and not `@Ephemeral`, in their order; what is wrong is diagnosed.
  static func all(in group: DeclGroupSyntax, context: some MacroExpansionContext) -> [ModelProperty] {
    var properties: [ModelProperty] = []
    for member in group.memberBlock.members {
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        context.diagnose(
          Diagnostic(
            "A model has the same columns everywhere: '#if' cannot hold any of its members",
            id: "conditional", at: condition))
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic else { continue }
      let isEphemeral = variable.attribute("Ephemeral") != nil
      if isEphemeral, let column = variable.attribute("Column") {
        context.diagnose(
          Diagnostic(
            "'@Ephemeral' says that the property is not stored, and '@Column' how it is",
            id: "ephemeral-column", at: column,
            fixIt: ("Remove '@Column'", [.remove(column, from: variable)])))
      }
      for binding in variable.bindings where binding.isStored {
        if isEphemeral {
          checkEphemeral(binding, of: variable, context: context)
        } else if let property = property(binding, of: variable, context: context) {
          properties.append(property)
        }
      }
    }
    return properties
  }

  private static func property(
    _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax, context: some MacroExpansionContext
  ) -> ModelProperty? {
    guard let token = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
      context.diagnose(
        Diagnostic(
          "A column needs a property of its own, not a tuple of names", id: "tuple-pattern",
          at: binding.pattern))
      return nil
    }
    if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      context.diagnose(
        Diagnostic(
          "A lazy property cannot be a column", id: "lazy-column", at: lazy,
          fixIt: ("Add '@Ephemeral'", [.addAttribute("@Ephemeral ", to: variable)])))
      return nil
    }
    let initialValue = binding.initializer?.value
    if let initialValue, variable.bindingSpecifier.tokenKind == .keyword(.let) {
      context.diagnose(
        Diagnostic(
          "A 'let' that has its value already cannot be read from a row", id: "let-with-value",
          at: variable.bindingSpecifier,
          fixIt: (
            "Replace 'let' with 'var'",
            [
              .replace(
                oldNode: Syntax(variable.bindingSpecifier),
                newNode: Syntax(
                  TokenSyntax.keyword(
                    .var, leadingTrivia: variable.bindingSpecifier.leadingTrivia, trailingTrivia: .space)))
            ]
          )))
      _ = initialValue
      return nil
    }
    let behind = variable.bindings.drop { $0.id != binding.id }
    // Of `var a, b: Int` the type stands behind the last.
    let annotation = behind.first { $0.typeAnnotation != nil || $0.initializer != nil }?.typeAnnotation
    guard let type = annotation?.type.trimmed ?? initialValue.flatMap(literalType) else {
      context.diagnose(
        Diagnostic(
          "A column needs a type: '\(token.text)' has none that can be read here", id: "missing-type",
          at: binding.pattern,
          fixIt: ("Insert ': <#Type#>'", [.addType(to: binding)])))
      return nil
    }
    let options = ColumnOptions(variable.attribute("Column"), context: context)
    let name = token.text.trimmingBackticks
    return ModelProperty(
      name: name, columnName: options.name ?? name, type: type,
      coding: options.coding.map { coding in
        type.isOptional && !coding.isOptional ? TypeSyntax("\(coding)?") : coding
      } ?? type,
      initialValue: initialValue?.trimmed, isPrimaryKey: options.isPrimaryKey,
      access: max(Access(variable.modifiers), .internal), token: token)
  }

  private static func checkEphemeral(
    _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax, context: some MacroExpansionContext
  ) {
    let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
    if binding.initializer != nil || isVariable && binding.typeAnnotation?.type.isOptional == true { return }
    context.diagnose(
      Diagnostic(
        "An '@Ephemeral' property needs a value that it has when a row is read", id: "ephemeral-value",
        at: binding.pattern,
        fixIt: ("Insert ' = <#value#>'", [.addValue(to: binding)])))
  }

  /// The type of a literal.
  private static func literalType(_ value: ExprSyntax) -> TypeSyntax? {
    let value = value.as(PrefixOperatorExprSyntax.self)?.expression ?? value
    if value.is(IntegerLiteralExprSyntax.self) { return "Swift.Int" }
    if value.is(FloatLiteralExprSyntax.self) { return "Swift.Double" }
    if value.is(BooleanLiteralExprSyntax.self) { return "Swift.Bool" }
    if value.is(StringLiteralExprSyntax.self) { return "Swift.String" }
    return nil
  }
}

/// What `@Column` says.
private struct ColumnOptions {
  var name: String?
  var coding: TypeSyntax?
  var isPrimaryKey: Bool?

  init(_ attribute: AttributeSyntax?, context: some MacroExpansionContext) {
    guard let arguments = attribute?.arguments?.as(LabeledExprListSyntax.self) else { return }
    for argument in arguments {
      switch argument.label?.text {
      case nil:
        name = argument.expression.plainText
        if name == nil {
          context.diagnose(
            Diagnostic("A column's name must be a string literal", id: "column-name", at: argument.expression)
          )
        }
      case "as":
        if let access = argument.expression.as(MemberAccessExprSyntax.self),
          access.declName.baseName.text == "self",
          let base = access.base
        {
          coding = TypeSyntax(stringLiteral: base.trimmedDescription)
        } else {
          context.diagnose(
            Diagnostic(
              "A coding must be written as a type: '\(argument.expression.trimmedDescription).self'",
              id: "column-coding",
              at: argument.expression))
        }
      default:
        isPrimaryKey =
          argument.expression.as(BooleanLiteralExprSyntax.self)?.literal.tokenKind == .keyword(.true)
      }
    }
  }
}
