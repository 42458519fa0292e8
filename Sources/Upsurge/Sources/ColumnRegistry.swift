/// The columns that the run's records have so far, in slot order; a name is known in any case, as in SQLite.
package struct ColumnRegistry: Sendable {
  package private(set) var targets: [ColumnTarget] = []
  private var slots: [String: Int] = [:]

  package init(_ targets: [ColumnTarget] = []) {
    for target in targets { add(target) }
  }

  package func slot(named name: String) -> Int? { slots[SQLName.folded(name)] }

  /// Appends a column; one of that name must not be there yet.
  package mutating func add(_ target: ColumnTarget) {
    slots[SQLName.folded(target.name)] = targets.count
    targets.append(target)
  }

  /// Takes over the columns that a parser found on the way.
  package mutating func extend(to columns: [ColumnTarget]) {
    for target in columns.dropFirst(targets.count) { add(target) }
  }
}
