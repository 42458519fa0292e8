import SwiftSyntax

/// How visible a declaration is.
enum Access: Comparable {
  case `fileprivate`, `internal`, package, `public`

  init(_ modifiers: DeclModifierListSyntax) {
    self = .internal
    // `private(set)` is the setter's alone.
    for modifier in modifiers where modifier.detail == nil {
      switch modifier.name.tokenKind {
      case .keyword(.public): self = .public
      case .keyword(.package): self = .package
      // Private members of a type are visible to its extensions in the file.
      case .keyword(.private), .keyword(.fileprivate): self = .fileprivate
      default: continue
      }
    }
  }

  /// The word before a declaration.
  var modifier: String { self == .internal ? "" : "\(self) " }
}
