/// A temporary table that holds the records of a batch, and goes away with the transaction or before.
///
///     CREATE TEMPORARY TABLE upsurge_staging ON COMMIT DROP AS SELECT 0::int4 AS upsurge_ord, … FROM t WITH NO DATA
///     COPY upsurge_staging (upsurge_ord, …) FROM STDIN (FORMAT binary)
struct StagingTable {
  /// A name that no one else takes within a transaction.
  static let name = "upsurge_staging"
  /// With more parts than that, an index pays.
  static let indexedPartCount = 8

  private let connection: PostgresConnection
  private let shape: RecordShape

  private static let pieceByteCount = 256 << 10

  init(_ connection: PostgresConnection, _ shape: RecordShape) {
    self.connection = connection
    self.shape = shape
  }

  /// The statement that makes the table. Columns have the collations of the target's, so that they can be compared.
  private var creation: String {
    // Without a key nothing is compared, and a user who may only insert may not read the table.
    let isInsert = shape.key == nil
    let list = zip(shape.columns, shape.binaryColumns).map { column, binary in
      let name = column.name.quotedForPostgres
      return "\(isInsert ? "NULL" : name)::\(binary.stagingType) AS \(name)"
    }
    return
      "CREATE TEMPORARY TABLE \(Self.name) ON COMMIT DROP AS SELECT \((["0::int4 AS upsurge_ord"] + list).joined(separator: ", "))"
      + (isInsert ? "" : " FROM \(shape.table.quotedName)") + " WITH NO DATA"
  }

  private var copy: String {
    "COPY \(RecordShape.staging) (\((["upsurge_ord"] + shape.names).joined(separator: ", "))) FROM STDIN (FORMAT binary)"
  }

  /// Makes the table, and fills it.
  /// - Throws: a failure of the class `record` leaves nothing stored: JSON is read by the server here.
  func fill(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    outcomes.statementCount += 1
    _ = try connection.beginCopy(
      "\(savepoints.areUsed ? "SAVEPOINT upsurge_copy; " : "")\(creation); \(copy)")
    do {
      try send(rows, order)
      _ = try connection.endCopy()
    } catch {
      if error.kind == .record, savepoints.areUsed {
        try connection.run(Savepoints.takingBack("upsurge_copy"))
      }
      throw error
    }
    if savepoints.areUsed { try connection.run("RELEASE upsurge_copy") }
    savepoints.note()
  }

  private func send(_ rows: borrowing EncodedRows, _ order: RowOrder) throws(PostgresFailure) {
    var piece = RowBuffer(capacity: Self.pieceByteCount * 2)
    piece.appendCopyHeader()
    let fieldCount = Int16(truncatingIfNeeded: shape.columns.count + 1)
    for ord in order.rows.indices {
      let row = rows.row(Int(order.rows[ord]))
      piece.reserve(row.count + 8)
      piece.put(fieldCount)
      piece.put(Int32(4))
      piece.put(Int32(truncatingIfNeeded: ord))
      piece.append(UnsafeBufferPointer(rebasing: row.assumingMemoryBound(to: UInt8.self)[2...]))
      if piece.count >= Self.pieceByteCount {
        try connection.put(piece.bytes)
        piece.count = 0
      }
    }
    piece.appendCopyTrailer()
    try connection.put(piece.bytes)
  }

  /// The bounds of the keys; nil where they have none that can be said.
  func bounds() throws(PostgresFailure) -> KeyBounds? {
    guard let sql = shape.boundsSQL(), let row = try connection.run(sql).last?.first else { return nil }
    guard let least = row.text(0), let most = row.text(1) else { return nil }
    return KeyBounds(least: [least], most: [most])
  }

  /// Where keys come again that only the server can compare.
  func cuts(
    rowCount: Int, _ savepoints: Savepoints, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    guard let sql = shape.repetitionsSQL() else { return [] }
    outcomes.statementCount += 1
    // A value that its type does not take fails here already; the search finds it, as long as the parts are small.
    let connection = connection
    let cuts = try savepoints.attempt("upsurge_keys", on: connection) { () throws(PostgresFailure) in
      let rows = try connection.run(sql, []).rows
      return KeySegments.cuts(of: rows.map { (Int($0.integer(0) ?? 0), Int($0.integer(1) ?? 0)) })
    }
    return cuts ?? Array(1..<max(rowCount, 1))
  }

  /// Makes parts of it quick to find; for when there are many.
  func index() throws(PostgresFailure) {
    // As there are no statistics of it, only a unique one says that a number is one record.
    try connection.run(
      "CREATE UNIQUE INDEX IF NOT EXISTS upsurge_staging_ord ON \(RecordShape.staging) (upsurge_ord)")
  }

  /// Runs a query that gives places.
  func places(
    in part: Range<Int>, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    outcomes.statementCount += 1
    let result = try connection.run(query(RecordShape.staging, part), [])
    return result.rows.compactMap { $0.integer(0).map { Int($0) } }
  }

  /// Takes records out.
  func remove(_ ords: [Int], from table: String = RecordShape.staging) throws(PostgresFailure) {
    let list = ords.map(String.init).joined(separator: ",")
    try connection.run("DELETE FROM \(table) WHERE upsurge_ord = ANY ('{\(list)}'::int4[])")
  }

  /// Ends the last part, and takes the table away.
  func drop(_ savepoints: inout Savepoints) throws(PostgresFailure) {
    try savepoints.settle(on: connection, then: "DROP TABLE \(RecordShape.staging)")
  }
}
