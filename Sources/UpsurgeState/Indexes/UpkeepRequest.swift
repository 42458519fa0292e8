/// What indexes the table of a load is to have, and when they and its FTS5 tables are kept up.
public struct IndexRules: Sendable {
  /// Secondary indexes, by their columns; made where they are missing.
  public var wanted: [[String]] = []
  /// Whether the UNIQUE index that the key needs is made where it is missing.
  public var createsKey = false
  /// When secondary indexes are kept up.
  public var upkeep = Upkeep.auto
  /// When FTS5 tables of the table's content are.
  public var fullTextUpkeep = Upkeep.auto

  public init() {}
}

/// What was asked for about the indexes and FTS5 tables of a run's table.
package struct UpkeepRequest: Sendable {
  /// A UNIQUE index for the key is made in a transaction that is open when the rest is decided.
  package var indexes = IndexRules()
  /// Whether all of the run is one transaction.
  package var isAtomic = false
  /// Whether it is only to be said what would be done.
  package var isTrial = false

  package init() {}

  package init(_ indexes: IndexRules, isAtomic: Bool, isTrial: Bool) {
    self.indexes = indexes
    self.isAtomic = isAtomic
    self.isTrial = isTrial
  }
}

/// How much a run is going to load, as far as that can be told beforehand.
package struct LoadEstimate: Sendable, Equatable {
  package var recordCount: Int
  /// Bytes of text, decompressed.
  package var byteCount: Int

  package init(recordCount: Int, byteCount: Int) {
    self.recordCount = recordCount
    self.byteCount = byteCount
  }
}
