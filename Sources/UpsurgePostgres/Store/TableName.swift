/// The name of a table as a person gives it: `orders`, `sales.orders`, `"my.table"`, `sales."my.table"`. What is not in quotes is
/// taken as it is spelled, too: no letter is made small.
struct TableName: Equatable {
  /// nil where the name says none.
  var schema: String?
  var name: String

  init(schema: String?, name: String) { (self.schema, self.name) = (schema, name) }

  init(_ text: String) {
    var rest = text[...]
    if let (part, end) = Self.quoted(rest) {
      schema = end.isEmpty ? nil : part
      rest = end.isEmpty ? rest : end.dropFirst()
    } else if let dot = text.firstIndex(of: ".") {
      schema = String(text[..<dot])
      rest = text[dot...].dropFirst()
    }
    let last = Self.quoted(rest)
    name = last?.rest.isEmpty == true ? last?.name ?? "" : String(rest)
  }

  /// A part in quotes, in which a quote comes twice.
  /// - Returns: the name, and what follows it: a dot or nothing; nil where there are no such quotes.
  private static func quoted(_ text: Substring) -> (name: String, rest: Substring)? {
    guard text.first == "\"" else { return nil }
    var (name, rest) = ("", text.dropFirst())
    while let character = rest.popFirst() {
      if character == "\"" {
        if rest.first != "\"" { return rest.isEmpty || rest.first == "." ? (name, rest) : nil }
        rest = rest.dropFirst()
      }
      name.append(character)
    }
    return nil
  }

  /// For messages: `sales.orders`.
  var shown: String { (schema.map { $0 + "." } ?? "") + name }

  /// What notes of mirrors call it.
  /// - Parameter defaultSchema: where names without a schema are made.
  func noteName(beside defaultSchema: String) -> String {
    Self.asSource(schema: schema == defaultSchema ? nil : schema, name: name)
  }

  /// The name by which a table is found, with quotes where it has a dot of its own.
  /// - Parameter schema: nil where `search_path` finds it.
  static func asSource(schema: String?, name: String) -> String {
    [schema, name].compactMap { $0 }.map {
      $0.contains(where: { ".\"".contains($0) }) ? $0.quotedForPostgres : $0
    }
    .joined(separator: ".")
  }
}
