import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState
import UpsurgeStorage

/// The table of feeds: one row for each mirrored table; users may read it, and delete from it what is to begin anew.
enum FeedTable {
  static let name = OwnTable.feeds.rawValue

  /// A column, and the part of a record that it holds.
  private struct Column: Sendable {
    let name: String
    /// As CREATE TABLE has it.
    let type: String
    var isKey = false
    /// The layout that has brought it.
    var layout = 1
    let value: @Sendable (FeedRecord) -> SQLValue
    /// Puts the value of a row into a record.
    let read: @Sendable (inout FeedRecord, SQLValue) throws(UpsurgeError) -> Void

    var quoted: String { "\"\(name)\"" }

    var isNumber: Bool { type.hasPrefix("INTEGER") }

    /// The value of a row of SQLite.
    func value(in row: Statement, at index: Int32) -> SQLValue {
      if row.isNull(at: index) { return .null }
      return isNumber ? .integer(row.integer(at: index)) : .text(row.text(at: index) ?? "")
    }
  }

  private static let columns: [Column] = [
    Column(
      name: "table", type: "TEXT NOT NULL COLLATE NOCASE", isKey: true, value: { .text($0.table) },
      read: { $0.table = $1.textValue ?? "" }),
    Column(
      name: "owned_by", type: "TEXT NOT NULL", isKey: true, layout: 4, value: { .text($0.ownedBy) },
      read: { $0.ownedBy = $1.textValue ?? "" }),
    Column(
      name: "feed", type: "TEXT NOT NULL",
      value: { .text(FeedText.encode($0.identity, hasDelivered: $0.hasDelivered)) },
      read: { (record, value) throws(UpsurgeError) in
        (record.identity, record.hasDelivered) = try FeedText.feed(value.textValue ?? "")
      }),
    Column(
      name: "files", type: "TEXT NOT NULL", value: { .text(FeedText.encode($0.files)) },
      read: { (record, value) throws(UpsurgeError) in
        record.files = try FeedText.files(value.textValue ?? "[]")
      }),
    Column(
      name: "etag", type: "TEXT", layout: 2, value: { text($0.validators.etag) },
      read: { $0.validators.etag = $1.textValue }),
    Column(
      name: "last_modified", type: "TEXT", layout: 2, value: { text($0.validators.lastModified) },
      read: { $0.validators.lastModified = $1.textValue }),
    Column(
      name: "settings", type: "TEXT", layout: 3, value: { text($0.settings) },
      read: { $0.settings = $1.textValue }),
    Column(
      name: "records", type: "INTEGER",
      value: { $0.recordCount.map { .integer(Int64(clamping: $0)) } ?? .null },
      read: { $0.recordCount = $1.integerValue.map { UInt64(clamping: $0) } }),
    Column(
      name: "checked_at", type: "TEXT NOT NULL", value: { .text($0.checkedAt) },
      read: { $0.checkedAt = $1.textValue ?? "" }),
    Column(name: "good_at", type: "TEXT", value: { text($0.goodAt) }, read: { $0.goodAt = $1.textValue }),
    Column(
      name: "delivered_at", type: "TEXT", value: { text($0.deliveredAt) },
      read: { $0.deliveredAt = $1.textValue }),
    Column(
      name: "failures", type: "INTEGER NOT NULL", value: { .integer(Int64($0.failureCount)) },
      read: { $0.failureCount = Int(clamping: $1.integerValue ?? 0) }),
    Column(
      name: "exit_code", type: "INTEGER NOT NULL", value: { .integer(Int64($0.exitCode)) },
      read: { $0.exitCode = Int32(clamping: $1.integerValue ?? 0) }),
    Column(
      name: "message", type: "TEXT", value: { text($0.message) }, read: { $0.message = $1.textValue }),
    Column(
      name: "disturbed_by", type: "TEXT", layout: 5, value: { text($0.disturbedBy) },
      read: { $0.disturbedBy = $1.textValue }),
    Column(
      name: "has_rejects", type: "INTEGER", layout: 5,
      value: { .integer($0.hasRejects ? 1 : 0) },
      // Earlier versions have gone by the last run.
      read: { record, value in record.hasRejects = value.integerValue.map { $0 != 0 } ?? (record.exitCode == 2) }),
    Column(
      name: "shape", type: "TEXT", layout: 6, value: { text($0.shape.map(FeedShapeText.encode)) },
      read: { (record, value) throws(UpsurgeError) in
        guard let text = value.textValue else { return }
        record.shape = try FeedShapeText.shape(text)
      }),
  ]

  private static func text(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }

  private static func names(_ columns: [Column]) -> String { columns.map(\.quoted).joined(separator: ", ") }

  private static var keyNames: String { names(columns.filter(\.isKey)) }

  static let layout = OwnLayout(
    .feeds, purpose: "feeds are kept in one of this name",
    columns: columns.filter { $0.layout == 1 }.map(\.name),
    body: columns.map { "\($0.quoted) \($0.type),\n" }.joined() + "PRIMARY KEY (\(keyNames))",
    steps: [
      added(2), added(3),
      // Before, a table had one feed.
      .key("owned_by", value: "''"),
      added(5), added(6),
    ])

  /// The step to a layout that has more columns.
  private static func added(_ layout: Int) -> OwnLayout.Step {
    .columns(columns.filter { $0.layout == layout }.map { ($0.name, $0.type) })
  }

  private static var upsert: String {
    let changes = columns.filter { !$0.isKey }.map { "\($0.quoted) = excluded.\($0.quoted)" }
    return """
      INSERT INTO main.\(name) (\(names(columns)))
      VALUES (\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))
      ON CONFLICT (\(keyNames)) DO UPDATE SET \(changes.joined(separator: ", "))
      """
  }

  static func all(_ connection: Connection) throws(UpsurgeError) -> [FeedRecord] {
    try connection.reading { () throws(UpsurgeError) in
      guard let found = try layout.find(on: connection) else { return [] }
      // With their names, by which they are in order.
      let values = columns.map { "\(found.term($0.name)) AS \($0.quoted)" }.joined(separator: ", ")
      return try read(connection.prepare("SELECT \(values) FROM main.\(name) ORDER BY \(keyNames)"))
    }
  }

  /// The feeds of a table, one without a name first.
  static func all(of table: String, on connection: Connection) throws(UpsurgeError) -> [FeedRecord] {
    try all(connection).filter { SQLName.isSame($0.table, table) }
  }

  /// - Parameter owner: the feed's name; empty for one that has none.
  static func read(
    _ table: String, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) -> FeedRecord? {
    try all(of: table, on: connection).first { $0.ownedBy == owner }
  }

  /// Writes a record, in a transaction of its own.
  static func write(_ record: FeedRecord, on connection: Connection) throws(UpsurgeError) {
    try connection.writing { () throws(UpsurgeError) in
      try layout.prepare(on: connection)
      let statement = try connection.prepare(upsert)
      for (index, column) in columns.enumerated() {
        try statement.bind(column.value(record), at: Int32(index + 1))
      }
      _ = try statement.step()
      statement.reset()
      if !record.ownedBy.isEmpty { try forgetUnnamed(record, on: connection) }
    }
  }

  /// Forgets the feed as it was before it had a name. What it has noted of rows is the named one's, whether or not that has
  /// delivered anything yet.
  private static func forgetUnnamed(_ record: FeedRecord, on connection: Connection) throws(UpsurgeError) {
    guard let unnamed = try read(record.table, ownedBy: "", on: connection),
      record.identity.changes(from: unnamed.identity, fields: unnamed.shape?.fields ?? []).isEmpty
    else { return }
    try RowStateTable.adopt(record.table, by: record.ownedBy, on: connection)
    try UnacceptedState.adopt(record.table, by: record.ownedBy, on: connection)
    let statement = try connection.prepare(
      "DELETE FROM main.\(name) WHERE \"table\" = ?1 AND owned_by = ''")
    try statement.bind(record.table, at: 1)
    _ = try statement.step()
  }

  private static func read(_ statement: Statement) throws(UpsurgeError) -> [FeedRecord] {
    var records: [FeedRecord] = []
    while try statement.step() {
      records.append(try record(columns.enumerated().map { $1.value(in: statement, at: Int32($0)) }))
    }
    return records
  }

  // MARK: - In every store

  /// The table as each store has it.
  static let notes = NoteTable(
    layout,
    columns: columns.map { column in
      NoteTable.Column(
        column.name, column.isNumber ? .integer : .text, isKey: column.isKey,
        isRequired: column.type.contains("NOT NULL"))
    })

  /// What a row says, which has the value of each column.
  static func record(_ row: [SQLValue]) throws(UpsurgeError) -> FeedRecord {
    var record = FeedRecord(
      table: "", identity: FeedIdentity(kind: "", sources: [], key: [], scope: nil, headers: nil))
    for (column, value) in zip(columns, row) { try column.read(&record, value) }
    return record
  }

  static func row(_ record: FeedRecord) -> [SQLValue] { columns.map { $0.value(record) } }
}

extension SQLValue {
  /// nil for NULL.
  fileprivate var textValue: String? {
    if case .text(let text) = self { return text }
    return nil
  }

  /// nil for NULL.
  fileprivate var integerValue: Int64? {
    if case .integer(let number) = self { return number }
    return nil
  }
}
