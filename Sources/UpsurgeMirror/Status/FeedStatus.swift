import Upsurge
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

/// How a mirrored table stands: what its last runs have noted, for people and for monitoring.
///
///     for feed in try FeedStatus.all(database: "app.db") { print(feed.table, feed.failureCount) }
public struct FeedStatus: Sendable {
  public var table: String
  /// The feed's name among those of the table; nil where it has none.
  public var ownedBy: String?
  /// When the table was last found in step with its feed, or brought there: UTC, ISO 8601; nil where it never was.
  public var goodAt: String?
  /// `goodAt` in seconds since 1970.
  public var goodTime: Double?
  /// Seconds since `goodTime`.
  public var age: Double?
  /// When a delivery has come into the table last.
  public var deliveredAt: String?
  /// Records of that delivery.
  public var recordCount: UInt64?
  /// When the last run was.
  public var checkedAt: String
  /// Runs that did not go well, one after the other, up to now.
  public var failureCount: Int
  /// Of the last run.
  public var exitCode: Int32
  /// Why the last run did not go well, or which rejects of the last delivery are kept nowhere.
  public var message: String?
  /// What `--accept-delivery` takes to let the delivery through that a guard has refused in the last run.
  public var refusedDelivery: String?

  /// Whether the last try failed, and the run has not said yet that it was the last: it waits for another one, or has ended
  /// without a word (killed, a machine that went down).
  public var isBetweenTries: Bool { failureCount == 0 && exitCode != 0 && exitCode != 2 }

  /// Which rejects of the last delivery are kept nowhere, where the last run went well.
  package var loss: String? { failureCount == 0 && exitCode == 2 ? message : nil }

  /// Whether the last run went well, and not longer ago than so many seconds.
  public func isGood(maximumAge: Double?) -> Bool {
    guard failureCount == 0, !isBetweenTries, let age else { return false }
    return maximumAge.map { age <= $0 } ?? true
  }

  /// Every mirrored table of a database, by name; changes nothing.
  /// - Throws: `unreadableInput` where there is no database, or it cannot be read.
  public static func all(database: String) throws(UpsurgeError) -> [FeedStatus] {
    if let provider = StoreRegistry.provider(of: database) { return try all(of: provider, database) }
    return try Connection.visiting(database) { (connection) throws(UpsurgeError) in try all(connection) }
  }

  private static func all(
    of provider: any StoreProvider, _ database: String
  ) throws(UpsurgeError) -> [FeedStatus] {
    let stored = try provider.notes(in: FeedTable.notes, database: database)
    let now = Moment.seconds(stored.now) ?? 0
    let refusals = try provider.notes(in: RefusalTable.notes, database: database).rows
    var list: [FeedStatus] = []
    for row in stored.rows {
      let record = try FeedTable.record(row)
      var refused: String?
      if record.failureCount > 0, record.exitCode == 4, let message = record.message {
        let own = refusals.filter { $0[0] == .text(record.table) && $0[1] == .text(record.ownedBy) }
        refused = RefusalTable.digest(in: message, among: own.map(RefusalTable.delivery))
      }
      list.append(FeedStatus(record, good: record.goodAt.flatMap(Moment.seconds), now: now, refused: refused))
    }
    return list.sorted { ($0.table, $0.ownedBy ?? "") < ($1.table, $1.ownedBy ?? "") }
  }

  private static func all(_ connection: Connection) throws(UpsurgeError) -> [FeedStatus] {
    let now = try connection.integer("SELECT CAST(strftime('%s', 'now') AS INTEGER)") ?? 0
    var list: [FeedStatus] = []
    for record in try FeedTable.all(connection) {
      let good = try record.goodAt.flatMap { (time) throws(UpsurgeError) -> Int64? in
        try connection.integer("SELECT CAST(strftime('%s', \(SQLName.literal(time))) AS INTEGER)")
      }
      var refused: String?
      if record.failureCount > 0, record.exitCode == 4, let message = record.message {
        refused = try RefusalTable.digest(
          in: message, of: record.table, ownedBy: record.ownedBy, on: connection)
      }
      list.append(FeedStatus(record, good: good, now: now, refused: refused))
    }
    return list
  }
}

extension FeedStatus {
  /// - Parameters:
  ///   - good: when it was in step last, in seconds since 1970; `now` likewise.
  ///   - refused: the digest of the delivery that was refused last.
  fileprivate init(_ record: FeedRecord, good: Int64?, now: Int64, refused: String?) {
    self.init(
      table: record.table, ownedBy: record.ownedBy.isEmpty ? nil : record.ownedBy, goodAt: record.goodAt,
      goodTime: good.map { Double($0) },
      age: good.map { Double(max(now - $0, 0)) },
      deliveredAt: record.deliveredAt, recordCount: record.recordCount, checkedAt: record.checkedAt,
      failureCount: record.failureCount, exitCode: record.exitCode, message: record.message,
      refusedDelivery: refused)
  }
}

extension FeedStatus {
  /// The list as a JSON array with a line end.
  public static func json(_ list: [FeedStatus], maximumAge: Double?) -> [UInt8] {
    var out = JSONText()
    out.beginArray()
    for feed in list {
      out.beginObject()
      out.key("table")
      out.string(feed.table)
      out.key("good")
      out.bool(feed.isGood(maximumAge: maximumAge))
      for (name, text) in [
        ("owned_by", feed.ownedBy), ("good_at", feed.goodAt), ("delivered_at", feed.deliveredAt),
        ("checked_at", feed.checkedAt),
        ("message", feed.message), ("refused_delivery", feed.refusedDelivery),
      ] {
        guard let text else { continue }
        out.key(name)
        out.string(text)
      }
      if let age = feed.age {
        out.key("age_seconds")
        out.number(age)
      }
      if let count = feed.recordCount {
        out.key("records")
        out.number(count)
      }
      out.key("failures")
      out.number(Int64(feed.failureCount))
      out.key("exit_code")
      out.number(Int64(feed.exitCode))
      out.endObject()
    }
    out.endArray()
    out.newline()
    return out.bytes
  }
}
