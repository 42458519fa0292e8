import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// A record of the quarantine, read back.
package struct QuarantinedRecord: Sendable, Equatable {
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: SQLValue
  }

  package var id: Int64
  package var table: String
  /// As `RulesText` spells them.
  package var rules: String
  /// The columns for which the table had no place.
  package var columns: [String]
  /// The record as `RecordText` spells it.
  package var text: String
  /// Where it stood in the input.
  package var position: Position
  /// The bytes of a text that is too large to be read; `text` is empty then.
  package var omittedByteCount: Int? = nil

  /// The fields of the record in order.
  /// - Throws: `badInput` when somebody made something else of it.
  package func fields() throws(UpsurgeError) -> [Field] { try RecordText.read(text) }

  /// The next records in the order of arrival that share table and rules.
  /// - Parameters:
  ///   - after: the id before the first one.
  ///   - through: the last id.
  ///   - count: the most records; fewer when they are large.
  ///   - recordByteLimit: a record that is larger comes alone and without its text.
  package static func page(
    _ connection: Connection, after: Int64, through: Int64, count: Int, byteCount: Int = 1 << 20,
    recordByteLimit: Int = .max
  ) throws(UpsurgeError) -> [QuarantinedRecord] {
    let large = try CellSizes(connection, table: OwnTable.quarantine.rawValue, column: "record")
      .firstLarger(than: recordByteLimit, after: after, through: through, count: count)
    // Up to the large one; where that is the first, itself without its text.
    let last = large.map { $0.row - 1 } ?? through
    let page = try page(connection, after: after, through: last, count: count, byteCount: byteCount)
    guard let large, page.isEmpty else { return page }
    let statement = try connection.prepare(
      "\(selection(text: "''")) WHERE id = ?1")
    try statement.bind(large.row, at: 1)
    guard try statement.step() else { return [] }
    var record = QuarantinedRecord(row: statement)
    record.omittedByteCount = large.byteCount
    return [record]
  }

  private static func page(
    _ connection: Connection, after: Int64, through: Int64, count: Int, byteCount: Int
  ) throws(UpsurgeError) -> [QuarantinedRecord] {
    let statement = try connection.prepare("\(selection) WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3")
    try statement.bind(after, at: 1)
    try statement.bind(through, at: 2)
    try statement.bind(Int64(count), at: 3)
    var page: [QuarantinedRecord] = []
    var bytes = 0
    while try statement.step() {
      let record = QuarantinedRecord(row: statement)
      if let first = page.first {
        let isAlike = SQLName.isSame(first.table, record.table) && first.rules == record.rules
        if !isAlike || bytes + record.text.utf8.count > byteCount { break }
      }
      bytes += record.text.utf8.count
      page.append(record)
    }
    return page
  }

  /// Records of a table whose keys are not of this form, in the order of arrival; a few at a time.
  static func outdated(
    _ connection: Connection, table: String, form: String, after: Int64
  ) throws(UpsurgeError) -> [QuarantinedRecord] {
    let statement = try connection.prepare(
      "\(selection) NOT INDEXED WHERE \"table\" = ?1 AND key_columns IS NOT ?2 AND id > ?3 ORDER BY id")
    try statement.bind(table, at: 1)
    try statement.bind(form, at: 2)
    try statement.bind(after, at: 3)
    var page: [QuarantinedRecord] = []
    var bytes = 0
    while page.count < 500, bytes < 1 << 20, try statement.step() {
      page.append(QuarantinedRecord(row: statement))
      bytes += page[page.count - 1].text.utf8.count
    }
    return page
  }

  /// The next records that wait for their parents, of any table, in the order of arrival; the table has `reason`.
  package static func orphans(_ connection: Connection, after: Int64, through: Int64) throws(UpsurgeError)
    -> [QuarantinedRecord]
  {
    let statement = try connection.prepare(
      "\(selection) WHERE reason IS NOT NULL AND id > ?1 AND id <= ?2 ORDER BY id LIMIT 1000")
    try statement.bind(after, at: 1)
    try statement.bind(through, at: 2)
    var page: [QuarantinedRecord] = []
    var bytes = 0
    while bytes < 1 << 20, try statement.step() {
      page.append(QuarantinedRecord(row: statement))
      bytes += page[page.count - 1].text.utf8.count
    }
    return page
  }

  /// Which of some kept records wait for their parents.
  package static func orphans(
    among ids: [Int64], _ connection: Connection
  ) throws(UpsurgeError) -> Set<Int64> {
    guard !ids.isEmpty, try QuarantineTable.hasReason(connection) else { return [] }
    let question = try connection.prepare(
      "SELECT 1 FROM main.upsurge_quarantine WHERE id = ?1 AND reason IS NOT NULL")
    var found: Set<Int64> = []
    for id in ids {
      try question.bind(id, at: 1)
      if try question.step() { found.insert(id) }
      question.reset()
    }
    return found
  }

  /// The names of the cells of kept records: all fields, and the columns that their rules speak of.
  package static func columnNames(
    _ kept: [(record: QuarantinedRecord, fields: [Field])], rules: UpsertRules, schema: TableSchema
  ) -> [String] {
    var names: [String] = []
    var seen: Set<String> = []
    for (_, fields) in kept {
      for field in fields where seen.insert(SQLName.folded(field.name)).inserted { names.append(field.name) }
    }
    var spokenOf = rules.target.columnNames + rules.merge.columns.keys.sorted()
    if let newer = rules.merge.newer { spokenOf.append(newer.column) }
    spokenOf = spokenOf.filter { schema.columnIndex($0) != nil }
    if let tombstone = rules.tombstone { spokenOf.append(tombstone.column) }
    for name in spokenOf where seen.insert(SQLName.folded(name)).inserted { names.append(name) }
    return names
  }

  private static let selection = selection(text: "record")

  private static func selection(text: String) -> String {
    "SELECT id, \"table\", rules, columns, \(text), file, number, line, byte FROM main.upsurge_quarantine"
  }

  /// The largest id; 0 when nothing is kept.
  package static func lastID(_ connection: Connection) throws(UpsurgeError) -> Int64 {
    try connection.integer("SELECT max(id) FROM main.upsurge_quarantine") ?? 0
  }
}

extension QuarantinedRecord {
  fileprivate init(row: Statement) {
    id = row.integer(at: 0)
    table = row.text(at: 1) ?? ""
    rules = row.text(at: 2) ?? ""
    columns = (try? JSONValue(row.text(at: 3) ?? ""))?.texts ?? []
    text = row.text(at: 4) ?? ""
    func number(_ column: Int32) -> UInt64? {
      row.isNull(at: column) ? nil : UInt64(exactly: row.integer(at: column))
    }
    position = Position(
      file: row.text(at: 5) ?? Self.unknownFile, record: number(6), line: number(7), byte: number(8))
  }

  private static let unknownFile = "?"
}
