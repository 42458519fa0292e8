/// Swift source with its body indented. Macros write their text laid out: formatting it anew would take the compiler longer
/// than all else that an expansion costs.
func block(_ head: String, _ body: [String]) -> String {
  "\(head) {\n\(body.joined(separator: "\n").indented)\n}"
}

extension String {
  fileprivate var indented: String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }
      .joined(separator: "\n")
  }
}
