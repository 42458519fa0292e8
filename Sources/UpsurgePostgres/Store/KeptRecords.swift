import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Where the rejects of a run are kept.
struct KeptRecords {
  let file: RejectFile?
  let table: PostgresRejects?
  /// Whether records are counted that one delivery after the other brings.
  let countsDeliveries: Bool
  /// Where the earlier part of the run has left off.
  let earlierPosition: RunPosition

  /// - Throws: `cannotCreate`, `databaseBusy`, `guardRefused`.
  init(
    _ store: PostgresStore, _ target: TargetTable, _ context: StoreContext, resumed: RunRecord?
  ) throws(UpsurgeError) {
    file = try context.options.rejectFile(
      for: context.job.table, beside: store.openWork, contexts: context.contexts,
      sourceNames: context.sourceNames, resumed: resumed, note: context.note)
    table = try store.rejects(beside: target.name)
    countsDeliveries = try table.map { (table) throws(UpsurgeError) in try store.countsDeliveries(in: table) } ?? false
    earlierPosition = resumed?.position ?? RunPosition()
  }

  var isNowhere: Bool { file == nil && table == nil }
}
