/// Several observers as one.
final class RecordObservers: RecordObserver {
  private let observers: [any RecordObserver]
  let wantedRows: ObservedRows

  private init(_ observers: [any RecordObserver]) {
    self.observers = observers
    wantedRows = observers.map(\.wantedRows).max { $0.rawValue < $1.rawValue } ?? .none
  }

  /// - Returns: nil where there is nothing to say.
  static func joining(_ observers: [any RecordObserver]) -> (any RecordObserver)? {
    observers.count > 1 ? RecordObservers(observers) : observers.first
  }

  func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError) {
    for observer in observers { try observer.begin(plan, columns: columns) }
  }

  func refusal(
    of record: Int, in batch: borrowing Batch, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject? {
    for observer in observers {
      if let refusal = try observer.refusal(of: record, in: batch, isTombstone: isTombstone) {
        return refusal
      }
    }
    return nil
  }

  func willUpdate(byTarget target: Int) {
    for observer in observers { observer.willUpdate(byTarget: target) }
  }

  func willIgnore() {
    for observer in observers { observer.willIgnore() }
  }

  func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    for observer in observers { try observer.observe(outcome, at: position, before: before, after: after) }
  }

  func didHold() {
    for observer in observers { observer.didHold() }
  }

  func didTakeBack() throws(UpsurgeError) {
    for observer in observers { try observer.didTakeBack() }
  }

  func willCommit() throws(UpsurgeError) {
    for observer in observers { try observer.willCommit() }
  }

  func didCommit() throws(UpsurgeError) {
    for observer in observers { try observer.didCommit() }
  }

  func didRollBack() { for observer in observers { observer.didRollBack() } }
}
