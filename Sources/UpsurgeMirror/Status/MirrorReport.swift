import Upsurge
import UpsurgeRecords
import UpsurgeStorage

/// How the mirrored tables of a database stand and how they came there: what `upsurge status --html` shows.
package struct MirrorReport: Sendable {
  /// One table with its feeds.
  package struct Table: Sendable {
    package var name: String
    /// One, or several that have names.
    package var feeds: [FeedStatus]
    /// The last runs into the table, the newest first.
    package var runs: [PastRun] = []
    /// Deliveries that guards have refused, the newest first.
    package var refusals: [Refusal] = []
    /// Records of the quarantine, by what they wait for.
    package var waiting: [(reason: String, count: UInt64)] = []
    /// Records of the table of rejects, by reason.
    package var rejects: [(reason: String, count: UInt64)] = []
  }

  /// A delivery that a guard has refused.
  package struct Refusal: Sendable {
    package var reason: String
    /// UTC, ISO 8601.
    package var refusedAt: String
    /// What lets it through.
    package var digest: String
  }

  package var database: String
  /// When it was made: UTC, ISO 8601.
  package var madeAt: String
  package var tables: [Table] = []
  /// The last good run may be at most so many seconds old.
  package var maximumAge: Double?

  package init(database: String, madeAt: String, tables: [Table] = [], maximumAge: Double? = nil) {
    (self.database, self.madeAt, self.tables, self.maximumAge) = (database, madeAt, tables, maximumAge)
  }

  /// So many runs of a table are shown.
  private static let runLimit = 20

  /// Reads it; changes nothing.
  /// - Throws: `unreadableInput` where there is no database, or it cannot be read.
  package init(database: String, feeds: [FeedStatus], maximumAge: Double?) throws(UpsurgeError) {
    let runs = try PastRun.all(database: database)
    if let provider = StoreRegistry.provider(of: database) {
      let stored = try provider.notes(in: RefusalTable.notes, database: database)
      self.init(database: SourceName.redacted(database), madeAt: stored.now, maximumAge: maximumAge)
      add(feeds)
      for index in tables.indices {
        tables[index].runs = Self.newest(runs, of: tables[index].name)
        let own = stored.rows.filter { $0[0] == .text(tables[index].name) }.map(RefusalTable.delivery)
        tables[index].add(own.sorted { $0.refusedAt > $1.refusedAt })
      }
      return
    }
    self = try Connection.visiting(database) { (connection) throws(UpsurgeError) in
      let now = try connection.text("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')") ?? ""
      var report = MirrorReport(database: database, madeAt: now, maximumAge: maximumAge)
      report.add(feeds)
      for index in report.tables.indices { try report.tables[index].read(runs, connection) }
      return report
    }
  }

  private mutating func add(_ feeds: [FeedStatus]) {
    for feed in feeds {
      if let last = tables.indices.last, SQLName.isSame(tables[last].name, feed.table) {
        tables[last].feeds.append(feed)
      } else {
        tables.append(Table(name: feed.table, feeds: [feed]))
      }
    }
  }

  /// Whether every table is in step with its feeds.
  package func isGood(_ table: Table) -> Bool { table.feeds.allSatisfy { $0.isGood(maximumAge: maximumAge) } }

  fileprivate static func newest(_ runs: [PastRun], of table: String) -> [PastRun] {
    Array(runs.filter { SQLName.isSame($0.table, table) }.suffix(runLimit).reversed())
  }
}

extension MirrorReport.Table {
  fileprivate mutating func add(_ refused: [RefusedDelivery]) {
    refusals += refused.map { .init(reason: $0.reason, refusedAt: $0.refusedAt, digest: $0.digest) }
  }

  fileprivate mutating func read(_ all: [PastRun], _ connection: Connection) throws(UpsurgeError) {
    runs = MirrorReport.newest(all, of: name)
    for feed in feeds {
      add(try RefusalTable.all(of: name, ownedBy: feed.ownedBy ?? "", on: connection))
    }
    waiting = try QuarantineTable.countByReason(of: name, on: connection)
    rejects = try RejectTable.countByCode(of: name, on: connection)
  }
}
