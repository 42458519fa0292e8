import CSQLite
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Records whose parents are not there (`WriterSettings.quarantinesOrphans`).
extension QuarantineStage {
  /// What a record that was refused refers to that is not there, in words; nil where that is not why it was refused, or
  /// such records do not wait.
  func missingParent(
    of record: Int, in batch: borrowing Batch, after refusal: Refusal
  ) throws(UpsurgeError) -> String? {
    guard settings.delivery.quarantinesOrphans, refusal.code == ResultCode.constraintForeignKey else {
      return nil
    }
    for key in plan.schema.foreignKeys.indices {
      if let words = try missingParent(of: record, in: batch, key: key) { return words }
    }
    return nil
  }

  /// What a record refers to by one foreign key that is not there, in words.
  /// - Parameter key: index of the foreign key.
  private func missingParent(
    of record: Int, in batch: borrowing Batch, key: Int
  ) throws(UpsurgeError) -> String? {
    let foreignKey = plan.schema.foreignKeys[key]
    let row = batch.cells + record * batch.columnCount
    var cells: [Cell] = []
    for column in foreignKey.columns {
      let index = plan.schema.columnIndex(column)
      guard let slot = plan.slots.first(where: { $0.columnIndex == index }),
        slot.cellIndex < batch.columnCount
      else { return nil }
      let cell = row[slot.cellIndex]
      // NULL refers to nothing; what the record does not speak of stays as it is.
      if cell.kind == .null || cell.kind == .absent { return nil }
      cells.append(cell)
    }
    guard let probe = try parentProbe(key) else { return nil }
    for (index, cell) in cells.enumerated() { try probe.bind(cell, of: batch, at: Int32(index + 1)) }
    defer { probe.reset() }
    guard try probe.step(), probe.integer(at: 0) == 0 else { return nil }
    return words(for: foreignKey, value: probe.text(at: 1))
  }

  /// What a record refers to by a foreign key, where that is known not to be there.
  func orphanWords(
    _ batch: borrowing Batch, _ record: Int, key: Int
  ) throws(UpsurgeError) -> String {
    try missingParent(of: record, in: batch, key: key) ?? words(for: plan.schema.foreignKeys[key], value: nil)
  }

  private func words(for key: TableSchema.ForeignKey, value: String?) -> String {
    let (columns, parents) = (
      key.columns.joined(separator: ", "), key.referredColumns.joined(separator: ", ")
    )
    let row = value.map { " (\($0.count > 60 ? String($0.prefix(60)) + "..." : $0))" } ?? ""
    return "FOREIGN KEY (\(columns)) REFERENCES \(key.parentTable) (\(parents)): there is no such row\(row)"
      .escapedForTerminal
  }

  /// Says whether the values of a foreign key name a row of its parent, and spells them; nil where that cannot be asked.
  private func parentProbe(_ key: Int) throws(UpsurgeError) -> Statement? {
    if let probe = parentProbes[key] { return probe }
    let foreignKey = plan.schema.foreignKeys[key]
    let parents = foreignKey.referredColumns
    if parents.count != foreignKey.columns.count { return nil }
    var (terms, values): ([String], [String]) = ([], [])
    for (place, column) in foreignKey.columns.enumerated() {
      let affinity = plan.schema.columnIndex(column).map { plan.schema.columns[$0].affinity } ?? .none
      let value = KeyReader.converted("?\(place + 1)", affinity: affinity)
      terms.append("\"upsurge_parent\".\(try SQLName.quote(parents[place])) = \(value)")
      values.append("quote(?\(place + 1))")
    }
    let probe = try connection.prepare(
      """
      SELECT EXISTS (SELECT 1 FROM \(try SQLName.quote(foreignKey.parentTable)) AS "upsurge_parent"
        WHERE \(terms.joined(separator: " AND "))), \(values.joined(separator: " || ', ' || "))
      """, isPersistent: true)
    parentProbes[key] = probe
    return probe
  }
}
