import UpsurgeInput

extension LoadOptions {
  /// What a mirror says of the feed that a load is a delivery of.
  package struct Delivery: Sendable {
    /// What it says of the table's rows.
    package var rules = DeliveryRules()
    /// What is known of the feed that this is a delivery of; nil where it is of none.
    package var feed: FeedRules?
    /// What the run has to do with the chunks of deliveries.
    package var chunks = ChunkUse.none
    /// Whether a text that does not end with a line end is taken for cut.
    package var needsLineEnd = false
    /// What the last line of each text says, which is no record; nil where there is no such line.
    package var trailer: TrailerPattern?
    /// Whether the job comes again and again, and so says once and for all what a new table is to be.
    package var isRepeated = false

    package init() {}
  }
}

extension LoadOptions {
  /// What a run has to do with the chunks of deliveries.
  package enum ChunkUse: Sendable {
    /// Nothing; what is known is forgotten.
    case none
    /// All is read, and remembered for the next run.
    case remember
    /// What the last delivery had is not read again.
    case use
  }
}
