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
  /// - Parameter type: the group's own, which `Self` is.
  static func all(
    in group: DeclGroupSyntax, of type: some TypeSyntaxProtocol, context: some MacroExpansionContext
  ) -> [ModelProperty] {
    let namer = SelfNamer(name: type.trimmedDescription)
    var properties: [ModelProperty] = []
    for member in group.memberBlock.members {
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        diagnoseConditional(condition, context: context)
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
          properties.append(property.naming(namer))
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
    guard let type = annotation(of: binding, in: variable)?.type.trimmed ?? initialValue.flatMap(literalType)
    else {
      context.diagnose(
        Diagnostic(
          "A column needs a type: '\(token.text)' has none that can be read here", id: "missing-type",
          at: binding.pattern,
          fixIt: ("Insert ': <#Type#>'", [.addType(to: binding)])))
      return nil
    }
    let options = ColumnOptions(variable.attribute("Column"), context: context)
    if !options.namesCoding, let type = annotation(of: binding, in: variable)?.type,
      !hasCoding(type, variable, context: context)
    {
      return nil
    }
    let name = token.text.trimmingBackticks
    return ModelProperty(
      name: name, columnName: options.name ?? name, type: type,
      coding: options.coding.map { coding in
        type.isOptional && !coding.isOptional ? TypeSyntax("\(coding)?") : coding
      } ?? type,
      initialValue: initialValue?.trimmed, isPrimaryKey: options.isPrimaryKey,
      access: max(Access(variable.modifiers), .internal), token: token)
  }

  /// The type that is written: of `var a, b: Int` it follows the last.
  private static func annotation(
    of binding: PatternBindingSyntax, in variable: VariableDeclSyntax
  ) -> TypeAnnotationSyntax? {
    variable.bindings.drop { $0.id != binding.id }
      .first { $0.typeAnnotation != nil || $0.initializer != nil }?.typeAnnotation
  }

  /// The property with the model's name in the place of `Self`.
  private func naming(_ namer: SelfNamer) -> ModelProperty {
    ModelProperty(
      name: name, columnName: columnName, type: namer.named(type), coding: namer.named(coding),
      initialValue: initialValue.map { namer.named($0) }, isPrimaryKey: isPrimaryKey, access: access,
      token: token)
  }

  /// Whether a type can have a coding of its own; diagnoses one that cannot.
  private static func hasCoding(
    _ type: TypeSyntax, _ variable: VariableDeclSyntax, context: some MacroExpansionContext
  ) -> Bool {
    let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType ?? type
    let text = wrapped.trimmedDescription
    if wrapped.isCollection {
      let attribute = "@Column(as: JSON<\(text)>.self)"
      context.diagnose(
        Diagnostic(
          "'\(text)' is not stored in a column of its own: '\(attribute)' stores it as JSON", id: "no-coding",
          at: type,
          fixIt: variable.attribute("Column") == nil && variable.bindings.count == 1
            ? ("Insert '\(attribute)'", [.addAttribute("\(attribute) ", to: variable)]) : nil))
    } else if wrapped.hasNoCoding {
      context.diagnose(
        Diagnostic(
          "'\(text)' cannot be stored: a column needs a type with a coding, several columns one with '@Selection'",
          id: "no-coding", at: type))
    } else {
      return true
    }
    return false
  }

  private static func checkEphemeral(
    _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax, context: some MacroExpansionContext
  ) {
    let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
    let type = annotation(of: binding, in: variable)?.type
    if binding.initializer != nil || isVariable && type?.isOptional == true { return }
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

/// Diagnoses columns that would only be there sometimes.
func diagnoseConditional(_ condition: IfConfigDeclSyntax, context: some MacroExpansionContext) {
  context.diagnose(
    Diagnostic(
      "A model has the same columns everywhere: '#if' cannot hold any of its members", id: "conditional",
      at: condition))
}

/// What `@Column` says.
private struct ColumnOptions {
  var name: String?
  var coding: TypeSyntax?
  /// Whether a coding is named, rightly or not.
  var namesCoding = false
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
        namesCoding = true
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
