/// The name of a table as a person gives it: `orders`, `sales.orders`, `"my.table"`, `sales."my.table"`. What is not in quotes is
/// taken as it is spelled, too: no letter is made small.
struct TableName: Equatable {
  /// nil where the name says none.
  var schema: String?
  var name: String

  init(schema: String?, name: String) { (self.schema, self.name) = (schema, name) }

  init(_ text: String) {
    var parts: [String] = []
    var part = ""
    var isQuoted = false
    for character in text {
      switch character {
      case "\"": isQuoted.toggle()
      case "." where !isQuoted && parts.isEmpty:
        parts.append(part)
        part = ""
      default: part.append(character)
      }
    }
    schema = parts.first
    name = part
  }

  /// For messages: `sales.orders`.
  var shown: String { (schema.map { $0 + "." } ?? "") + name }

  /// The name by which a table is found, with quotes where it has a dot of its own.
  /// - Parameter schema: nil where `search_path` finds it.
  static func asSource(schema: String?, name: String) -> String {
    [schema, name].compactMap { $0 }.map {
      $0.contains(where: { ".\"".contains($0) }) ? $0.quotedForPostgres : $0
    }
    .joined(separator: ".")
  }
}
