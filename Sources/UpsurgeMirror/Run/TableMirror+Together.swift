import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

/// Small files of a drop folder that wait to be stored in one transaction.
struct FileGroup {
  private(set) var files: [(path: String, file: DeliveredFile)] = []
  private var byteCount: UInt64 = 0

  /// So many are one transaction; none where each file has its own, nil as long as there is no table.
  var fileLimit: Int?

  /// What is known of each load stays in memory until all are committed, and other programs wait as long.
  private static let mostFiles = 128
  private static let leastFiles = 8
  /// Columns of the table, for each of the loads.
  private static let mostColumns = 16_000
  private static let byteLimit: UInt64 = 8 << 20
  /// Bytes of a file that is worth a transaction of its own.
  private static let smallByteLimit: UInt64 = 256 << 10

  /// So many groups of a run may turn out to hold a file that needs a load of its own.
  private static let missLimit = 3

  /// How many have.
  private var missCount = 0

  mutating func noteMiss() {
    missCount += 1
    if missCount >= Self.missLimit { fileLimit = 0 }
  }

  /// Whether a file may wait.
  func mayTake(_ file: DeliveredFile) -> Bool { fileLimit ?? 0 > 0 && file.byteCount <= Self.smallByteLimit }

  var isFull: Bool { files.count >= fileLimit ?? 0 || byteCount >= Self.byteLimit }

  static func fileLimit(columnCount: Int) -> Int {
    min(max(mostColumns / max(columnCount, 1), leastFiles), mostFiles)
  }

  mutating func add(_ path: String, _ file: DeliveredFile) {
    files.append((path, file))
    byteCount += file.byteCount
  }

  /// Takes the files out.
  mutating func take() -> [(path: String, file: DeliveredFile)] {
    defer { (files, byteCount) = ([], 0) }
    return files
  }
}

extension TableMirror {
  /// How many small files are stored together: some where nothing of the job asks for more than rows, and a load of a file
  /// alone would be one transaction, too.
  func groupedFileLimit() throws(UpsurgeError) -> Int? {
    let options = table.options
    guard group == nil, job.dryRun == nil, !job.isOnServer, job.atomicity != .bounded, job.acceptedDelivery == nil,
      !table.hasRowState, options.table.foreignKeys == .auto, options.output.changesPath == nil,
      options.output.emitPath == nil, options.input.recordLimit == nil, LoadGroup.unfit([options]) == nil
    else { return 0 }
    guard let connection = try lookingConnection(),
      let schema = try TableSchema.read(connection, table: table.name)
    else { return nil }
    let isAlone =
      schema.kind == .table && schema.foreignKeys.isEmpty && schema.referencingTables.isEmpty
    return isAlone ? FileGroup.fileLimit(columnCount: schema.columns.count) : 0
  }

  /// Takes files, in order, up to the first that fails.
  /// - Returns: whether all were whole, so that the next one may follow.
  func take(
    _ waiting: inout FileGroup, _ turn: inout Turn, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) -> Bool {
    let files = waiting.take()
    if files.count > 1 {
      if let loads = try loadTogether(files, turn.record, tick) {
        try note(loads, of: files, &turn, &afterwards)
        return loads.allSatisfy(\.summary.isWhole)
      }
      waiting.noteMiss()
    }
    for (path, file) in files {
      if control.cancellationSignal != nil { throw interruption(before: path) }
      guard try takeNext(path, file, &turn, &afterwards, tick) else { return false }
    }
    return true
  }

  /// - Returns: nil where nothing was stored, as one of the files needs a load of its own.
  private func loadTogether(
    _ files: [(path: String, file: DeliveredFile)], _ record: FeedRecord?,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) -> [EndedLoad]? {
    var options = try options(record, files.map { Source(file: $0.path) })
    options.transaction.direct = .never
    (options.indexes.upkeep, options.indexes.fullTextUpkeep) = (.keep, .keep)
    let jobs = files.map {
      LoadJob(database: job.database, table: table.name, sources: [Source(file: $0.path)], options: options)
    }
    let name = table.name
    return FileLoads(jobs, control: control, note: note).run(
      beforeCommit: { (connection) throws(UpsurgeError) in
        for (path, file) in files where !file.isStill(atPath: path) {
          throw UpsurgeError(.badInput, "\(SourceName.shown(path)) was changed while it was loaded")
        }
        try TakenFiles.add(files.map(\.file), of: name, on: connection)
      }, tick: tick)
  }

  /// Notes loads that are committed, and the files with them.
  private func note(
    _ loads: [EndedLoad], of files: [(path: String, file: DeliveredFile)], _ turn: inout Turn,
    _ afterwards: inout Afterwards
  ) throws(UpsurgeError) {
    afterwards.add(loads)
    for (load, (path, file)) in zip(loads, files) {
      turn.summary.add(load.summary)
      if var record = turn.record {
        noteCount(load.summary, in: &record, isFirst: turn.summary.loads.count == 1)
        if let shape = load.takeFeedShape() { record.shape = shape }
        turn.record = record
      }
      afterwards.add(path, file, table.folder.done)
    }
    turn.record?.disturbedBy = nil
    turn.record?.files = files.suffix(1).map(\.file)
    let settings = try settings()
    turn.record?.settings = settings
  }
}
