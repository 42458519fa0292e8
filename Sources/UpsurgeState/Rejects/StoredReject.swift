import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// A record of the table of rejects, read back.
package struct StoredReject: Sendable {
  package var id: Int64
  package var table: String
  /// The context's id, and its text; nil when somebody deleted it.
  package var contextID: Int64
  package var context: String?
  package var position: Position
  package var column: String?
  package var code: Reject.Code
  package var reason: String
  package var raw: [UInt8]
  package var isRawCut: Bool
  /// The bytes of a record that is too large to be read; `raw` is empty then.
  package var omittedByteCount: Int? = nil

  package init(
    id: Int64, table: String, contextID: Int64, context: String?, position: Position, column: String?,
    code: Reject.Code, reason: String, raw: [UInt8], isRawCut: Bool
  ) {
    (self.id, self.table, self.contextID, self.context) = (id, table, contextID, context)
    (self.position, self.column, self.code, self.reason) = (position, column, code, reason)
    (self.raw, self.isRawCut) = (raw, isRawCut)
  }

  /// The next records in the order of arrival that share table and context.
  /// - Parameters:
  ///   - after: the id before the first one.
  ///   - through: the last id.
  ///   - count: the most records; fewer when they are large.
  ///   - recordByteLimit: a record that is larger comes alone and without its bytes.
  package static func page(
    _ connection: Connection, after: Int64, through: Int64, count: Int, byteCount: Int = 1 << 20,
    recordByteLimit: Int = .max
  ) throws(UpsurgeError) -> [StoredReject] {
    let large = try CellSizes(connection, table: RejectTable.name, column: "raw")
      .firstLarger(than: recordByteLimit, after: after, through: through, count: count)
    // Up to the large one; where that is the first, itself without its bytes.
    let last = large.map { $0.row - 1 } ?? through
    let page = try page(connection, after: after, through: last, count: count, byteCount: byteCount)
    guard let large, page.isEmpty else { return page }
    let statement = try connection.prepare("\(selection(raw: "''")) WHERE r.id = ?1")
    try statement.bind(large.row, at: 1)
    guard try statement.step() else { return [] }
    var record = StoredReject(row: statement)
    record.omittedByteCount = large.byteCount
    return [record]
  }

  private static func selection(raw: String) -> String {
    """
    SELECT r.id, r."table", r.context, c.context, r.file, r.record, r.line, r.byte, r."column", r.code, r.reason,
      \(raw), r.raw_cut
    FROM main.upsurge_rejects r LEFT JOIN main.upsurge_reject_contexts c ON c.id = r.context
    """
  }

  private static func page(
    _ connection: Connection, after: Int64, through: Int64, count: Int, byteCount: Int
  ) throws(UpsurgeError) -> [StoredReject] {
    let statement = try connection.prepare(
      "\(selection(raw: "r.raw")) WHERE r.id > ?1 AND r.id <= ?2 ORDER BY r.id LIMIT ?3")
    try statement.bind(after, at: 1)
    try statement.bind(through, at: 2)
    try statement.bind(Int64(count), at: 3)
    var page: [StoredReject] = []
    var bytes = 0
    while try statement.step() {
      let record = StoredReject(row: statement)
      if let first = page.first {
        let isAlike = SQLName.isSame(first.table, record.table) && first.contextID == record.contextID
        if !isAlike || bytes + record.raw.count > byteCount { break }
      }
      bytes += record.raw.count
      page.append(record)
    }
    return page
  }

  /// The largest id; 0 without one.
  package static func lastID(_ connection: Connection) throws(UpsurgeError) -> Int64 {
    try connection.integer("SELECT max(id) FROM main.upsurge_rejects") ?? 0
  }

  /// About how many there are: ids rise, and gaps are those that were stored since.
  package static func count(_ connection: Connection) throws(UpsurgeError) -> UInt64 {
    UInt64(max(try connection.integer("SELECT max(id) - min(id) + 1 FROM main.upsurge_rejects") ?? 0, 0))
  }

  /// Takes a record out.
  package static func delete(_ id: Int64, _ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare("DELETE FROM main.upsurge_rejects WHERE id = ?1")
    try statement.bind(id, at: 1)
    _ = try statement.step()
  }

  /// Says anew why a record is rejected.
  package static func update(
    _ id: Int64, to reject: Reject, _ connection: Connection
  ) throws(UpsurgeError) {
    let statement = try connection.prepare(
      "UPDATE main.upsurge_rejects SET \"column\" = ?2, code = ?3, reason = ?4 WHERE id = ?1")
    try statement.bind(id, at: 1)
    try statement.bind(reject.column, at: 2)
    try statement.bind(reject.code.rawValue, at: 3)
    try statement.bind(reject.reason, at: 4)
    _ = try statement.step()
  }

  /// Removes the contexts that no record is left for.
  package static func deleteUnusedContexts(_ connection: Connection) throws(UpsurgeError) {
    try connection.execute(
      """
      DELETE FROM main.upsurge_reject_contexts WHERE id NOT IN (SELECT context FROM main.upsurge_rejects)
      """)
  }
}

extension StoredReject {
  fileprivate init(row: Statement) {
    id = row.integer(at: 0)
    table = row.text(at: 1) ?? ""
    contextID = row.integer(at: 2)
    context = row.text(at: 3)
    func number(_ column: Int32) -> UInt64? {
      row.isNull(at: column) ? nil : UInt64(exactly: row.integer(at: column))
    }
    position = Position(
      file: row.text(at: 4) ?? "?", record: number(5), line: number(6), byte: number(7))
    column = row.text(at: 8)
    code = Reject.Code(rawValue: row.text(at: 9) ?? "")
    reason = row.text(at: 10) ?? ""
    switch SQLValue(row.handle, column: 11) {
    case .text(let text): raw = Array(text.utf8)
    case .blob(let bytes): raw = bytes
    default: raw = Array((row.text(at: 11) ?? "").utf8)
    }
    isRawCut = row.integer(at: 12) != 0
  }
}
