/// Says so where many records of a run have replaced others of the same run: then the key may have too few columns.
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

  /// The sources by which a place is named.
  private let sources: [String]
  private var equal: EqualKeys

  /// Of fewer records the ledger itself shows it.
  private static let fewest: UInt64 = 10
  /// One record of so many is few, too.
  private static let fewestShare: UInt64 = 10

  /// - Parameter sources: the sources of the run as they may be shown.
  init(_ table: some StoreTable, rules: UpsertRules, sources: [String]) {
    self.table = table.facts.name.escapedForTerminal
    self.sources = sources
    key = table.keyColumns
    isNew = table.facts.isNew
    let merge = rules.merge
    // Sums, times and tombstones are for many records about one row.
    replaces = merge.rule == .replace && merge.columns.isEmpty && merge.newer == nil && rules.tombstone == nil
    let slots = key.compactMap(table.columns.slot)
    equal = EqualKeys(replaces && slots.count == key.count ? slots : nil)
  }

  /// Looks for an example.
  /// - Parameter updatedCount: records that have changed a row so far.
  mutating func look(at batch: borrowing Batch, updatedCount: UInt64) {
    equal.look(at: batch, isLikely: updatedCount > 0)
  }

  /// Two lines that have one key.
  private var example: String {
    guard let found = equal.found else { return "" }
    func file(_ index: Int) -> String {
      sources.indices.contains(index) ? sources[index].escapedForTerminal : "the input"
    }
    let isOneFile = found.first.source == found.second.source
    let places =
      isOneFile
      ? "lines \(found.first.line) and \(found.second.line) of \(file(found.first.source))"
      : "line \(found.first.line) of \(file(found.first.source)) and line \(found.second.line) of \(file(found.second.source))"
    return "; \(places) both have \(found.key.escapedForTerminal), for example"
  }

  /// - Parameter rowLimit: is asked for a number that the table's rows are not more than; nil where nobody knows one.
  /// - Returns: what there is to say, if anything.
  func note(of ledger: Ledger, rowLimit: () -> UInt64?) -> RunNote? {
    guard replaces, !key.isEmpty, isMany(ledger.updated, of: ledger) else {
      return nil
    }
    let visits = ledger.inserted + ledger.updated
    guard let rows = isNew ? ledger.inserted : rowLimit(), rows < visits else { return nil }
    let count = min(visits - rows, ledger.updated)
    guard isMany(count, of: ledger) else { return nil }
    let words = key.joined(separator: ", ").escapedForTerminal
    return RunNote(
      .warning,
      "\(isNew ? "" : "at least ")\(Words.count(count)) of \(Words.count(ledger.read, "record")) replaced earlier ones of this "
        + "run that have the same key (\(words))\(example); \(.key) takes all columns that tell rows apart, in another table, as "
        + "\(table) keeps its key")
  }

  private func isMany(_ count: UInt64, of ledger: Ledger) -> Bool {
    count >= Self.fewest && count >= ledger.read / Self.fewestShare
  }
}
