/// What a type of PostgreSQL is in SQLite: no value changes there, and the declared type says what it was.
struct FileType: Equatable {
  var declared: String
  var kind: ColumnKind

  /// - Parameter type: as `format_type` writes it: `numeric(10,2)`, `timestamp(3) without time zone`.
  init(_ type: String) {
    let arguments = type.contains("(") ? String(type.drop { $0 != "(" }.prefix { $0 != ")" }) + ")" : ""
    let word = Self.word(type)
    switch word {
    case "smallint": (declared, kind) = ("SMALLINT", .integer)
    case "integer": (declared, kind) = ("INT4", .integer)
    case "bigint": (declared, kind) = ("INTEGER", .integer)
    case "real", "double precision": (declared, kind) = ("REAL", .real)
    case "text": (declared, kind) = ("TEXT", .text)
    case "character varying": (declared, kind) = ("VARCHAR\(arguments)", .text)
    case "character": (declared, kind) = ("CHARACTER\(arguments)", .spelled)
    case "bytea": (declared, kind) = ("BLOB", .blob)
    case "boolean": (declared, kind) = ("BOOLEAN", .truth)
    case "date": (declared, kind) = ("DATE", .text)
    case "time without time zone": (declared, kind) = ("TIME", .text)
    case "timestamp without time zone": (declared, kind) = ("TIMESTAMP", .text)
    case "timestamp with time zone": (declared, kind) = ("TIMESTAMPTZ TEXT", .spelled)
    // In a column of numbers it would become a REAL.
    case "numeric": (declared, kind) = ("NUMERIC TEXT\(arguments)", .spelled)
    case "uuid": (declared, kind) = ("UUID TEXT", .spelled)
    case "json": (declared, kind) = ("JSON TEXT", .spelled)
    case "jsonb": (declared, kind) = ("JSONB TEXT", .spelled)
    default: (declared, kind) = ("TEXT", .spelled)
    }
  }

  /// Whether SQLite has a word for the type, so that nothing is lost.
  static func isKnown(_ type: String) -> Bool { FileType(type).declared != "TEXT" || word(type) == "text" }

  /// The type without what stands in parentheses.
  private static func word(_ type: String) -> String {
    guard let open = type.firstIndex(of: "("), let close = type[open...].firstIndex(of: ")") else {
      return type
    }
    return String(type[..<open]) + String(type[type.index(after: close)...])
  }
}
