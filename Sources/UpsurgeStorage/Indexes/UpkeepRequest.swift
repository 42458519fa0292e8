/// What was asked for about the indexes and FTS5 tables of a run's table.
package struct UpkeepRequest: Sendable {
  /// Secondary indexes that the table is to have, by their columns.
  package var indexes: [[String]] = []
  package var indexUpkeep = Upkeep.auto
  package var fullTextUpkeep = Upkeep.auto
  /// Whether a UNIQUE index may be made for the key, in a transaction that is open when the rest is decided.
  package var makesKey = false
  /// Whether all of the run is one transaction.
  package var isAtomic = false
  /// Whether it is only to be said what would be done.
  package var isTrial = false

  package init() {}
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
