/// Says so where most records of a run have replaced others of the same run: then the key may have too few columns.
///
/// What was inserted and updated are visits of rows. A table that holds fewer rows than it was visited has some that were
/// visited twice, whatever it held before.
struct ReplacedRecords {
  /// The table's name, for people.
  private let table: String
  /// The columns of the key; empty where records have none.
  private let key: [String]
  /// Whether the run has made the table, so that each of its rows was inserted once.
  private let isNew: Bool
  /// Whether a record that comes later simply takes the place of an earlier one.
  private let replaces: Bool

  /// Of fewer records the ledger itself shows it.
  private static let fewest: UInt64 = 10

  init(_ table: some StoreTable, rules: UpsertRules) {
    self.table = table.facts.name.escapedForTerminal
    key = table.keyColumns
    isNew = table.facts.isNew
    let merge = rules.merge
    // Sums, times and tombstones are for many records about one row.
    replaces = merge.rule == .replace && merge.columns.isEmpty && merge.newer == nil && rules.tombstone == nil
  }

  /// - Parameter rowLimit: is asked for a number that the table's rows are not more than; nil where nobody knows one.
  /// - Returns: what there is to say, if anything.
  func note(of ledger: Ledger, rowLimit: () -> UInt64?) -> RunNote? {
    guard replaces, !key.isEmpty, ledger.updated >= Self.fewest, ledger.updated > ledger.read / 2 else {
      return nil
    }
    let visits = ledger.inserted + ledger.updated
    guard let rows = isNew ? ledger.inserted : rowLimit(), rows < visits else { return nil }
    let count = min(visits - rows, ledger.updated)
    guard count >= Self.fewest, count > ledger.read / 2 else { return nil }
    let words = key.joined(separator: ", ").escapedForTerminal
    return RunNote(
      .warning,
      "\(isNew ? "" : "at least ")\(Words.count(count)) of \(Words.count(ledger.read, "record")) replaced earlier ones of this "
        + "run that have the same key (\(words)); \(.key) takes all columns that tell rows apart, in another table, as "
        + "\(table) keeps its key")
  }
}
