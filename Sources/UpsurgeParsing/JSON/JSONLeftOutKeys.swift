import UpsurgeRecords

/// Keys that the options leave out. Each is counted once, with the record in which it was met first.
struct JSONLeftOutKeys: Sendable {
  /// The names of keys that were counted, as many as are kept.
  var counted: Set<String> = []
  /// Keys met for the first time, until their record is read; nil where the name is not kept.
  private var met: [String?] = []
  /// How many keys whose names are not known are to be counted.
  private var unnamedCount: UInt64 = 0

  /// The most names that are kept, so that each is counted once. A key beyond them counts as one without a name, and again
  /// when a run goes on after an interruption.
  static let nameLimit = 100
  /// Longer ones are cut.
  private static let nameByteLimit = 400

  /// Whether the record in work has none that is to be counted.
  var isEmpty: Bool { met.isEmpty && unnamedCount == 0 }

  mutating func note(_ name: String) {
    let isLong = name.utf8.count > Self.nameByteLimit
    // Scalars, as a character may have any number of them.
    let name = isLong ? String(name.unicodeScalars.prefix(Self.nameByteLimit / 4)) + "…" : name
    if counted.contains(name) { return }
    met.append(counted.count + met.count < Self.nameLimit ? name : nil)
  }

  mutating func noteUnnamed() { unnamedCount += 1 }

  /// Counts those of the record in work, which has been read.
  mutating func count(in warnings: inout WarningLog, at position: Position) {
    for name in met {
      if let name, !counted.insert(name).inserted { continue }
      warnings.add(.columnSkipped, column: name, at: position)
    }
    met.removeAll(keepingCapacity: true)
    if unnamedCount > 0 { warnings.add(.columnSkipped, count: unnamedCount, at: position) }
    unnamedCount = 0
  }
}
