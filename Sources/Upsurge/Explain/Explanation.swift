/// What `--explain` prints: decisions with their reasons, and the statements.
///
///     mode       upsert: a key was given
///     key        PRIMARY KEY (id): it is the key on the columns of --key
package struct Explanation {
  /// One decision of the plan.
  package struct Line {
    var title: String
    var decision: String
    /// Why, or what follows from it; empty where nothing is to be said.
    var reason: Wording

    package init(_ title: String, _ decision: String, because reason: Wording = "") {
      self.title = title
      self.decision = decision
      self.reason = reason
    }

    @_disfavoredOverload
    package init(_ title: String, _ decision: String, because reason: String) {
      self.init(title, decision, because: Wording(reason))
    }
  }

  package var lines: [Line] = []
  /// Statements with what they are for.
  package var statements: [(title: String, sql: String)] = []

  package init() {}

  /// The text for a person, each line with its end; names of the schema with their control characters made visible.
  package var text: String {
    let width = lines.map(\.title.count).max() ?? 0
    var text = ""
    for line in lines {
      let padding = String(repeating: " ", count: width - line.title.count)
      text += "\(line.title)\(padding)  \(line.decision.escapedForTerminal)"
      text += line.reason.isEmpty ? "\n" : ": \(line.reason.escapedForTerminal)\n"
    }
    for statement in statements {
      let sql = statement.sql.split(separator: "\n", omittingEmptySubsequences: false)
        .map { "  " + String($0).escapedForTerminal }
      text += "\n\(statement.title):\n\(sql.joined(separator: "\n"));\n"
    }
    return text
  }
}
