extension ColumnType {
  /// The affinity that SQLite gives a column declared so.
  var affinity: Affinity {
    switch self {
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob, .any: .none
    }
  }

  /// The declared type: nothing for `any`, except in a STRICT table, where every column has a type.
  func declaration(isStrict: Bool) -> String { self == .any && !isStrict ? "" : rawValue }
}
