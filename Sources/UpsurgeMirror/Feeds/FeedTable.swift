import UpsurgeInput
import UpsurgeRecords
import UpsurgeStorage

/// The table of feeds: one row for each mirrored table; users may read it, and delete from it what is to begin anew.
enum FeedTable {
  static let name = "upsurge_feeds"

  private static let columns = [
    "table", "owned_by", "feed", "files", "etag", "last_modified", "settings", "records", "checked_at",
    "good_at",
    "delivered_at",
    "failures", "exit_code",
    "message",
  ]

  private static let sql = """
    CREATE TABLE main.upsurge_feeds (
      "table" TEXT NOT NULL COLLATE NOCASE,
      owned_by TEXT NOT NULL,
      feed TEXT NOT NULL,
      files TEXT NOT NULL,
      etag TEXT,
      last_modified TEXT,
      settings TEXT,
      records INTEGER,
      checked_at TEXT NOT NULL,
      good_at TEXT,
      delivered_at TEXT,
      failures INTEGER NOT NULL,
      exit_code INTEGER NOT NULL,
      message TEXT,
      PRIMARY KEY ("table", owned_by)
    )
    """

  static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try OwnTable.exists(
      name, columns: columns, purpose: "feeds are kept in one of this name", on: connection)
  }

  static func all(_ connection: Connection) throws(UpsurgeError) -> [FeedRecord] {
    guard try exists(connection) else { return [] }
    return try read(connection.prepare("\(selection) ORDER BY \"table\", owned_by"))
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
      if try !exists(connection) { try connection.execute(sql) }
      let statement = try connection.prepare(
        """
        INSERT INTO main.upsurge_feeds
          ("table", feed, files, etag, last_modified, settings, records, checked_at, good_at, delivered_at, failures, exit_code, message, owned_by)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        ON CONFLICT ("table", owned_by) DO UPDATE SET feed = excluded.feed, files = excluded.files, etag = excluded.etag,
          last_modified = excluded.last_modified, settings = excluded.settings, records = excluded.records,
          checked_at = excluded.checked_at, good_at = excluded.good_at,
          delivered_at = excluded.delivered_at, failures = excluded.failures,
          exit_code = excluded.exit_code, message = excluded.message
        """)
      let values: [SQLValue] = [
        .text(record.table), .text(FeedText.encode(record.identity)), .text(FeedText.encode(record.files)),
        record.validators.etag.map { .text($0) } ?? .null,
        record.validators.lastModified.map { .text($0) } ?? .null,
        record.settings.map { .text($0) } ?? .null,
        record.recordCount.map { .integer(Int64(clamping: $0)) } ?? .null, .text(record.checkedAt),
        record.goodAt.map { .text($0) } ?? .null, record.deliveredAt.map { .text($0) } ?? .null,
        .integer(Int64(record.failureCount)), .integer(Int64(record.exitCode)),
        record.message.map { .text($0) } ?? .null, .text(record.ownedBy),
      ]
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
      _ = try statement.step()
      statement.reset()
      if !record.ownedBy.isEmpty { try forgetUnnamed(record, on: connection) }
    }
  }

  /// The same feed, before it had a name: what it has noted of rows is the named one's, whether or not that has
  /// delivered anything yet.
  private static func forgetUnnamed(_ record: FeedRecord, on connection: Connection) throws(UpsurgeError) {
    guard let unnamed = try read(record.table, ownedBy: "", on: connection),
      record.identity.changes(from: unnamed.identity).isEmpty
    else { return }
    try RowStateTable.adopt(record.table, by: record.ownedBy, on: connection)
    let statement = try connection.prepare(
      "DELETE FROM main.upsurge_feeds WHERE \"table\" = ?1 AND owned_by = ''")
    try statement.bind(record.table, at: 1)
    _ = try statement.step()
  }

  private static let selection = """
    SELECT "table", feed, files, etag, last_modified, settings, records, checked_at, good_at, delivered_at, failures, exit_code, message, owned_by FROM main.upsurge_feeds
    """

  private static func read(_ statement: Statement) throws(UpsurgeError) -> [FeedRecord] {
    var records: [FeedRecord] = []
    while try statement.step() {
      var record = FeedRecord(
        table: statement.text(at: 0) ?? "", identity: try FeedText.identity(statement.text(at: 1) ?? ""))
      record.files = try FeedText.files(statement.text(at: 2) ?? "[]")
      record.validators = HTTPValidators(etag: statement.text(at: 3), lastModified: statement.text(at: 4))
      record.settings = statement.text(at: 5)
      if !statement.isNull(at: 6) { record.recordCount = UInt64(clamping: statement.integer(at: 6)) }
      record.checkedAt = statement.text(at: 7) ?? ""
      record.goodAt = statement.text(at: 8)
      record.deliveredAt = statement.text(at: 9)
      record.failureCount = Int(clamping: statement.integer(at: 10))
      record.exitCode = Int32(clamping: statement.integer(at: 11))
      record.message = statement.text(at: 12)
      record.ownedBy = statement.text(at: 13) ?? ""
      records.append(record)
    }
    return records
  }
}
