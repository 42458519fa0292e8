/// Copies rows straight into the table, after a savepoint.
struct AppendStore {
  private let connection: PostgresConnection
  private let overridesIdentity: Bool
  private var (failureCount, skipCount) = (0, 0)

  private static let pieceByteCount = 256 << 10

  init(_ connection: PostgresConnection, overridesIdentity: Bool) {
    self.connection = connection
    self.overridesIdentity = overridesIdentity
  }

  /// Copies all rows, where no row of the table can have one of the keys.
  /// - Returns: whether they stand.
  mutating func appendFree(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    // A copy that fails costs as much as one that does not.
    if skipCount > 0 {
      skipCount -= 1
      return false
    }
    guard try isFree(rows, order, &outcomes) else { return false }
    if try append(rows, order, &outcomes) {
      failureCount = 0
      return true
    }
    failureCount = min(failureCount + 1, 6)
    skipCount = 1 << failureCount - 1
    return false
  }

  /// Whether no row of the table can have one of the keys.
  private func isFree(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    let shape = rows.shape
    guard let key = shape.key else { return true }
    if !order.isDistinct { return false }
    // A row of the same key fails, whether it was there or is copied.
    if shape.rules.conflict == .fail { return true }
    let range = KeyBounds(rows, order).map { " WHERE " + $0.sql(of: key, row: "upsurge_row") } ?? ""
    outcomes.statementCount += 1
    let sql = "SELECT EXISTS (SELECT FROM \(shape.table.quotedName) AS upsurge_row\(range))"
    return try connection.run(sql, []).first?.flag(0) == false
  }

  /// Copies all rows.
  /// - Returns: false where something was against one of them; nothing stands then.
  func append(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    let shape = rows.shape
    // What is text here needs a cast, and COPY writes any identity.
    guard shape.binaryColumns.allSatisfy({ $0.form != .castText }),
      overridesIdentity || !shape.columns.contains(where: { $0.generation == .identityAlways })
    else { return false }
    if order.rows.isEmpty { return true }
    outcomes.statementCount += 1
    do throws(PostgresFailure) {
      _ = try connection.beginCopy("\(Halving.head); COPY \(shape.table.quotedName) (\(shape.names.joined(separator: ", "))) FROM STDIN (FORMAT binary)")
      try send(rows, shape.hasCountingDefaults && order.isSorted ? order.byArrival : order)
      let count = try connection.endCopy().last?.affectedCount
      if count == order.rows.count {
        try connection.run("RELEASE upsurge_part")
        outcomes.inserted += order.rows.count
        return true
      }
    } catch {
      guard error.kind == .record else { throw error }
    }
    try connection.run("ROLLBACK TO upsurge_part; RELEASE upsurge_part")
    return false
  }

  private func send(_ rows: borrowing EncodedRows, _ order: RowOrder) throws(PostgresFailure) {
    var piece = RowBuffer(capacity: Self.pieceByteCount * 2)
    piece.appendCopyHeader()
    for index in order.rows {
      piece.append(UnsafeBufferPointer(rebasing: rows.row(Int(index)).assumingMemoryBound(to: UInt8.self)[...]))
      if piece.count >= Self.pieceByteCount {
        try connection.put(piece.bytes)
        piece.count = 0
      }
    }
    piece.appendCopyTrailer()
    try connection.put(piece.bytes)
  }
}
