import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Makes a struct, or an enum with associated values, a group of columns.
enum SelectionMacro: ExtensionMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let members: [String]
    if let group = declaration.as(StructDeclSyntax.self) {
      if isGeneric(group, "@Selection", context: context) { return [] }
      let properties = ModelProperty.all(in: group, of: type, context: context)
      guard check(properties, of: group, "@Selection", context: context),
        !hasKey(properties, context: context)
      else { return [] }
      members = structMembers(
        ModelWriter(
          name: type.trimmedDescription, properties: properties, visibility: Access(group.modifiers)))
    } else if let group = declaration.as(EnumDeclSyntax.self) {
      guard let cases = SelectionCase.all(in: group, of: type, context: context) else { return [] }
      members = EnumWriter(
        name: type.trimmedDescription, cases: cases, access: Access(group.modifiers).modifier
      )
      .members()
    } else {
      context.diagnose(
        Diagnostic(
          "'@Selection' can only be applied to a struct, or to an enum with values", id: "selection-kind",
          at: node))
      return []
    }
    let text = block(
      "extension \(type.trimmedDescription): UpsurgeModels.ColumnCoding, UpsurgeModels.ColumnGroup",
      [members.joined(separator: "\n\n")])
    return [try ExtensionDeclSyntax("\(raw: text)")]
  }

  private static func structMembers(_ writer: ModelWriter) -> [String] {
    let access = writer.access
    return [
      writer.tableColumns(isGroup: true),
      groupColumnCount(writer.properties.map(\.codingText), access),
      groupDefine(writer.properties.map { writer.define($0, isKey: false) }, access),
      groupEncode(
        writer.properties.map { "\($0.codingText).encode(value.\($0.identifier), into: &row)" }, access),
      writer.decode(),
      groupDecode(["try Self(from: &row)"], access),
    ]
  }

  private static func hasKey(_ properties: [ModelProperty], context: some MacroExpansionContext) -> Bool {
    guard let key = properties.first(where: { $0.isPrimaryKey == true }) else { return false }
    context.diagnose(
      Diagnostic(
        "The primary key is said in the table: '@Column(primaryKey: true)' at the property that is the group",
        id: "group-key",
        at: key.token))
    return true
  }
}

// What structs and enums have in common.

private func groupColumnCount(_ codings: [String], _ access: String) -> String {
  "\(access)static let columnCount = \(codings.map { "\($0).columnCount" }.joined(separator: " + "))"
}

private func groupDefine(_ definitions: [String], _ access: String) -> String {
  block(
    "\(access)static func define(_ column: UpsurgeModels.ColumnDefinition, in columns: inout [UpsurgeModels.ColumnDefinition])",
    ["let first = columns.count"] + definitions
      + ["UpsurgeModels.ColumnDefinition.makeGroup(column, of: &columns[first...])"])
}

private func groupEncode(_ lines: [String], _ access: String) -> String {
  block("\(access)static func encode(_ value: Self, into row: inout UpsurgeModels.RowEncoder)", lines)
}

private func groupDecode(_ lines: [String], _ access: String) -> String {
  block(
    "\(access)static func decode(from row: inout UpsurgeModels.RowDecoder) throws(UpsurgeModels.UpsurgeError) -> Self",
    lines)
}

/// A case whose value is stored in columns of its own.
private struct SelectionCase {
  let name: TokenSyntax
  let type: TypeSyntax
  let label: String?

  /// The coding of the case's columns, which are NULL for other cases.
  var coding: String { "Swift.Optional<\(type.expressionText)>" }
  /// The case with its value.
  func pattern(_ value: String) -> String { ".\(name)(\(label.map { "\($0): " } ?? "")\(value))" }

  /// The cases of an enum; nil where one of them cannot be stored, which is diagnosed.
  static func all(
    in group: EnumDeclSyntax, of type: some TypeSyntaxProtocol, context: some MacroExpansionContext
  ) -> [SelectionCase]? {
    let namer = SelfNamer(name: type.trimmedDescription)
    var cases: [SelectionCase] = []
    var seen: [String: String] = [:]
    var isRight = true
    for member in group.memberBlock.members {
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        isRight = false
        diagnoseConditional(condition, context: context)
      }
      for element in member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
        let parameters = element.parameterClause?.parameters
        guard let parameter = parameters?.first, parameters?.count == 1, !parameter.type.isOptional else {
          isRight = false
          context.diagnose(
            Diagnostic(
              "A case of a '@Selection' needs one associated value that is not optional: the columns that tell the case",
              id: "selection-case", at: element.name))
          continue
        }
        let column = element.name.text.trimmingBackticks
        if let other = seen.updateValue(column, forKey: column.lowercased()) {
          isRight = false
          context.diagnose(.columnTwice(other, column, named: column, at: element.name))
        }
        let label = parameter.firstName.flatMap { $0.text == "_" ? nil : $0.text }
        cases.append(
          SelectionCase(name: element.name.trimmed, type: namer.named(parameter.type.trimmed), label: label))
      }
    }
    if let parameters = group.genericParameterClause {
      isRight = false
      context.diagnose(
        Diagnostic("'@Selection' cannot be applied to a generic type", id: "generic-type", at: parameters))
    }
    if cases.isEmpty && isRight {
      isRight = false
      context.diagnose(
        Diagnostic("'@Selection' needs a case with a value at least", id: "no-column", at: group.name))
    }
    return isRight ? cases : nil
  }
}

/// Writes the members of an enum.
private struct EnumWriter {
  let name: String
  let cases: [SelectionCase]
  let access: String

  func members() -> [String] {
    [
      block(
        "\(access)struct TableColumns: UpsurgeModels.GroupColumns",
        ["\(access)typealias Group = \(name)", "\(access)let _source: UpsurgeModels.ColumnSource"]
          + cases.map { "\(access)let \($0.name): UpsurgeModels.ColumnsOf<\($0.coding)>" } + [
            block(
              "\(access)init(of source: UpsurgeModels.ColumnSource)",
              ["self._source = source"]
                + cases.map { "self.\($0.name) = \($0.coding).columns(\(columnName($0)), of: source)" })
          ]),
      groupColumnCount(cases.map(\.coding), access),
      groupDefine(
        cases.map {
          "\($0.coding).define(UpsurgeModels.ColumnDefinition(\(columnName($0))), in: &columns)"
        }, access),
      groupEncode(cases.map(encode), access),
      groupDecode(
        ["var found: Self?"] + cases.map(decode) + [
          block(
            "guard let found else",
            [
              "throw row.invalid(\(literal("a value in one of \(cases.map(\.name.text).joined(separator: ", "))")))"
            ]),
          "return found",
        ], access),
    ]
  }

  private func encode(_ element: SelectionCase) -> String {
    block(
      "if case let \(element.pattern("payload")) = value", ["\(element.coding).encode(payload, into: &row)"])
      + block(" else", ["\(element.coding).encode(nil, into: &row)"])
  }

  private func decode(_ element: SelectionCase) -> String {
    block(
      "if let payload = try \(element.coding).decode(from: &row)",
      [
        block("if found != nil", ["throw row.invalid(\"one case, not two\")"]),
        "found = \(element.pattern("payload"))",
      ])
  }

  private func columnName(_ element: SelectionCase) -> String { literal(element.name.text.trimmingBackticks) }
}
