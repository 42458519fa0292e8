import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

extension VariableDeclSyntax {
  /// The attribute of this name.
  func attribute(_ name: String) -> AttributeSyntax? { attributes.attribute(name) }

  var isStatic: Bool {
    modifiers.contains { [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind) }
  }
}

extension AttributeListSyntax {
  /// The attribute of this name, with or without the module's.
  func attribute(_ name: String) -> AttributeSyntax? {
    for case .attribute(let attribute) in self {
      let written = attribute.attributeName.trimmedDescription
      if written == name || written == "UpsurgeModels.\(name)" { return attribute }
    }
    return nil
  }
}

extension PatternBindingSyntax {
  /// Whether it holds a value: it has no accessor, or only observers.
  var isStored: Bool {
    switch accessorBlock?.accessors {
    case nil: true
    case .getter: false
    case .accessors(let accessors):
      accessors.allSatisfy {
        [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
      }
    }
  }
}

extension TypeSyntax {
  /// Whether it is written as an optional.
  var isOptional: Bool {
    if self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return true }
    let text = trimmedDescription
    return text.hasPrefix("Optional<") || text.hasPrefix("Swift.Optional<")
  }

  /// Whether it is written as an array or a dictionary; one of bytes does not count.
  var isCollection: Bool {
    if let array = self.as(ArrayTypeSyntax.self) {
      return !["UInt8", "Swift.UInt8"].contains(array.element.trimmedDescription)
    }
    return self.is(DictionaryTypeSyntax.self)
  }

  /// Whether it is a tuple, a function or `any` of something, of which none has a coding.
  var hasNoCoding: Bool {
    if let tuple = self.as(TupleTypeSyntax.self) {
      return tuple.elements.count != 1 || tuple.elements.first?.type.hasNoCoding == true
    }
    if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.hasNoCoding }
    return self.is(FunctionTypeSyntax.self) || self.is(SomeOrAnyTypeSyntax.self)
      || trimmedDescription == "Any"
  }
}

extension ExprSyntax {
  /// The text of a string literal without interpolations.
  var plainText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}

extension String {
  var trimmingBackticks: String {
    hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
  }
}

// MARK: - Fix-its

extension FixIt.Change {
  static func remove(_ attribute: AttributeSyntax, from variable: VariableDeclSyntax) -> FixIt.Change {
    var changed = variable
    changed.attributes = variable.attributes.filter { $0.id != AttributeListSyntax.Element(attribute).id }
    if changed.attributes.isEmpty { changed.leadingTrivia = variable.leadingTrivia }
    return .replace(oldNode: Syntax(variable), newNode: Syntax(changed))
  }

  static func addAttribute(_ text: String, to variable: VariableDeclSyntax) -> FixIt.Change {
    var changed = variable.with(\.leadingTrivia, [])
    changed.attributes.insert(.attribute("\(raw: text)"), at: changed.attributes.startIndex)
    changed.leadingTrivia = variable.leadingTrivia
    return .replace(oldNode: Syntax(variable), newNode: Syntax(changed))
  }

  static func addType(to binding: PatternBindingSyntax) -> FixIt.Change {
    var changed = binding
    changed.pattern.trailingTrivia = []
    changed.typeAnnotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("<#Type#>"),
      trailingTrivia: binding.pattern.trailingTrivia)
    return .replace(oldNode: Syntax(binding), newNode: Syntax(changed))
  }

  static func addValue(to binding: PatternBindingSyntax) -> FixIt.Change {
    var changed = binding
    changed.initializer = InitializerClauseSyntax(
      equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space), value: ExprSyntax("<#value#>"))
    return .replace(oldNode: Syntax(binding), newNode: Syntax(changed))
  }
}
