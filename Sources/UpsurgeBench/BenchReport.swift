import UpsurgeRecords

/// A report of a benchmark as it can be shown.
package protocol BenchOutput {
  /// For a terminal.
  var text: String { get }
  /// One object with a line end.
  var json: [UInt8] { get }
  /// One page that needs nothing else.
  var html: String { get }
  /// Whether something of it is wrong, which it says.
  var hasFailure: Bool { get }
}

/// What a benchmark has measured, and all that is needed to judge and repeat it.
package struct BenchReport: Sendable, BenchOutput {
  package var suite: BenchJob.Suite
  /// The rows in words: `500,000 generated rows of 6 columns`.
  package var input: String
  package var rowCount: UInt64
  package var inputByteCount: UInt64
  package var machine: MachineFacts
  package var sqlite: SQLiteFacts
  /// The settings that all contenders have, as name and value.
  package var settings: [(name: String, value: String)] = []
  package var entries: [Entry] = []
  /// Command lines that repeat it.
  package var commands: [String] = []
  /// What a reader must know to judge the figures.
  package var notes: [Wording] = []

  /// One contender.
  package struct Entry: Sendable {
    package var name: String
    package var detail: String
    package var kind: Kind
    /// Seconds of each run whose table was right.
    package var runs: [Double] = []
    /// Why there is no figure; nil where there is one.
    package var absence: Absence?

    package init(name: String, detail: String, kind: Kind) {
      self.name = name
      self.detail = detail
      self.kind = kind
    }
  }

  package enum Kind: String, Sendable { case floor, pattern, peer, upsurge }

  /// Why a contender has no figure.
  package struct Absence: Sendable, Equatable {
    /// Whether the contender ran and failed, or stored other rows; else it could not take part.
    package var isFailure: Bool
    package var reason: Wording

    package init(isFailure: Bool, reason: Wording) {
      self.isFailure = isFailure
      self.reason = reason
    }
  }

  /// Whether a contender failed, or stored other rows.
  package var hasFailure: Bool { entries.contains { $0.absence?.isFailure == true } }

  /// The engine's median; nil where it has none.
  package var ownMedian: Double? { entries.first { $0.kind == .upsurge }?.median }

  /// How many times as long as the engine a contender took.
  package func ratio(_ entry: Entry) -> Double? {
    guard let own = ownMedian, own > 0, let median = entry.median else { return nil }
    return median / own
  }

  package func rowsPerSecond(_ entry: Entry) -> Double? {
    entry.median.flatMap { $0 > 0 ? Double(rowCount) / $0 : nil }
  }
}

extension BenchReport.Entry {
  /// nil where there is no figure.
  package var median: Double? {
    if runs.isEmpty || absence != nil { return nil }
    let sorted = runs.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// From the shortest to the longest run, as a part of the median; nil of a single run.
  package var spread: Double? {
    guard let median, median > 0, runs.count > 1, let least = runs.min(), let most = runs.max() else {
      return nil
    }
    return (most - least) / median
  }

  /// Whether the runs differ too much for a figure to be trusted.
  package var isNoisy: Bool { (spread ?? 0) > 0.1 }
}
