/// Columns with a format that some file of a run has, so that another one may lack them.
package final class ColumnsElsewhere: Sendable {
  /// The names are folded; nil where a file cannot be looked at before it is read, and may have any.
  private let names = Guarded<Set<String>?>([])

  package init() {}

  func holds(_ name: String) -> Bool { names.withLock { $0?.contains(SQLName.folded(name)) ?? true } }

  func note(_ found: Set<String>?) { names.withLock { $0 = found } }
}
