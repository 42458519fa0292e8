/// Why a cell has no binary form of its column's type.
package enum EncodingFault: UInt8, Sendable, CaseIterable {
  /// Only the server can tell: a spelling that is not read here. The batch is sent again with the column as text, and a cast.
  case undecided
  /// U+0000, which no text of PostgreSQL holds.
  case nul
  /// `\u0000` in a jsonb.
  case nulEscape
  /// A text that does not fit the type.
  case syntax
  case outOfRange
  /// More letters than `varchar(n)` takes.
  case tooLong
  case badDate
  /// A gigabyte or more.
  case tooLarge
  /// Text that is not UTF-8.
  case badText
  /// A value of another type: bytes into a number.
  case mismatch
  /// NULL in a column that is NOT NULL.
  case null

  /// What the server would have said; nil where nobody knows.
  package var sqlState: String? {
    switch self {
    case .undecided: nil
    case .nul, .badText: "22021"
    case .nulEscape: "22P05"
    case .syntax: "22P02"
    case .outOfRange: "22003"
    case .tooLong: "22001"
    case .badDate: "22008"
    case .tooLarge: "54000"
    case .mismatch: "42804"
    case .null: "23502"
    }
  }

  /// What is wrong with a value of a column, as the end of a sentence: `the value …`.
  package func words(typeName: String) -> String {
    switch self {
    case .undecided: "is read by the server"
    case .nul: "holds the character U+0000, which PostgreSQL does not store"
    case .nulEscape: "holds \\u0000, which jsonb does not store"
    case .syntax: "is no \(typeName)"
    case .outOfRange: "is out of range for \(typeName)"
    case .tooLong: "is longer than \(typeName)"
    case .badDate: "is no day or time that there is"
    case .tooLarge: "is larger than 1 GB"
    case .badText: "is not UTF-8"
    case .mismatch: "cannot become \(typeName)"
    case .null: "is NULL, and the column is NOT NULL"
    }
  }
}
