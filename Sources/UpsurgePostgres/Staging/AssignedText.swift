/// Texts that a statement casts, where a cast would cut or fill up what an INSERT refuses.
///
///     '10110'::bit(3)               101
///     INSERT … VALUES ('10110')     bit string length 5 does not match type bit(3) [22026]
///
///     bit(3)         pg_catalog."bit"(v::"bit", 3, false)
///     varchar(3)[]   CASE WHEN (SELECT count(pg_catalog."varchar"(e, 7, false)) FROM unnest(v::varchar[]) AS e) >= 0
///                    THEN v::varchar(3)[] END
///
/// The functions are those that an assignment calls, by `pg_cast`. Of all types that are sent as text, these have a length that
/// matters: the casts of `interval(1)` and `time(1) with time zone` round as an assignment does. A record's and a range's parts are read
/// by their own types.
struct AssignedText {
  /// What gives a value its length.
  private struct Length {
    var function: String
    /// The type without a length.
    var free: String
    var isArray = false
  }

  private let length: Length
  private let column: PostgresColumn

  /// By the OID of the base type.
  private static let lengths: [UInt32: Length] = [
    1560: Length(function: "\"bit\"", free: "\"bit\""),
    1561: Length(function: "\"bit\"", free: "\"bit\"", isArray: true),
    1562: Length(function: "varbit", free: "varbit"),
    1563: Length(function: "varbit", free: "varbit", isArray: true),
    1014: Length(function: "bpchar", free: "bpchar", isArray: true),
    1015: Length(function: "\"varchar\"", free: "varchar", isArray: true),
  ]

  /// - Returns: nil where a cast does what an assignment does.
  init?(_ column: PostgresColumn) {
    guard column.modifier >= 0, let length = Self.lengths[column.baseType] else { return nil }
    (self.length, self.column) = (length, column)
  }

  /// The value of the column's type.
  /// - Parameter text: the record's text.
  func sql(of text: String) -> String {
    let function = "pg_catalog.\(length.function)"
    if !length.isArray {
      let value = "\(function)(\(text)::\(length.free), \(column.modifier), false)"
      return column.isDomain ? "\(value)::\(column.typeName)" : value
    }
    // It counts what is not NULL, and each of them is judged for that.
    let judged =
      "(SELECT count(\(function)(e, \(column.modifier), false)) FROM unnest(\(text)::\(length.free)[]) AS e) >= 0"
    return "CASE WHEN \(judged) THEN \(text)::\(column.typeName) END"
  }
}
