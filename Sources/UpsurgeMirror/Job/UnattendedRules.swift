/// How a table is mirrored when nobody looks.
public struct UnattendedRules: Sendable, Equatable {
  /// So many past runs of the table stay listed in the database, the newest; nil is all of them.
  public var keptRunCount: UInt64? = 400

  public init() {}
}
