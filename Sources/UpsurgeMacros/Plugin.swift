import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// What the compiler starts to expand the macros of `UpsurgeModels`.
@main struct UpsurgePlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    TableMacro.self, SelectionMacro.self, ColumnMacro.self, EphemeralMacro.self,
  ]
}
