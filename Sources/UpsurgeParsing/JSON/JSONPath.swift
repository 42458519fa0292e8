import UpsurgeRecords

/// The path to the array of records, as `--json-path` spells it: `data.items`, `data."odd.key".items`.
package enum JSONPath {
  /// Takes a path apart into its keys. `$`, `$.data` and the empty text are understood as well.
  ///
  /// A key with a dot, a quote or a bracket is put in double quotes, in which `\` escapes the next character.
  /// - Throws: `usage` when a key is empty or a quote is not closed.
  package static func parse(_ text: String) throws(UpsurgeError) -> [String] {
    // A combining mark after a quote or a dot leaves it what it is.
    var rest = text.unicodeScalars[...]
    if rest.first == "$" && (rest.dropFirst().isEmpty || rest.dropFirst().first == ".") {
      rest = rest.dropFirst()
      if rest.first == "." { rest = rest.dropFirst() }
      if rest.isEmpty && text != "$" { throw refusal(text, "it ends with a dot") }
    }
    var keys: [String] = []
    while !rest.isEmpty {
      keys.append(try rest.first == "\"" ? quotedKey(&rest, of: text) : plainKey(&rest, of: text))
      if rest.isEmpty { break }
      guard rest.first == "." else { throw refusal(text, "a dot must follow a closing quote") }
      rest = rest.dropFirst()
      if rest.isEmpty { throw refusal(text, "it ends with a dot") }
    }
    return keys
  }

  /// The text that `parse` takes apart into these keys.
  package static func text(of keys: [String]) -> String {
    let parts = keys.enumerated().map { index, key in
      let isPlain =
        !key.isEmpty && !(index == 0 && key.hasPrefix("$"))
        && !key.unicodeScalars.contains { ".\"[]\\".unicodeScalars.contains($0) }
      if isPlain { return key }
      var quoted = "\""
      for scalar in key.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { quoted += "\\" }
        quoted.unicodeScalars.append(scalar)
      }
      return quoted + "\""
    }
    return parts.joined(separator: ".")
  }

  private typealias Scalars = Substring.UnicodeScalarView

  private static func plainKey(_ rest: inout Scalars, of text: String) throws(UpsurgeError) -> String {
    let key = rest.prefix { $0 != "." }
    rest = rest.dropFirst(key.count)
    if key.isEmpty { throw refusal(text, "a key between two dots is empty") }
    if key.contains(where: { "\"[]".unicodeScalars.contains($0) }) {
      throw refusal(text, "the key \(String(key)) holds a quote or a bracket")
    }
    return String(key)
  }

  private static func quotedKey(_ rest: inout Scalars, of text: String) throws(UpsurgeError) -> String {
    var key = String.UnicodeScalarView()
    rest = rest.dropFirst()
    while let scalar = rest.popFirst() {
      if scalar == "\"" { return String(key) }
      if scalar == "\\" {
        guard let escaped = rest.popFirst() else { break }
        key.append(escaped)
      } else {
        key.append(scalar)
      }
    }
    throw refusal(text, "a quote is not closed")
  }

  private static func refusal(_ text: String, _ reason: String) -> UpsurgeError {
    UpsurgeError(
      .usage, "the JSON path `\(text.escapedForTerminal)` cannot be read: \(reason)",
      hint: "\(.jsonPath) takes keys with dots between them: data.items or 'data.\"odd.key\"'")
  }
}
