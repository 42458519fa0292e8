import Upsurge
import UpsurgeMirror

/// The JSON Schema (draft 2020-12) of job files, made from the keys that the reader knows.
enum JobSchema {
  static var text: String { schema.text(indent: 0) + "\n" }

  private static let schema = Value.object([
    ("$schema", "https://json-schema.org/draft/2020-12/schema"),
    ("title", "A job of upsurge mirror"),
    ("type", "object"),
    ("required", ["tables"]),
    ("additionalProperties", false),
    (
      "properties",
      .object([
        ("atomic", atomic), ("deadline", deadline), ("defaults", reference("defaults")), ("tables", tables),
      ])
    ),
    ("$defs", definitions),
  ])

  private static let atomic = Value.object([
    (
      "description",
      "What becomes visible at once: all of the job, each delivery of a table, or transactions."
    ),
    ("enum", .list(MirrorJob.Atomicity.allCases.map { .text($0.rawValue) })),
  ])

  private static let deadline = Value.object([
    ("description", "After this time the run ends at a commit, whatever table it is at: 30m, 2h."),
    ("type", "string"), ("pattern", "^[0-9.]+(s|m|min|h|d)$"),
  ])

  private static let tables = Value.object([
    ("description", "Each table's name, with what is said of it."),
    ("type", "object"),
    ("minProperties", 1),
    ("maxProperties", 1000),
    ("propertyNames", .object([("minLength", 1)])),
    ("additionalProperties", reference("table")),
  ])

  private static let definitions: Value = {
    var members: [(String, Value)] = [
      ("table", table), ("defaults", settings("What tables share.", more: [])), ("headers", headers),
      ("scalar", .object([("type", ["string", "number", "boolean"])])), ("name", name),
    ]
    for name in JobSettings.groups { members.append((name, group(name))) }
    for option in OptionCatalogue.keys { members.append((option.path, Self.option(option))) }
    return .object(members)
  }()

  private static func reference(_ name: String) -> Value { .object([("$ref", .text("#/$defs/\(name)"))]) }

  private static let name = Value.object([("type", ["string", "number"])])

  private static let table: Value = {
    var table = settings("One table, and the feed that says what it holds.", more: [("source", source)])
    if case .object(let members) = table { table = .object(members + [("required", ["source"])]) }
    return table
  }()

  private static let source = Value.object([
    (
      "description",
      "Paths, globs, folders, URLs, exec:COMMAND, sqlite:PATH#TABLE, postgres://HOST/DATABASE#TABLE or -; ${env:NAME} and ${file:PATH} are put in."
    ),
    (
      "anyOf",
      [
        .object([("type", "string"), ("minLength", 1)]),
        .object([
          ("type", "array"), ("minItems", 1),
          ("items", .object([("type", "string"), ("minLength", 1)])),
        ]),
      ]
    ),
  ])

  private static let headers = Value.object([
    ("description", "What http and https sources are asked with; ${env:NAME} and ${file:PATH} are put in."),
    ("type", "object"), ("additionalProperties", reference("scalar")),
  ])

  private static func settings(_ description: String, more: [(String, Value)]) -> Value {
    let names = JobSettings.groups + ["headers"] + OptionCatalogue.keys.filter { $0.group == nil }.map(\.path)
    return .object([
      ("description", .text(description)), ("type", "object"), ("additionalProperties", false),
      ("properties", .object(more + names.map { ($0, reference($0)) })),
    ])
  }

  private static func group(_ group: String) -> Value {
    let options = OptionCatalogue.keys.filter { $0.group == group }
    return .object([
      ("type", "object"), ("additionalProperties", false),
      ("properties", .object(options.map { ($0.key, reference($0.path)) })),
    ])
  }

  private static func option(_ option: OptionSpecification) -> Value {
    .object([("description", .text(option.help))] + kind(of: option))
  }

  private static func kind(of option: OptionSpecification) -> [(String, Value)] {
    let scalar = reference("scalar")
    let scalars = Value.object([("type", "array"), ("minItems", 1), ("items", scalar)])
    let name = reference("name")
    let names = Value.object([("type", "array"), ("minItems", 1), ("uniqueItems", true), ("items", name)])
    switch option.form {
    case .value:
      return option.words.isEmpty
        ? [("$ref", "#/$defs/scalar")] : [("enum", .list(option.words.map { .text($0) }))]
    case .flag: return [("type", "boolean")]
    case .list: return [("anyOf", [scalar, scalars])]
    case .listOrMapping:
      let mapping = Value.object([
        ("type", "object"), ("minProperties", 1), ("propertyNames", .object([("minLength", 1)])),
        ("additionalProperties", .object([("anyOf", [scalar, scalars])])),
      ])
      return [("anyOf", [scalar, scalars, mapping])]
    case .names: return [("anyOf", [name, names])]
    case .indexes:
      let index = Value.object([("anyOf", [name, names])])
      return [("anyOf", [name, .object([("type", "array"), ("minItems", 1), ("items", index)])])]
    case .mapping:
      return [
        ("type", "object"), ("minProperties", 1), ("propertyNames", .object([("minLength", 1)])),
        ("additionalProperties", scalar),
      ]
    case .condition:
      let values = Value.object([("type", ["string", "number", "boolean", "null"])])
      let mapping = Value.object([
        ("type", "object"), ("minProperties", 1), ("maxProperties", 1), ("additionalProperties", values),
      ])
      return [("anyOf", [.object([("type", "string"), ("pattern", "^[^=]+=")]), mapping])]
    case .choice(_, let word):
      let mapping = Value.object([
        ("type", "object"), ("required", [.text(word)]), ("additionalProperties", false),
        ("properties", .object([(word, name)])),
      ])
      let words = Value.list(option.words.filter { !$0.contains(":") }.map { .text($0) })
      return [
        (
          "anyOf",
          [
            .object([("enum", words)]), .object([("type", "string"), ("pattern", .text("^\(word):."))]),
            mapping,
          ]
        )
      ]
    case .valueOrFlag: return [("type", ["boolean", "string"])]
    }
  }
}

extension JobSchema {
  /// A JSON value whose members keep their order.
  fileprivate enum Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, Sendable
  {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([Value])
    case object([(String, Value)])

    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int) { self = .number(number) }
    init(booleanLiteral flag: Bool) { self = .flag(flag) }
    init(arrayLiteral values: Value...) { self = .list(values) }

    func text(indent: Int) -> String {
      let space = String(repeating: " ", count: indent + 2)
      switch self {
      case .text(let text): return Self.quoted(text)
      case .number(let number): return "\(number)"
      case .flag(let flag): return "\(flag)"
      case .list(let values):
        return "[" + values.map { $0.text(indent: indent + 2) }.joined(separator: ", ") + "]"
      case .object(let members):
        let lines = members.map { "\(space)\(Self.quoted($0.0)): \($0.1.text(indent: indent + 2))" }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + space.dropLast(2) + "}"
      }
    }

    private static func quoted(_ text: String) -> String {
      var json = JSONText()
      json.string(text)
      return String(decoding: json.bytes, as: UTF8.self)
    }
  }
}
