import SwiftSyntax

/// Names the model where its properties say `Self`, which is another type in those that the macro nests in it.
final class SelfNamer: SyntaxRewriter {
  private let name: TokenSyntax

  init(name: String) {
    self.name = .identifier(name)
    super.init()
  }

  /// The type or value with the model's name.
  func named<Node: SyntaxProtocol>(_ node: Node) -> Node { rewrite(node).as(Node.self) ?? node }

  override func visit(_ token: TokenSyntax) -> TokenSyntax {
    guard token.tokenKind == .keyword(.Self) else { return token }
    return name.with(\.leadingTrivia, token.leadingTrivia).with(\.trailingTrivia, token.trailingTrivia)
  }
}
