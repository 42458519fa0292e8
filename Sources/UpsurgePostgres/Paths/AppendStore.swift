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
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    // A copy that fails costs as much as one that does not.
    if skipCount > 0 {
      skipCount -= 1
      return false
    }
    // Without savepoints a single record is the base path's, which says what is wrong with it.
    guard savepoints.areUsed || order.rows.count > 1, try isFree(rows, order, &outcomes) else { return false }
    failureCount = min(failureCount + 1, 6)
    skipCount = 1 << failureCount - 1
    guard try append(rows, order, &savepoints, &outcomes) else { return false }
    (failureCount, skipCount) = (0, 0)
    return true
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
    let sql = "SELECT EXISTS (SELECT FROM \(shape.table.ownRows) AS upsurge_row\(range))"
    return try connection.run(sql, []).first?.flag(0) == false
  }

  /// Copies all rows.
  /// - Returns: false where something was against one of them; nothing stands then.
  func append(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Bool {
    let shape = rows.shape
    // What is text here needs a cast, and COPY writes any identity.
    guard shape.binaryColumns.allSatisfy({ $0.form != .castText }),
      overridesIdentity || !shape.columns.contains(where: { $0.generation == .identityAlways })
    else { return false }
    if order.rows.isEmpty { return true }
    outcomes.statementCount += 1
    do throws(PostgresFailure) {
      let head = savepoints.head().joined(separator: "; ")
      _ = try connection.beginCopy(
        "\(head); COPY \(shape.table.quotedName) (\(shape.names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
      )
      try send(rows, shape.hasCountingDefaults && order.isSorted ? order.byArrival : order)
      let count = try connection.endCopy().last?.affectedCount
      if count == order.rows.count {
        savepoints.keep()
        try savepoints.settle(on: connection)
        outcomes.inserted += order.rows.count
        return true
      }
    } catch {
      guard error.kind == .record, savepoints.areUsed else { throw error }
    }
    guard savepoints.areUsed else { throw PostgresFailure(.other, "the server has left out rows of a copy") }
    savepoints.takeBack()
    try savepoints.settle(on: connection)
    return false
  }

  private func send(_ rows: borrowing EncodedRows, _ order: RowOrder) throws(PostgresFailure) {
    var piece = RowBuffer(capacity: Self.pieceByteCount * 2)
    piece.appendCopyHeader()
    if order.isAsEncoded(rows) {
      try connection.put(piece.bytes)
      try connection.put(rows.view.bytes)
      piece.count = 0
    } else {
      for index in order.rows {
        piece.append(
          UnsafeBufferPointer(rebasing: rows.row(Int(index)).assumingMemoryBound(to: UInt8.self)[...]))
        if piece.count >= Self.pieceByteCount {
          try connection.put(piece.bytes)
          piece.count = 0
        }
      }
    }
    piece.appendCopyTrailer()
    try connection.put(piece.bytes)
  }
}
