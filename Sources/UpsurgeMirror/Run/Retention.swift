import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Forgets what a table of a job need not keep any longer: files that were taken, rejected and quarantined records.
///
/// Done when a delivery of the table is stored, in a transaction of its own: what is lost with a kill is done by the next
/// run. What a person would miss is said with its count.
struct Retention {
  let database: String
  let note: (RunNote) -> Void

  /// - Parameter done: what became of the table in this run.
  func apply(to table: MirrorTable, after done: MirrorSummary.Table) {
    let hasTaken =
      done.error == nil && done.loads.contains { $0.error == nil && $0.signal == nil && !$0.isDryRun }
    if !hasTaken { return }
    do throws(UpsurgeError) {
      let connection = try Connection(
        path: database, createIfMissing: false, busyTimeoutMilliseconds: table.options.transaction.busyTimeout
      )
      try forgetRecords(of: table, connection)
      try forgetFiles(of: table, connection)
    } catch {
      note(
        RunNote(
          .warning,
          "table \(table.name.escapedForTerminal): what is old could not be forgotten (\(error.message)); the next run tries it "
            + "again"))
    }
  }

  private func forgetRecords(of table: MirrorTable, _ connection: Connection) throws(UpsurgeError) {
    let (rules, name) = (table.unattended, table.name)
    if let count = rules.keptRejectCount, try RejectTable.count(of: name, on: connection) > count {
      var gone: UInt64 = 0
      try connection.writing { () throws(UpsurgeError) in
        gone = try RejectTable.prune(name, keeping: count, on: connection)
      }
      tell(gone, "rejected", name, "keep-rejects: \(count)", "cannot be replayed any more")
    }
    if let count = rules.keptQuarantineCount, try QuarantineTable.count(of: name, on: connection) > count {
      var gone: UInt64 = 0
      try connection.writing { () throws(UpsurgeError) in
        gone = try QuarantineTable.prune(name, keeping: count, on: connection)
      }
      tell(gone, "quarantined", name, "keep-quarantine: \(count)", "will not be stored")
    }
  }

  private func forgetFiles(of table: MirrorTable, _ connection: Connection) throws(UpsurgeError) {
    guard let count = table.unattended.keptFileCount,
      try TakenFiles.count(of: table.name, on: connection) > count
    else { return }
    let paths = try table.found().files
    try connection.writing { () throws(UpsurgeError) in
      try TakenFiles.prune(table.name, keeping: count, present: paths, on: connection)
    }
  }

  private func tell(_ count: UInt64, _ kind: String, _ table: String, _ key: String, _ loss: String) {
    if count == 0 { return }
    note(
      RunNote(
        .warning,
        "table \(table.escapedForTerminal): \(count) \(kind) record\(count == 1 ? " was" : "s were") forgotten (\(key)), and "
          + loss))
  }
}
