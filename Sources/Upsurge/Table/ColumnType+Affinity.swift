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

  /// The type that holds the values of both.
  func joined(with other: ColumnType) -> ColumnType {
    switch (self, other) {
    case (let left, let right) where left == right: left
    case (.any, let right): right
    case (let left, .any): left
    case (.integer, .real), (.real, .integer): .real
    default: .text
    }
  }

  /// The declared type: nothing for `any`, except in a STRICT table, where every column has a type.
  func declaration(isStrict: Bool) -> String { self == .any && !isStrict ? "" : rawValue }
}
