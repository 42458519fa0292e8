import UpsurgeInput
import UpsurgeRecords
import UpsurgeStorage

/// What is known of a table's feed from run to run.
struct FeedRecord: Sendable, Equatable {
  var table: String
  /// The feed's name among those of the table; empty where it has none.
  var ownedBy = ""
  /// What the job said that decides which rows the feed is about.
  var identity: FeedIdentity
  /// The files of the last delivery that is in the table; empty for streams.
  var files: [DeliveredFile] = []
  /// What the server said of the last delivery that is in the table.
  var validators = HTTPValidators()
  /// What decided how that came into the table.
  var settings: String?
  /// Records of the last delivery that was whole; nil before the first.
  var recordCount: UInt64?
  /// When it was looked for a delivery last, and when that went well last: UTC, ISO 8601.
  var checkedAt = ""
  var goodAt: String?
  /// When the last delivery came into the table.
  var deliveredAt: String?
  /// Runs that did not go well, one after the other.
  var failureCount = 0
  var exitCode: Int32 = 0
  /// Why the last run did not go well.
  var message: String?
}

/// What decides which rows a feed is about: where it changes, rows of the former feed would be taken for gone.
struct FeedIdentity: Sendable, Equatable {
  var kind: String
  var sources: [String]
  var key: [String]
  var scope: String?

  init(_ table: MirrorTable) {
    kind = table.kind.rawValue
    // As they may be shown: they are stored, and told when they change.
    sources = table.shownSources.map(SourceName.place)
    key = table.options.key.map { SQLName.folded($0) }
    scope = table.scope
  }

  init(kind: String, sources: [String], key: [String], scope: String?) {
    (self.kind, self.sources, self.key, self.scope) = (kind, sources, key, scope)
  }

  /// What is not as it was, in the words of a job file.
  func changes(from other: FeedIdentity) -> [String] {
    var words: [String] = []
    if kind != other.kind { words.append("kind (was \(other.kind))") }
    if sources != other.sources { words.append("source (was \(other.sources.joined(separator: ", ")))") }
    if key != other.key { words.append("key (was \(other.key.joined(separator: ", ")))") }
    if scope != other.scope { words.append("scope (was \(other.scope ?? "none"))") }
    return words
  }
}
