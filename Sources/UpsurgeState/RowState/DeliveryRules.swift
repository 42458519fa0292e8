import UpsurgePlan

/// What a delivery of a feed says of the table's rows beside its records.
package struct DeliveryRules: Sendable {
  /// What a snapshot means for rows that it does not have; nil where the records are none.
  package var snapshot: SnapshotRules?
  /// What is noted of each row that is delivered; nil where nothing is.
  package var rowState: RowStateRules?
  /// Whether records whose parents are not there are kept in the quarantine until they are.
  package var quarantinesOrphans = false

  package init() {}
}
