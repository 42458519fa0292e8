import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// A measurement of this machine: the floor, the classic patterns, other programs and the engine on the same rows.
///
/// Every run begins with a new database file (or a copy of the same one), in WAL mode with `synchronous=NORMAL`, and
/// ends when the last checkpoint is done. Its table must equal the engine's, row for row, before its time counts.
package struct BenchJob: Sendable {
  /// What is done with the rows.
  package enum Suite: String, Sendable, CaseIterable {
    /// All rows go into a new table.
    case new
    /// All rows are in the table already, and each has changed.
    case changed
    /// All rows are in the table already, with the same values.
    case unchanged
  }

  package var suite = Suite.new
  /// The user's own file; nil measures rows that are made here.
  package var file: String?
  /// The key, and how the file is read and loaded.
  package var options = LoadOptions()
  /// How many rows are made, or read of the file; nil is the default, or all of the file.
  package var rowCount: UInt64?
  /// How often everything is measured; nil is the default, less often for what takes long.
  package var roundCount: Int?
  package var peers: [BenchPeer] = []
  /// Where the folder for the databases is made; nil is `$TMPDIR`.
  package var scratch: String?
  /// The command line that asks for it, for the report.
  package var command: [String] = []
  /// Where peers are looked for; nil is the `PATH`.
  package var peerPath: String?

  package init() {}

  package static let defaultRowCount: UInt64 = 500_000
  package static let defaultRoundCount = 5
  /// Seconds after which a contender is not run again, unless `roundCount` is given.
  package static let secondsPerContender = 20.0
  /// Seconds after which no round begins, unless `roundCount` is given.
  package static let secondsBeforeLastRound = 90.0
  /// Bytes that the rows may take in memory.
  static let rowByteLimit = 1 << 30
  /// How many of the rows that are made fit into `rowByteLimit`.
  static let madeRowLimit: UInt64 = 7_000_000

  /// What the benchmark is doing.
  package struct Progress: Sendable {
    package var round: Int
    package var roundCount: Int
    package var contender: String

    package init(round: Int, roundCount: Int, contender: String) {
      (self.round, self.roundCount, self.contender) = (round, roundCount, contender)
    }
  }

  /// Measures, and removes all that was made for it.
  /// - Parameters:
  ///   - control: a cancellation ends the benchmark at once.
  ///   - progress: is told before each run.
  /// - Throws: `usage`, `cannotCreate`, `interrupted`; what loading the file throws.
  package func run(
    control: RunControl, progress: (Progress) -> Void = { _ in }
  ) throws(UpsurgeError) -> BenchReport {
    try validate()
    let folder = try ScratchFolder(in: scratch)
    defer { folder.remove() }
    var run = try BenchRun(job: self, folder: folder, control: control)
    try run.measure(progress: progress)
    return run.report
  }

  private func validate() throws(UpsurgeError) {
    try options.validate()
    if let rowCount, rowCount == 0 { throw UpsurgeError(.usage, "\(.rows) takes at least 1") }
    if let roundCount, roundCount < 1 { throw UpsurgeError(.usage, "\(.rounds) takes at least 1") }
    guard let file else {
      if options.rules.target != .primaryKey {
        throw UpsurgeError(.usage, "\(.key) is for \(.file): the rows that are made here have the key id")
      }
      if let rowCount, rowCount > Self.madeRowLimit {
        throw UpsurgeError(
          .usage,
          "\(.rows, rowCount) is too many: the floor and the patterns have them in memory, and at most "
            + "\(Words.count(Self.madeRowLimit)) are made")
      }
      return
    }
    if Source(file).filePath == nil {
      throw UpsurgeError(
        .usage, "\(.file) is read again and again, and \(SourceName.shown(file)) can be read once",
        hint: "store it in a file first")
    }
    if suite == .changed {
      throw UpsurgeError(
        .usage, "the suite changed needs two deliveries of the same rows, and \(.file) is one",
        hint: "use the suite unchanged, or leave out \(.file)")
    }
    if suite == .unchanged && options.rules.key.isEmpty {
      throw UpsurgeError(.usage, "the suite unchanged is an upsert, and needs \(.key, "COLS")")
    }
  }

  /// The key's columns; those of the rows that are made here.
  var key: [String] { file == nil ? ["id"] : options.rules.key }
}
