extension SQLiteTransfer {
  func record(in summary: inout RunSummary) {
    summary.note(writer)
    summary.supersededCount = supersededCount
    summary.localEdits = writer.localEdits
    if rejects == nil && ledger.rejected > 0 { summary.lostRejects = firstRejects.list }
    var warnings = writer.inputWarnings
    warnings.merge(writer.warnings)
    summary.warnings.merge(warnings)
    summary.progress.repetition = table.repetition(options: options)
    // What is committed is; only a line of the report depends on this.
    summary.keepsRecords = (try? writer.keepsRecords()) ?? true
    recordCost(in: &summary)
  }

  /// What it took.
  private func recordCost(in summary: inout RunSummary) {
    let statistics = writer.statistics
    summary.wal.bytesWritten = UInt64(statistics.walBytesWritten)
    summary.wal.bytesPeak = UInt64(statistics.walBytesPeak)
    summary.wal.pin = statistics.logPin
    summary.upkeep = upkeep.decisions
    summary.metrics.settings = sizes
    summary.metrics.stages += [
      (RunStage.store, statistics.storeSeconds - statistics.sortSeconds),
      (RunStage.commit, statistics.commitSeconds), (RunStage.checkpoint, statistics.checkpointSeconds),
    ]
    let rare = [
      (RunStage.sort, statistics.sortSeconds), (RunStage.giveWay, statistics.pauseSeconds),
      (RunStage.index, upkeep.indexSeconds), (RunStage.fullText, upkeep.fullTextSeconds),
    ]
    summary.metrics.stages += rare.filter { $0.1 > 0 }
    // Two numbers of the file's first page.
    let pages = (try? connection.integer("PRAGMA main.page_count")) ?? nil
    summary.metrics.time.note(
      statistics, options: options, databaseByteCount: Int(pages ?? 0) * writer.pageByteCount)
    summary.metrics.time.triggerCount = triggerCount
  }

  /// Sizes that were chosen, and how many records took a way of their own.
  private var sizes: [(name: String, value: UInt64)] {
    let statistics = writer.statistics
    let rare = [
      ("sorted_records", UInt64(statistics.sortedRecordCount)),
      ("sorted_at_once", UInt64(statistics.sortedRecordCount > 0 ? statistics.mostSortedRecords : 0)),
      ("skipped_records", writer.skippedRecordCount),
      ("equal_beside_rows", UInt64(statistics.equalRecordCount)),
    ]
    return [
      ("page_size", UInt64(writer.pageByteCount)),
      ("cache_bytes", UInt64(cacheByteCount)),
      ("checkpoint_bytes", UInt64(writer.settings.log.checkpointByteCount)),
      ("rows_per_statement", UInt64(writer.settings.statements.rowCount)),
      options.transaction.commitEvery.setting,
    ] + rare.filter { $0.1 > 0 }
  }
}

extension RunSummary {
  /// Takes over whether the delivery was accepted.
  mutating func note(_ writer: TableWriter) {
    guardRefusal = writer.guardRefusal?.error
    acceptance.refusedDigest = writer.acceptance.refusedDigest
    acceptance.isByDigest = writer.acceptance.isByDigest
  }
}
