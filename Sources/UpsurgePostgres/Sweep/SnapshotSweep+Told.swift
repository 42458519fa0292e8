import UpsurgeRecords

/// Writing rows of a sweep, and telling them where somebody asks for that.
extension SnapshotSweep {
  /// What becomes of a row.
  enum RowChange {
    case deletion
    /// It gets another mark.
    case mark(String, RowMark)
  }

  /// - Parameter condition: SQL that is true of the rows.
  /// - Returns: how many there were.
  func write(
    _ change: RowChange, _ rows: SweptRows, where condition: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Int {
    let work =
      switch change {
      case .deletion: "DELETE FROM \(rows.table) WHERE \(condition)"
      case .mark(let value, let mark): "UPDATE \(rows.table) SET \(mark.name) = \(value) WHERE \(condition)"
      }
    guard let told else { return try connection.run(work, []).affectedCount }
    let counts = try told.tell(sql(work, change, rows, told.columns), records: nil, connection).counts
    return counts.updated + counts.deleted
  }

  /// The statement, with the rows that it gives in the order of their keys.
  private func sql(_ work: String, _ change: RowChange, _ rows: SweptRows, _ columns: ToldColumns) -> String {
    // The table may be called as they are, and a row of it is said by the table's name.
    let order = rows.keyNames.map { "upsurge_w.\($0)" }.joined(separator: ", ")
    let written = """
      WITH upsurge_w AS (\(work) RETURNING \(columns.returned(rows.alias)), \(rows.keyList)),
      upsurge_n AS (SELECT row_number() OVER (ORDER BY \(order)) AS upsurge_number, upsurge_w.* FROM upsurge_w)
      """
    let kind: ToldColumns.Kind = if case .deletion = change { .deleted } else { .after }
    var told = [
      columns.told("upsurge_n.upsurge_number", "\(kind.rawValue)", of: "upsurge_n", "FROM upsurge_n")
    ]
    if kind == .after {
      let terms = rows.key.indices.map { index in
        let equality = rows.key[index].isNotNull ? "=" : "IS NOT DISTINCT FROM"
        return
          "\(rows.alias).\(rows.key[index].name.quotedForPostgres)\(rows.collations[index]) \(equality) upsurge_n.\(rows.keyNames[index])"
      }
      told.append(
        columns.found(
          "upsurge_n.upsurge_number", .before, of: rows.alias,
          "FROM upsurge_n JOIN \(rows.table) ON \(terms.joined(separator: " AND "))"))
    }
    return "\(written) \(ToldColumns.all(told))"
  }
}
