import Foundation
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import UpsurgeMacros

private let macros: [String: MacroSpec] = [
  "Table": MacroSpec(type: TableMacro.self, conformances: ["TableRow", "Table", "PrimaryKeyedTable"]),
  "Selection": MacroSpec(type: SelectionMacro.self, conformances: ["ColumnCoding", "ColumnGroup"]),
  "Column": MacroSpec(type: ColumnMacro.self),
  "Ephemeral": MacroSpec(type: EphemeralMacro.self),
]

/// Compares what source becomes with `Snapshots/NAME.txt`; with `UPSURGE_RECORD` set writes it there.
func expectSnapshot(
  _ name: String, _ source: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
  let (expanded, messages) = expanded(source)
  #expect(messages == [], sourceLocation: sourceLocation)
  let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots/\(name).txt")
  if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil {
    try expanded.write(to: url, atomically: true, encoding: .utf8)
    Issue.record("\(name) was recorded", sourceLocation: sourceLocation)
  }
  #expect(try String(contentsOf: url, encoding: .utf8) == expanded, sourceLocation: sourceLocation)
}

/// Compares what is said of a misuse, where, and what its fix-it makes of the source.
func expectDiagnostic(
  _ source: String, _ diagnostics: [DiagnosticSpec], expands expansion: String?, fixed: String? = nil,
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  // Where the model is expanded all the same, what it becomes is another test's.
  let expansion = expansion ?? expanded(source).text
  assertMacroExpansion(
    source, expandedSource: expansion, diagnostics: diagnostics, macroSpecs: macros, fixedSource: fixed,
    indentationWidth: .spaces(2),
    failureHandler: { Issue.record("\($0.message)", sourceLocation: sourceLocation) })
}

/// Source with its macros expanded, and what is said of it.
private func expanded(_ source: String) -> (text: String, messages: [String]) {
  let file = Parser.parse(source: source)
  let context = BasicMacroExpansionContext(
    sourceFiles: [file: .init(moduleName: "Models", fullFilePath: "Models.swift")])
  let expanded = file.expand(
    macroSpecs: macros,
    contextGenerator: {
      BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
    },
    indentationWidth: .spaces(2))
  return (expanded.description, context.diagnostics.map(\.message))
}
