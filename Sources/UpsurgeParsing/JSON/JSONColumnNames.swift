import UpsurgeRecords

/// Which column the key of a record is for, by their names.
struct JSONColumnNames: Sendable {
  let policy: JSONKeyPolicy
  /// The most columns that records may have, those of the table included.
  let limit: Int
  /// Bytes of the longest name that a column or an option has; a longer key means none of them.
  private(set) var longestByteCount: Int
  /// Bytes of the names of all columns.
  private(set) var byteCount = 0
  /// The keys of `policy.wanted` in lower case.
  private let wanted: Set<String>?
  /// `policy.renames` with their keys in lower case.
  private let renames: [String: String]
  private var slots: [String: Int] = [:]

  /// The column of a key that is the empty text.
  static let ofEmptyKey = "unnamed"

  /// - Parameter mapColumn: the column of the keys of a map, if records are the values of one.
  init(of columns: [ColumnTarget], policy: JSONKeyPolicy, limit: Int, mapColumn: String?) {
    self.policy = policy
    self.limit = limit
    wanted = policy.wanted.map { Set($0.map(\.nameKey)) }
    var renames: [String: String] = [:]
    for (key, name) in policy.renames { renames[key.nameKey] = name }
    self.renames = renames
    let known = columns.map(\.name) + (policy.wanted ?? []) + policy.renames.keys + [mapColumn ?? ""]
    longestByteCount = known.reduce(0) { max($0, $1.utf8.count) }
    for (slot, column) in columns.enumerated() {
      slots[column.name.nameKey] = slot
      byteCount += column.name.utf8.count
    }
  }

  /// Whether a key is left out that no column has for its name.
  var leavesOutUnknown: Bool { wanted != nil || policy.unknown == .skip }

  /// The name of the column that a key is for.
  func column(of name: String) -> String {
    renames[name.nameKey] ?? (name.isEmpty ? Self.ofEmptyKey : name)
  }

  /// The slot of a key by its name, or `skipped` or `unresolved` of `JSONKeyTable`.
  func slot(of name: String) -> Int {
    let folded = name.nameKey
    if let wanted, !wanted.contains(folded) && !(name.isEmpty && wanted.contains(Self.ofEmptyKey)) {
      return Int(JSONKeyTable.skipped)
    }
    if let slot = slots[column(of: name).nameKey] { return slot }
    return Int(policy.unknown == .skip ? JSONKeyTable.skipped : JSONKeyTable.unresolved)
  }

  /// Takes over a column that was made for a key.
  mutating func add(_ column: String, for name: String, slot: Int) {
    slots[column.nameKey] = slot
    byteCount += name.utf8.count
    longestByteCount = max(longestByteCount, column.utf8.count)
  }
}
