/// Writes what becomes of each record and its row into a file of changes.
final class ChangeLog: RecordObserver {
  let wantedRows = ObservedRows.beforeAndAfter
  private let file: ChangeFile
  /// Where in the file the records begin that may come once more.
  private var mark: ChangeFile.Mark

  init(_ file: ChangeFile) {
    self.file = file
    mark = file.end
  }

  func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError) {
    file.begin(
      table: plan.schema.name, columns: columns.map { plan.schema.columns[$0].name },
      key: plan.key?.columns ?? plan.schema.primaryKeyColumns)
  }

  func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    try file.write(outcome, at: position, before: before, after: after)
  }

  func didHold() { mark = file.end }

  func didTakeBack() throws(UpsurgeError) { try file.takeBack(to: mark) }

  func willCommit() throws(UpsurgeError) { try file.willCommit() }

  func didCommit() throws(UpsurgeError) { try file.didCommit() }

  func didRollBack() { file.didRollBack() }
}
