import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

/// What is known of a table's feed from run to run.
struct FeedRecord: Sendable, Equatable {
  var table: String
  /// The feed's name among those of the table; empty where it has none.
  var ownedBy = ""
  /// What the job said that decides which rows the feed is about.
  var identity: FeedIdentity
  /// Whether a run has ever committed anything of the feed. Before that no row is of it, so that another identity takes
  /// nothing for gone.
  var hasDelivered = false
  /// The files of the last delivery that is in the table; empty for streams.
  var files: [DeliveredFile] = []
  /// What the server said of the last delivery that is in the table.
  var validators = HTTPValidators()
  /// What decided how that came into the table.
  var settings: String?
  /// How that was written, and which fields it had; nil where an earlier version has noted nothing.
  var shape: FeedShape?
  /// The delivery after that one of which the table holds something, as a guard or an error has stopped it; nil without
  /// one.
  var disturbedBy: String?
  /// Whether the last delivery that was whole, or another one of its run, has left rejects or records that wait.
  var hasRejects = false
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
  /// Why the last run did not go well, or which rejects of the last delivery are kept nowhere.
  var message: String?
}

/// What decides which rows a feed is about: where it changes, rows of the former feed would be taken for gone.
struct FeedIdentity: Sendable, Equatable {
  var kind: String
  var sources: [String]
  var key: [String]
  var scope: String?
  /// What stands for the value of each header that http and https sources are asked with, by its name in lower case; nil
  /// where an earlier version has noted none.
  var headers: [String: String]?
  /// What stands for the sources with the secrets in them; nil where they have none, or an earlier version has noted none.
  var secretMark: String?
  /// How values are said to be written, by column, in the words of options.
  var values: [String] = []
  /// What else is said of the records, in words of options; nil where an earlier version has noted nothing.
  var records: [String]?

  init(_ table: MirrorTable) {
    kind = table.kind.rawValue
    // As they may be shown: they are stored, and told when they change.
    sources = table.maskedSources.map { $0.isFeed ? $0.place : SourceName.place(of: $0.label) }
    key = table.options.rules.key.map { SQLName.folded($0) }
    scope = table.scope
    values = table.options.input.values.words.map { "\($0.term.rawValue) \($0.value)" }
    records = Self.records(of: table)
    var headers: [String: String] = [:]
    let isAsked = table.sources.contains(where: \.isURL)
    for (name, value) in isAsked ? table.headers.sorted(by: { $0.key < $1.key }) : [] {
      let name = name.lowercased()
      headers[name, default: ""] += Self.mark(of: value, bitCount: Self.isRenewed(name) ? 8 : 32)
    }
    self.headers = headers
    // Also where a masked parameter of a URL in the job file is what has changed: `?key=orders`.
    let secret = table.sources.filter(\.hidesSecrets)
    secretMark =
      secret.isEmpty
      ? nil
      : secret.map { Self.mark(of: $0, table.environment) }.joined(separator: " ")
  }

  /// As for headers: eight bits of what may hold a password, a URL, a command or a query, and 32 of the path of a file. A
  /// command counts with the secrets that it refers to: what stands for them has changed where they have.
  private static func mark(of source: Source, _ environment: [String: String]) -> String {
    var text = source.opening.text
    if source.kind == .command {
      let values = environment.sorted { $0.key < $1.key }.filter { text.contains($0.key) }
      text = ([text] + values.map(\.value)).joined(separator: "\n")
    }
    return mark(of: text, bitCount: source.isFeed ? 8 : 32)
  }

  init(
    kind: String, sources: [String], key: [String], scope: String?, headers: [String: String]?,
    secretMark: String? = nil, values: [String] = [], records: [String]? = nil
  ) {
    (self.values, self.records) = (values, records)
    (self.kind, self.sources, self.key, self.scope) = (kind, sources, key, scope)
    (self.headers, self.secretMark) = (headers, secretMark)
  }

  /// Bits that change with a value: eight of credentials, which say next to nothing about them, else 32.
  private static func mark(of value: String, bitCount: Int) -> String {
    let hash = Array(value.utf8).withUnsafeBytes { ContentHash.hash($0) }
    return String(UInt64(hash) & (1 << UInt64(bitCount) - 1), radix: 16)
  }

  /// What is not as it was, in the words of a job file.
  /// - Parameter fields: those that the last accepted delivery had and the job took; empty where nobody knows.
  func changes(from other: FeedIdentity, fields: [String]) -> [String] {
    var words: [String] = []
    if kind != other.kind { words.append("kind (was \(other.kind))") }
    if sources != other.sources { words.append("source (was \(other.sources.joined(separator: ", ")))") }
    if key != other.key { words.append("key (was \(other.key.joined(separator: ", ")))") }
    if scope != other.scope { words.append("scope (was \(other.scope ?? "none"))") }
    if values != other.values {
      let (now, then) = (
        values.filter { !other.values.contains($0) }, other.values.filter { !values.contains($0) }
      )
      words.append("\(Self.list(now)) (was \(Self.list(then)))")
    }
    words += changedRecords(from: other, fields: fields)
    let names = changedHeaders(from: other).filter { !Self.isRenewed($0) }
    if !names.isEmpty { words.append("headers (other \(names.joined(separator: ", ")))") }
    return words
  }

  private static func list(_ values: [String]) -> String {
    values.isEmpty ? "values as they stand" : values.joined(separator: ", ")
  }

  /// Whether what stands for `${…}` in the sources has changed; false where it is not known what it was.
  func hasOtherSecrets(than other: FeedIdentity) -> Bool {
    guard let secretMark, let last = other.secretMark else { return false }
    return secretMark != last
  }

  /// The headers that have come, gone or changed, by name; none where it is not known what they were.
  func changedHeaders(from other: FeedIdentity) -> [String] {
    guard let headers, let last = other.headers else { return [] }
    return Set(headers.keys).union(last.keys).filter { headers[$0] != last[$0] }.sorted()
  }

  /// Whether a header may change from run to run without being about other rows: credentials that expire, and what the
  /// client says of itself.
  private static func isRenewed(_ name: String) -> Bool {
    ["authorization", "proxy-authorization", "cookie", "user-agent"].contains(name)
      || ["token", "session", "signature"].contains { name.contains($0) }
  }
}
