/// What the values of a column are in both databases: decides how they are read, and how they are compared.
enum ColumnKind: Sendable, Equatable {
  /// Whole numbers.
  case integer
  case real
  /// Numbers of SQLite in a numeric column.
  /// - hasReals: whether some are reals, which are compared as such.
  case number(hasReals: Bool)
  case text
  case blob
  /// Any values of SQLite as texts.
  case castText
  /// Any values of SQLite as bytes.
  case castBlob
  /// Texts of a type that SQLite does not have: numeric, uuid, json.
  case spelled
  /// Integers 0 and 1 that are boolean in PostgreSQL.
  case truth

  /// Whether expressions mean the same on both sides.
  var isAlike: Bool {
    switch self {
    case .integer, .real, .text, .blob: true
    case .number, .castText, .castBlob, .spelled, .truth: false
    }
  }

  /// The expression that reads a column of SQLite, as PostgreSQL stores it.
  func reading(_ name: String) -> String {
    let column = name.quotedAsName
    switch self {
    case .castText:
      return
        "CASE typeof(\(column)) WHEN 'real' THEN printf('%!.17g', \(column)) ELSE CAST(\(column) AS TEXT) END"
    case .castBlob: return "CAST(\(column) AS BLOB)"
    default: return column
    }
  }

  /// The expression of a column in SQLite that is compared. Zero has no sign there.
  func comparingInSQLite(_ name: String) -> String {
    let column = name.quotedAsName
    switch self {
    case .real, .number(hasReals: true):
      return "CASE typeof(\(column)) WHEN 'text' THEN \(column) ELSE CAST(\(column) AS REAL) + 0.0 END"
    case .number:
      return
        "CASE WHEN typeof(\(column)) = 'text' AND instr(\(column), '.') THEN rtrim(rtrim(\(column), '0'), '.') ELSE CAST(\(column) AS TEXT) END"
    default: return reading(name)
    }
  }

  /// The expression of a column in PostgreSQL that is compared.
  /// - Parameter type: of the column.
  func comparingInServer(_ name: String, type: String) -> String {
    let column = name.quotedAsName
    switch self {
    case .real: return type == "real" ? "\(column) + 0::real" : "\(column) + 0::double precision"
    case .number(hasReals: true): return "\(column)::double precision + 0::double precision"
    case .number: return "trim_scale(\(column))"
    default: return column
    }
  }
}
