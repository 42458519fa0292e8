/// Compares sorted rows with those of the table, which come back in the order of their keys.
///
///     COPY (SELECT id, a FROM t WHERE id BETWEEN 1 AND 9 ORDER BY id LIMIT …) TO STDOUT (FORMAT binary)
///
///     table    1 a   2 b   4 d   5 e
///     rows     1 a   2 x   3 c   5 e
///                    ^ differs   ^ same
///                          ^ is missing
///
/// Rows are compared as the bytes that would be sent. Equal bytes are equal values; others may still be (1.0 and 1.00), which is
/// for the server to say. So a value or an order that is understood wrongly costs time, and never a row.
struct WalkReader {
  private let connection: PostgresConnection

  init(_ connection: PostgresConnection) { self.connection = connection }

  /// What a walk has found.
  struct Findings {
    /// The places that differ, or that were not compared.
    var rest: [Int32] = []
    /// Rows that were read.
    var rowCount = 0
    var sameCount = 0
    /// Whether there were more rows than it was to read.
    var isCut = false
  }

  /// Walks along a range of places, in which no key comes twice.
  /// - Parameter limit: rows that are read at most: where the table has many more than the batch, a walk does not pay.
  /// - Returns: nil where the keys have no literals.
  func walk(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ places: Range<Int>, limit: Int, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Findings? {
    guard let compare = KeyOrder(rows.shape), let sql = sql(rows, order, places, limit: limit) else { return nil }
    outcomes.statementCount += 1
    var walk = Walk(rows: rows.view, order: order.rows, places: places, compare: compare, fieldCount: rows.shape.columns.count)
    try connection.copyOut(sql) { message throws(PostgresFailure) in
      walk.take(message)
      return true
    }
    walk.end()
    walk.findings.isCut = walk.findings.rowCount >= limit
    return walk.findings
  }

  private func sql(_ rows: borrowing EncodedRows, _ order: RowOrder, _ places: Range<Int>, limit: Int) -> String? {
    let shape = rows.shape
    guard let key = shape.key, let first = places.first, let last = places.last,
      let bounds = KeyBounds(rows, least: Int(order.rows[first]), most: Int(order.rows[last]))
    else { return nil }
    let list = shape.columns.map { column in
      let name = "upsurge_row.\(column.name.quotedForPostgres)"
      return shape.binary(column).form == .castText ? "\(name)::text" : name
    }
    let order = key.parts.compactMap(\.column).map { "upsurge_row.\($0.quotedForPostgres)" }.joined(separator: ", ")
    return "COPY (SELECT \(list.joined(separator: ", ")) FROM \(shape.table.ownRows) AS upsurge_row"
      + " WHERE \(bounds.sql(of: key, row: "upsurge_row")) ORDER BY \(order) LIMIT \(limit)) TO STDOUT (FORMAT binary)"
  }
}

/// Two sorted sides, and where each is.
private struct Walk {
  let rows: EncodedRows.View
  let order: [Int32]
  let places: Range<Int>
  let compare: KeyOrder
  let fieldCount: Int
  var findings = WalkReader.Findings()
  private var place: Int
  private var hasHeader = false

  init(rows: EncodedRows.View, order: [Int32], places: Range<Int>, compare: KeyOrder, fieldCount: Int) {
    (self.rows, self.order, self.places, self.compare, self.fieldCount) = (rows, order, places, compare, fieldCount)
    place = places.lowerBound
  }

  /// Takes a message of the copy: the header, a row, both, or the trailer.
  @inline(__always)
  mutating func take(_ message: UnsafeRawBufferPointer) {
    var message = message
    if !hasHeader {
      hasHeader = true
      message = UnsafeRawBufferPointer(rebasing: message.dropFirst(CopyFrame.header.count))
    }
    if message.count <= CopyFrame.trailer.count { return }
    findings.rowCount += 1
    if place == places.upperBound { return }
    let row = rows.row(Int(order[place]))
    if row.isSame(as: message) {
      findings.sameCount += 1
      place += 1
      return
    }
    if EncodedRow(message).isSound(fieldCount: fieldCount) { step(to: message) }
  }

  /// Goes on to the row's key.
  private mutating func step(to message: UnsafeRawBufferPointer) {
    while place < places.upperBound {
      let row = rows.row(Int(order[place]))
      let order = compare.compare(row, message)
      if order > 0 { return }
      if order == 0, row.isSame(as: message) {
        findings.sameCount += 1
      } else {
        findings.rest.append(Int32(truncatingIfNeeded: place))
      }
      place += 1
      if order == 0 { return }
    }
  }

  mutating func end() {
    findings.rest += (place..<places.upperBound).map { Int32(truncatingIfNeeded: $0) }
    place = places.upperBound
  }
}
