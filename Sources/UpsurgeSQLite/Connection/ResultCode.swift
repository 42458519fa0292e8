import CSQLite

/// SQLite's extended result codes that decisions depend on (https://www.sqlite.org/rescode.html); the C
/// macros for them are expressions that Swift does not import.
package enum ResultCode {
  package static let constraintCheck = SQLITE_CONSTRAINT | (1 << 8)
  package static let constraintForeignKey = SQLITE_CONSTRAINT | (3 << 8)
  package static let constraintNotNull = SQLITE_CONSTRAINT | (5 << 8)
  package static let constraintPrimaryKey = SQLITE_CONSTRAINT | (6 << 8)
  package static let constraintTrigger = SQLITE_CONSTRAINT | (7 << 8)
  package static let constraintUnique = SQLITE_CONSTRAINT | (8 << 8)
  package static let constraintRowid = SQLITE_CONSTRAINT | (10 << 8)
  package static let constraintDatatype = SQLITE_CONSTRAINT | (12 << 8)
  static let readOnlyRollback = SQLITE_READONLY | (3 << 8)
  static let readOnlyMoved = SQLITE_READONLY | (4 << 8)
  static let corruptVirtualTable = SQLITE_CORRUPT | (1 << 8)

  /// The primary code: the low byte of an extended one.
  @inline(__always)
  package static func primary(_ code: Int32) -> Int32 { code & 0xFF }
}
