import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// Each test asserts by `expectDiagnostic`: all messages, their places, the expansion, and what fix-its make of the source.
@Suite("What is said of models that cannot be") struct DiagnosticTests {
  @Test("Only structs are tables") func kinds() {
    expectDiagnostic(
      "@Table final class A {\n  let id: Int\n}",
      [
        DiagnosticSpec(
          message: "'@Table' can only be applied to a struct", line: 1, column: 14,
          fixIts: [FixItSpec(message: "Replace 'class' with 'struct'")])
      ],
      expands: "final class A {\n  let id: Int\n}", fixed: "@Table final struct A {\n  let id: Int\n}")
    expectDiagnostic(
      "@Table enum A {\n  case a(Int)\n}",
      [
        DiagnosticSpec(
          message:
            "'@Table' can only be applied to a struct; an enum with values is a group of columns, '@Selection'",
          line: 1,
          column: 8)
      ],
      expands: "enum A {\n  case a(Int)\n}")
    expectDiagnostic(
      "@Table actor A {\n}",
      [DiagnosticSpec(message: "'@Table' can only be applied to a struct", line: 1, column: 8)],
      expands: "actor A {\n}")
    expectDiagnostic(
      "@Selection class A {\n}",
      [
        DiagnosticSpec(
          message: "'@Selection' can only be applied to a struct, or to an enum with values", line: 1,
          column: 1)
      ],
      expands: "class A {\n}")
  }

  @Test("Generic types have no static members") func generics() {
    for macro in ["@Table", "@Selection"] {
      expectDiagnostic(
        "\(macro) struct A<B> {\n  let id: Int\n}",
        [
          DiagnosticSpec(
            message: "'\(macro)' cannot be applied to a generic type", line: 1, column: 10 + macro.count)
        ],
        expands: "struct A<B> {\n  let id: Int\n}")
    }
    expectDiagnostic(
      "@Selection enum A<B> {\n  case a(B)\n}",
      [DiagnosticSpec(message: "'@Selection' cannot be applied to a generic type", line: 1, column: 18)],
      expands: "enum A<B> {\n  case a(B)\n}")
  }

  @Test("A table and a group need columns") func columns() {
    for macro in ["@Table", "@Selection"] {
      expectDiagnostic(
        "\(macro) struct A {\n}",
        [
          DiagnosticSpec(
            message: "'\(macro)' needs a stored property at least", line: 1, column: 9 + macro.count)
        ],
        expands: "struct A {\n}")
    }
    expectDiagnostic(
      "@Table struct A {\n  var a: Int { 1 }\n}",
      [DiagnosticSpec(message: "'@Table' needs a stored property at least", line: 1, column: 15)],
      expands: "struct A {\n  var a: Int { 1 }\n}")
    expectDiagnostic(
      "@Table struct A {\n  var a: Int\n  #if B\n  var b: Int\n  #endif\n}",
      [
        DiagnosticSpec(
          message: "A model has the same columns everywhere: '#if' cannot hold any of its members", line: 3,
          column: 3)
      ],
      expands: nil)
    expectDiagnostic(
      "@Selection enum A {\n}",
      [DiagnosticSpec(message: "'@Selection' needs a case with a value at least", line: 1, column: 17)],
      expands: "enum A {\n}")
  }

  @Test("Names of tables are literals, and not SQLite's") func names() {
    for (argument, message) in [
      ("name", "A table's name must be a string literal that is not empty"),
      ("\"\"", "A table's name must be a string literal that is not empty"),
      ("\"SQLite_a\"", "Names that begin with 'sqlite_' are SQLite's own"),
    ] {
      expectDiagnostic(
        "@Table(\(argument)) struct A {\n  let id: Int\n}",
        [DiagnosticSpec(message: message, line: 1, column: 8)],
        expands: "struct A {\n  let id: Int\n}")
    }
    expectDiagnostic(
      "@Table struct A {\n  @Column(name) var a: Int\n}",
      [DiagnosticSpec(message: "A column's name must be a string literal", line: 2, column: 11)],
      expands: nil)
  }

  @Test("A column needs a type that can be read") func types() {
    expectDiagnostic(
      "@Table struct A {\n  var a = f()\n}",
      [
        DiagnosticSpec(
          message: "A column needs a type: 'a' has none that can be read here", line: 2, column: 7,
          fixIts: [FixItSpec(message: "Insert ': <#Type#>'")])
      ],
      expands: "struct A {\n  var a = f()\n}", fixed: "@Table struct A {\n  var a: <#Type#> = f()\n}")
  }

  @Test("A let that has its value, a lazy property and a tuple are no columns") func properties() {
    expectDiagnostic(
      "@Table struct A {\n  let a = 1\n}",
      [
        DiagnosticSpec(
          message: "A 'let' that has its value already cannot be read from a row", line: 2, column: 3,
          fixIts: [FixItSpec(message: "Replace 'let' with 'var'")])
      ],
      expands: "struct A {\n  let a = 1\n}", fixed: "@Table struct A {\n  var a = 1\n}")
    expectDiagnostic(
      "@Table struct A {\n  lazy var a = 1\n}",
      [
        DiagnosticSpec(
          message: "A lazy property cannot be a column", line: 2, column: 3,
          fixIts: [FixItSpec(message: "Add '@Ephemeral'")])
      ],
      expands: "struct A {\n  lazy var a = 1\n}", fixed: "@Table struct A {\n  @Ephemeral lazy var a = 1\n}")
    expectDiagnostic(
      "@Table struct A {\n  var (a, b) = (1, 2)\n}",
      [
        DiagnosticSpec(
          message: "A column needs a property of its own, not a tuple of names", line: 2, column: 7)
      ],
      expands: "struct A {\n  var (a, b) = (1, 2)\n}")
  }

  @Test("A collection is told how it is stored; what cannot be stored is said at its type") func unstorable()
  {
    for type in ["[String]", "[String: Int]", "[[UInt8]]"] {
      let attribute = "@Column(as: JSON<\(type)>.self)"
      expectDiagnostic(
        "@Table struct A {\n  var a: \(type)?\n}",
        [
          DiagnosticSpec(
            message: "'\(type)' is not stored in a column of its own: '\(attribute)' stores it as JSON",
            line: 2,
            column: 10, fixIts: [FixItSpec(message: "Insert '\(attribute)'")])
        ],
        expands: "struct A {\n  var a: \(type)?\n}",
        fixed: "@Table struct A {\n  \(attribute) var a: \(type)?\n}")
    }
    for type in [
      "(Int, Int)", "(Int) -> Int", "@Sendable () -> Void", "any Sendable", "Any", "((Int) -> Int)?",
    ] {
      let text = type.hasSuffix("?") ? String(type.dropLast()) : type
      expectDiagnostic(
        "@Table struct A {\n  var a: \(type)\n}",
        [
          DiagnosticSpec(
            message:
              "'\(text)' cannot be stored: a column needs a type with a coding, several columns one with '@Selection'",
            line: 2, column: 10)
        ],
        expands: "struct A {\n  var a: \(type)\n}")
    }
  }

  @Test("What is not stored needs a value, and is no column") func ephemeral() {
    expectDiagnostic(
      "@Table struct A {\n  let id: Int\n  @Ephemeral var a: Int\n}",
      [
        DiagnosticSpec(
          message: "An '@Ephemeral' property needs a value that it has when a row is read", line: 3,
          column: 18,
          fixIts: [FixItSpec(message: "Insert ' = <#value#>'")])
      ],
      expands: nil, fixed: "@Table struct A {\n  let id: Int\n  @Ephemeral var a: Int = <#value#>\n}")
    expectDiagnostic(
      "@Table struct A {\n  let id: Int\n  @Ephemeral @Column(\"b\") var a = 1\n}",
      [
        DiagnosticSpec(
          message: "'@Ephemeral' says that the property is not stored, and '@Column' how it is", line: 3,
          column: 14,
          fixIts: [FixItSpec(message: "Remove '@Column'")])
      ],
      expands: nil, fixed: "@Table struct A {\n  let id: Int\n  @Ephemeral var a = 1\n}")
  }

  @Test("Only stored properties are columns, each of its own name") func stored() {
    expectDiagnostic(
      "@Table struct A {\n  let id: Int\n  @Column(\"b\") var a: Int { 1 }\n}",
      [
        DiagnosticSpec(
          message: "'@Column' can only be applied to a stored property", line: 3, column: 3,
          fixIts: [FixItSpec(message: "Remove '@Column'")])
      ],
      expands: "struct A {\n  let id: Int\n  var a: Int { 1 }\n}",
      fixed: "@Table struct A {\n  let id: Int\n  var a: Int { 1 }\n}")
    expectDiagnostic(
      "@Table struct A {\n  var a: Int\n  @Column(\"A\") var b: Int\n}",
      [
        DiagnosticSpec(
          message: "'a' and 'b' are both the column 'A', as SQLite compares names", line: 3, column: 20)
      ],
      expands: "struct A {\n  var a: Int\n  var b: Int\n}")
    expectDiagnostic(
      "@Selection enum A {\n  case url(String), URL(String)\n}",
      [
        DiagnosticSpec(
          message: "'url' and 'URL' are both the column 'URL', as SQLite compares names", line: 2, column: 21)
      ],
      expands: "enum A {\n  case url(String), URL(String)\n}")
  }

  @Test("A key is never NULL, and is the table's") func keys() {
    expectDiagnostic(
      "@Table struct A {\n  let id: Int?\n}",
      [
        DiagnosticSpec(
          message: "A primary key is never NULL; 'A.Draft' is a row that has none yet", line: 2, column: 7)
      ],
      expands: "struct A {\n  let id: Int?\n}")
    expectDiagnostic(
      "@Selection struct A {\n  @Column(primaryKey: true) var a: Int\n}",
      [
        DiagnosticSpec(
          message:
            "The primary key is said in the table: '@Column(primaryKey: true)' at the property that is the group",
          line: 2,
          column: 33)
      ],
      expands: "struct A {\n  var a: Int\n}")
  }

  @Test("An enum has the same cases everywhere") func conditionalCases() {
    let members = "enum A {\n  case a(Int)\n  #if DEBUG\n    case b(Int)\n  #endif\n}"
    expectDiagnostic(
      "@Selection \(members)",
      [
        DiagnosticSpec(
          message: "A model has the same columns everywhere: '#if' cannot hold any of its members", line: 3,
          column: 3)
      ],
      expands: members)
  }

  @Test("Names that the macro gives are not the model's") func reserved() {
    let source =
      "@Table struct A {\n  let id: Int\n  var primaryKey: String\n  static let tableName = \"a\"\n  enum Draft {}\n}"
    let expanded = source.dropFirst("@Table ".count)
    expectDiagnostic(
      source,
      [("primaryKey", 3, 7), ("tableName", 4, 14), ("Draft", 5, 8)].map { name, line, column in
        DiagnosticSpec(
          message:
            "'@Table' declares '\(name)' itself: choose another name, and for a column's '@Column(\"…\")'",
          line: line, column: column)
      },
      expands: String(expanded))
    // A table without a key has neither.
    expectDiagnostic(
      "@Table struct A {\n  var primaryKey: String\n  var tableName: String\n  enum Draft {}\n}", [],
      expands: nil)
  }

  @Test("A coding is a type") func codings() {
    expectDiagnostic(
      "@Table struct A {\n  @Column(as: coding) var a: Int\n}",
      [DiagnosticSpec(message: "A coding must be written as a type: 'coding.self'", line: 2, column: 15)],
      expands: nil)
  }

  @Test("A case has one value that is not optional") func cases() {
    expectDiagnostic(
      "@Selection enum A {\n  case a, b(Int?), c(Int, Int), d(Int)\n}",
      [8, 11, 20].map {
        DiagnosticSpec(
          message:
            "A case of a '@Selection' needs one associated value that is not optional: the columns that tell the case",
          line: 2, column: $0)
      },
      expands: "enum A {\n  case a, b(Int?), c(Int, Int), d(Int)\n}")
  }
}
