/// A column's type affinity, decided from its declared type as SQLite does
/// (https://www.sqlite.org/datatype3.html, section 3.1).
@frozen
package enum Affinity: UInt8, Sendable {
  /// No conversion at all; SQLite calls it BLOB.
  case none
  case text, numeric, integer, real

  package init(declaredType: String) {
    let type = declaredType
    if type.containsASCII("INT") {
      self = .integer
    } else if type.containsASCII("CHAR") || type.containsASCII("CLOB") || type.containsASCII("TEXT") {
      self = .text
    } else if type.isEmpty || type.containsASCII("BLOB") {
      self = .none
    } else if type.containsASCII("REAL") || type.containsASCII("FLOA") || type.containsASCII("DOUB") {
      self = .real
    } else {
      self = .numeric
    }
  }

  /// Whether SQLite would turn text that looks like a number into a number.
  @inlinable package var isNumeric: Bool { rawValue >= Affinity.numeric.rawValue }
}
