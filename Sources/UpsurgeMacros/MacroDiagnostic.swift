import SwiftDiagnostics
import SwiftSyntax

/// What is wrong with a model, said at the token that has to change.
struct MacroDiagnostic: DiagnosticMessage, FixItMessage {
  let message: String
  let id: String
  var severity: DiagnosticSeverity { .error }

  var diagnosticID: MessageID { MessageID(domain: "UpsurgeMacros", id: id) }
  var fixItID: MessageID { diagnosticID }
}

extension Diagnostic {
  /// Two members of one column.
  static func columnTwice(
    _ first: String, _ second: String, named column: String, at node: some SyntaxProtocol
  ) -> Diagnostic {
    Diagnostic(
      "'\(first)' and '\(second)' are both the column '\(column)', as SQLite compares names",
      id: "column-twice", at: node)
  }

  /// - Parameter fixIt: what to do, and the changes that do it.
  init(
    _ message: String, id: String, at node: some SyntaxProtocol,
    fixIt: (message: String, changes: [FixIt.Change])? = nil
  ) {
    self.init(
      node: Syntax(node), message: MacroDiagnostic(message: message, id: id),
      fixIts: fixIt.map {
        [FixIt(message: MacroDiagnostic(message: $0.message, id: id), changes: $0.changes)]
      } ?? [])
  }
}
