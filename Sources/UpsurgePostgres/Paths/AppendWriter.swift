import UpsurgeRecords

/// Stores batches by appending: where the table has no row in the batch's key range, and no key comes twice, the rows are copied
/// into the table. Everything else, and a copy that fails, goes to the delta or the ordered path.
///
/// Each is stored within a transaction that the caller has begun and commits.
package struct AppendWriter: ~Copyable {
  private var append: AppendStore
  private let rest: StagedStore
  private var rows: BatchRows

  /// - Parameters:
  ///   - shape: of a table that has no triggers for rows, no rules and no policies.
  ///   - slots: the slot of each of the shape's columns in the records.
  package init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int]) {
    append = AppendStore(connection, overridesIdentity: shape.rules.overridesIdentity)
    rest = StagedStore(connection, shape, capabilities)
    rows = BatchRows(shape, slots: slots)
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    let rest = rest
    var append = append
    defer { self.append = append }
    return try rows.store(batch, in: .rounds) { rows, order, outcomes throws(PostgresFailure) in
      if try append.appendFree(rows, order, &outcomes) { return }
      try rest.store(rows, order, &outcomes)
    }
  }
}
