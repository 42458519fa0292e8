/// A table of a store that is ready to take the records of a run.
package protocol StoreTable {
  /// What the reading thread must know to find a column for each field.
  var facts: TableFacts { get }
  /// The name by which a replay finds the table again.
  var lookupName: String { get }
  /// The run's first columns, in slot order.
  var columns: ColumnRegistry { get }
  /// The columns of `columns` that the table has; the others come with their first batch.
  var knownColumns: [ColumnTarget] { get }
  /// The columns of the primary key; empty without one.
  var primaryKeyColumns: [String] { get }
  /// The columns by which records tell their rows.
  var keyColumns: [String] { get }

  /// The rules of the run as they apply to records of these columns, with the mode that was chosen.
  func rules(for columns: [ColumnTarget]) -> UpsertRules

  /// Whether a record that comes again might make another row.
  func mayInsertAnew(options: LoadOptions) -> Bool

  /// What storing the same records again would do twice; nil where that changes nothing.
  func repetition(options: LoadOptions) -> RunSummary.Repetition?
}

extension StoreTable {
  package var lookupName: String { facts.name }
}
