import SwiftSyntax
import SwiftSyntaxMacros

/// Says something of a property; `@Table` reads it.
enum ColumnMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }
}

/// Says that a property is not stored; `@Table` reads it.
enum EphemeralMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }
}
