import UpsurgeRecords
import UpsurgeState

/// Records of the table of rejects, read back.
extension PostgresRejects {
  /// So many bytes of records make a page.
  private static let pageByteCount = 1 << 20

  /// The largest id, and about how many there are.
  func extent(_ connection: PostgresConnection) throws(PostgresFailure) -> (lastID: Int64, count: UInt64) {
    let row = try connection.run(
      "SELECT coalesce(max(id), 0), coalesce(max(id) - min(id) + 1, 0) FROM \(quotedName)", []
    ).first
    return (row?.integer(0) ?? 0, UInt64(max(row?.integer(1) ?? 0, 0)))
  }

  /// The next records in the order of arrival that share table and context, locked.
  /// - Parameters as of `StoredReject.page`.
  func page(
    after: Int64, through: Int64, count: Int, recordByteLimit: Int, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [StoredReject] {
    let heads = try connection.run(
      """
      SELECT id, left("table", \(Self.nameLimit)), context, \(Self.rawSizeTerm), \(Self.sizeTerm) FROM \(quotedName)
      WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3
      """, [.integer(after), .integer(through), .integer(Int64(count))]
    ).rows
    guard let first = heads.first, let firstID = first.integer(0) else { return [] }
    var (ids, byteCount): ([Int64], Int) = ([], 0)
    for row in heads {
      let (rawSize, size) = (row.integer(3) ?? 0, Int(row.integer(4) ?? 0))
      let isAlike = row.text(1) == first.text(1) && row.integer(2) == first.integer(2)
      let isFull = !ids.isEmpty && byteCount + size > Self.pageByteCount
      if !isAlike || isFull || rawSize > recordByteLimit || size > 4 * recordByteLimit { break }
      ids.append(row.integer(0) ?? 0)
      byteCount += size
    }
    let context = try context(first.integer(2) ?? 0, byteLimit: recordByteLimit, connection)
    if !ids.isEmpty { return try records(ids, context, connection) }
    // The first one is too large: itself without its bytes.
    var large = try records([firstID], context, isWhole: false, connection)
    if !large.isEmpty { large[0].omittedByteCount = Int(first.integer(4) ?? 0) }
    return large
  }

  /// No name of a table is as long, with its schema and quotes.
  private static let nameLimit = 600

  /// What a record takes, in bytes: somebody may have written anything.
  private static let sizeTerm =
    (["\"table\"", "file", "\"column\"", "code", "reason"].map { "coalesce(octet_length(\($0))::int8, 0)" }
    + [rawSizeTerm])
    .joined(separator: " + ")

  private static let rawSizeTerm = "coalesce(octet_length(raw_bytes), octet_length(raw), 0)::int8"

  /// How a record was read; empty for a text that is too large.
  private func context(
    _ id: Int64, byteLimit: Int, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> String? {
    try connection.run(
      "SELECT CASE WHEN octet_length(context) <= $2 THEN context ELSE '' END FROM \(quotedContexts) WHERE id = $1",
      [.integer(id), .integer(Int64(byteLimit))]
    ).first?.text(0)
  }

  /// - Parameter isWhole: whether all of the texts is read; else their beginning, and nothing of the bytes.
  private func records(
    _ ids: [Int64], _ context: String?, isWhole: Bool = true, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [StoredReject] {
    let list = ids.map(String.init).joined(separator: ",")
    func text(_ column: String) -> String { isWhole ? column : "left(\(column), \(Self.nameLimit))" }
    let raw = isWhole ? "CASE WHEN raw_bytes IS NULL THEN raw END, encode(raw_bytes, 'hex')" : "'', NULL"
    return try connection.run(
      """
      SELECT id, \(text("\"table\"")), context, \(text("file")), record, line, byte, \(text("\"column\"")), \(text("code")),
        \(text("reason")), raw_cut, \(raw) FROM \(quotedName)
      WHERE id = ANY ($1::int8[]) ORDER BY id FOR UPDATE
      """, [.text("{\(list)}")]
    ).rows.map { row in
      func number(_ column: Int) -> UInt64? { row.integer(column).flatMap { UInt64(exactly: $0) } }
      return StoredReject(
        id: row.integer(0) ?? 0, table: row.text(1) ?? "", contextID: row.integer(2) ?? 0, context: context,
        position: Position(file: row.text(3) ?? "?", record: number(4), line: number(5), byte: number(6)),
        column: row.text(7), code: Reject.Code(rawValue: row.text(8) ?? ""), reason: row.text(9) ?? "",
        raw: row.text(11).map { Array($0.utf8) } ?? Self.bytes(hex: row.text(12) ?? ""),
        isRawCut: row.flag(10) ?? false)
    }
  }

  private static func bytes(hex: String) -> [UInt8] {
    let digits = hex.utf8.map {
      UInt8($0 < UInt8(ascii: "a") ? $0 &- UInt8(ascii: "0") : $0 &- UInt8(ascii: "a") &+ 10)
    }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  // MARK: - What becomes of them

  /// Takes records out.
  func delete(_ ids: [Int64], _ connection: PostgresConnection) throws(PostgresFailure) {
    if ids.isEmpty { return }
    let list = ids.map(String.init).joined(separator: ",")
    try connection.run("DELETE FROM \(quotedName) WHERE id = ANY ($1::int8[])", [.text("{\(list)}")])
  }

  /// Says anew why a record is rejected.
  func update(
    _ id: Int64, to reject: Reject, _ text: ServerText, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    try connection.run(
      "UPDATE \(quotedName) SET \"column\" = $2, code = $3, reason = $4 WHERE id = $1",
      [
        .integer(id), reject.column.map { .text(text.shown($0)) } ?? .null,
        .text(text.shown(reject.code.rawValue)), .text(text.shown(reject.reason)),
      ])
  }

  /// Removes the contexts that no record is left for, in a transaction. A load that has just found one keeps it locked, so that
  /// one is left alone.
  func deleteUnusedContexts(_ connection: PostgresConnection) throws(PostgresFailure) {
    do throws(PostgresFailure) {
      try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
      let ids = try connection.run("SELECT id FROM \(quotedContexts) ORDER BY id FOR UPDATE SKIP LOCKED", [])
        .rows
      let list = ids.map { $0.text(0) ?? "" }.joined(separator: ",")
      try connection.run(
        "DELETE FROM \(quotedContexts) WHERE id = ANY ($1::int8[]) AND id NOT IN (SELECT context FROM \(quotedName))",
        [.text("{\(list)}")])
      _ = try connection.commit()
    } catch {
      connection.rollback()
      // Once more does no harm.
      var failure = error
      if failure.kind == .outcomeUnknown { failure.kind = .connectionLost }
      throw failure
    }
  }
}
