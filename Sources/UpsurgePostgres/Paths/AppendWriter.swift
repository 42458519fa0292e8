/// Stores batches by appending: where the table has no row in the batch's key range, and no key comes twice, the rows are copied
/// into the table. Everything else, and a copy that fails, goes to the delta or the ordered path.
package typealias AppendWriter = BatchWriter<AppendPath>

extension BatchWriter<AppendPath> {
  /// - Parameters:
  ///   - shape: of a table that has no triggers for rows, no rules and no policies.
  ///   - slots: the slot of each of the shape's columns in the records.
  package init(
    _ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int]
  ) {
    let path = AppendPath(
      append: AppendStore(connection, overridesIdentity: shape.rules.overridesIdentity),
      rest: StagedStore(connection, shape, capabilities))
    self.init(path, shape, slots: slots)
  }
}

/// Appending, and the table's base path for what cannot be appended.
package struct AppendPath: RowStore {
  fileprivate var append: AppendStore
  fileprivate let rest: StagedStore

  package var arrangement: RowArrangement { .rounds }

  package mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if try append.appendFree(rows, order, &savepoints, &outcomes) { return }
    try rest.store(rows, order, &savepoints, &outcomes)
  }
}
