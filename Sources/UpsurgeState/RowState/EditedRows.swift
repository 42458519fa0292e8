import UpsurgeRecords
import UpsurgeSQLite

/// Rows of a table that were edited here, for records that come without a load which looks for edits: those that have waited
/// in the quarantine. Belongs to the connection's thread.
///
/// A load of the transaction that is open has marked the notes of such rows before it stored anything. Where none has, as
/// nothing was read of the table, they are marked now (see `RowEdits`).
package final class EditedRows {
  private let question: Statement

  /// - Parameters:
  ///   - owner: the feed's name; empty for one that has none.
  ///   - areMarked: whether a load has marked them.
  /// - Returns: nil where none is known.
  package init?(
    _ schema: TableSchema, ownedBy owner: String, areMarked: Bool, on connection: Connection
  ) throws(UpsurgeError) {
    guard schema.kind == .table, try RowStateTable.holdsContents(connection),
      let names = try Self.keyNames(schema, ownedBy: owner, on: connection)
    else { return nil }
    let rows = try RowEdits(schema, key: names, ownedBy: owner)
    if !areMarked {
      try RowContent.register(on: connection)
      try rows.unmark(run: "NULL", on: connection)
      let hasChanged = try rows.markChanged(on: connection)
      let hasDeleted = try rows.markDeleted(on: connection)
      if !hasChanged && !hasDeleted { return nil }
    }
    question = try connection.prepare(
      """
      SELECT 1 FROM main.\(try SQLName.quote(schema.name)) WHERE \(try RowStateTable.identityCondition(schema))
        AND EXISTS (SELECT 1 FROM main.upsurge_rows WHERE upsurge_rows."key" = \(rows.key)
          AND upsurge_rows."table" = \(try SQLName.literal(schema.name))
          AND upsurge_rows.owned_by = \(try SQLName.literal(owner))
          AND upsurge_rows.edit IN ('changed', 'deleted'))
      """, isPersistent: true)
  }

  /// Whether a row that a record has just stored was edited here before.
  /// - Parameter identity: the rowid, or the primary key of a table without rowids.
  package func holds(_ identity: [SQLValue]) throws(UpsurgeError) -> Bool {
    for (index, value) in identity.enumerated() { try question.bind(value, at: Int32(index + 1)) }
    defer { question.reset() }
    return try question.step()
  }

  /// The columns by which the feed distinguishes its rows; nil where it is not known what it has stored in any.
  private static func keyNames(
    _ schema: TableSchema, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) -> [String]? {
    let lists = try connection.prepare(
      """
      SELECT key_columns FROM main.upsurge_rows
      WHERE "table" = \(try SQLName.literal(schema.name)) AND owned_by = \(try SQLName.literal(owner))
        AND content IS NOT NULL LIMIT 1
      """)
    guard try lists.step(), let names = try JSONValue(lists.text(at: 0) ?? "").names else { return nil }
    return names.allSatisfy({ schema.columnIndex($0) != nil }) ? names : nil
  }
}
