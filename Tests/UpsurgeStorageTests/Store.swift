import SQLiteSupport
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// How rows are cut into batches, statements and transactions.
struct Cut: CustomStringConvertible {
  var batchSize = 1000
  var rowsPerStatement = 64
  var commitEvery = 100_000
  var flaggedRecordsPerShape = 16
  var readyShapeCount = 0
  var arenaByteCount = 1 << 20
  /// Bytes of records that are gathered to be sorted; 0 stores them as they come.
  var sortByteCount = 0

  var description: String {
    "batch \(batchSize), rows \(rowsPerStatement), commit \(commitEvery), flagged \(flaggedRecordsPerShape), "
      + "sorted \(sortByteCount)"
  }

  func apply(to settings: inout WriterSettings) {
    settings.statements.rowCount = rowsPerStatement
    settings.statements.flaggedRecordsPerShape = flaggedRecordsPerShape
    settings.statements.readyShapeCount = readyShapeCount
    settings.commitEvery.records = commitEvery
    if sortByteCount > 0 {
      settings.sorting.byteCount = sortByteCount
      settings.sorting.fewestRecords = 2
      settings.sorting.fewestBytes = 0
      settings.sorting.isForced = true
    }
  }
}

/// Loads rows with the writer.
func load(
  _ connection: Connection, _ table: String, _ columns: [String], _ rows: [[Value]], key: [String] = [],
  mode: WriteMode? = nil, cut: Cut = Cut(), onError: ErrorPolicy = .reject,
  settings given: WriterSettings = WriterSettings(), rejecting: Set<Int> = [],
  observer: (any RecordObserver)? = nil
) throws(UpsurgeError) -> (writer: TableWriter, rejects: [Reject]) {
  guard let schema = try TableSchema.read(connection, table: table) else {
    throw UpsurgeError(.usage, "no table \(table)")
  }
  var maker = BatchMaker(columns)
  maker.sizes.arenaByteCount = cut.arenaByteCount
  let plan = try UpsertPlan(schema: schema, key: key, mode: mode, columns: maker.columns)
  var settings = given
  cut.apply(to: &settings)
  settings.onError = onError
  let kept = Kept()
  let writer = try TableWriter(
    connection: connection, plan: plan, sourceNames: ["in.csv"], settings: settings,
    observer: observer
  ) { (reject) throws(UpsurgeError) in kept.rejects.append(reject) }
  var at = 0
  while at < rows.count {
    let end = min(at + cut.batchSize, rows.count)
    var batch = maker.batch(
      Array(rows[at..<end]), rejecting: Set(rejecting.filter { at..<end ~= $0 }.map { $0 - at }))
    try writer.write(&batch)
    at = end
  }
  try writer.sweep()
  try writer.finish()
  return (writer, kept.rejects)
}

extension TableWriter {
  /// Says that the records of the next batches have other columns, which a load says with the first such batch.
  func setColumns(_ columns: [ColumnTarget]) throws(UpsurgeError) {
    if columns == plan.columns { return }
    try storeGathered()
    do throws(UpsurgeError) { try adopt(columns, at: nil) } catch { throw fail(error) }
  }
}

/// Takes what a writer rejects.
final class Kept {
  var rejects: [Reject] = []
}

extension Reject {
  var line: String { "\(position.record ?? 0) \(code.rawValue) \(column ?? "-"): \(reason)" }
}

extension Ledger {
  /// The words that are not zero: `read 3 inserted 3`.
  var text: String {
    entries.filter { $0.count > 0 }.map { "\($0.word) \($0.count)" }.joined(separator: " ")
  }
}
