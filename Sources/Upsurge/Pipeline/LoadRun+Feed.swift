import UpsurgeInput
import UpsurgeStorage

/// Whether a delivery is still of the feed that it was.
extension LoadRun {
  /// Judges a source by its header.
  /// - Throws: `guardRefused` where it lacks fields that the last delivery had.
  func judge(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    guard let delivered, !source.isBlank else { return }
    let isOnly = summary.withLock { $0.sources.count == 1 }
    let gone = delivered.add(source, index: index, isOnly: isOnly)
    if gone.isEmpty { return }
    if delivered.rules.policy == .refuse { throw delivered.rules.refusal(of: gone, in: job.table) }
    note(delivered.rules.note(on: gone, in: job.table))
    delivered.noteGone(gone)
  }

  /// The options of the table, with the columns that are NULL as their fields are gone.
  var tableOptions: LoadOptions {
    var options = job.options
    if let delivered { options.feed?.nulledColumns += columns(of: delivered.goneToNull) }
    return options
  }

  private func columns(of fields: [String]) -> [String] {
    fields.map { FeedRules.column(of: $0, options: job.options) }
  }
}

extension Writing {
  /// Looks at a batch in front of its being stored.
  func look(at batch: inout Batch) {
    guard let delivered else { return }
    delivered.observe(batch)
    if !nulledSlots.isEmpty && batch.hasAbsentCells { batch.makeNull(where: nulledSlots) }
  }

  /// Judges a delivery whose fields are known at its end.
  /// - Throws: `guardRefused`.
  func judgeFeed() throws(UpsurgeError) {
    guard let delivered, delivered.goneToNull.isEmpty else { return }
    let rules = delivered.rules
    let skipped = writer.skippedRecordCount
    let isPart = isResumed || skipped > 0
    let gone = delivered.judge(isPart: isPart, hasRecords: writer.ledger.read > 0 || skipped > 0)
    if gone.isEmpty { return }
    if skipped > 0 {
      // The parts that were not read may have it.
      writer.settings.chunks?.giveUp()
      throw UpsurgeError(.guardRefused, "all of the delivery must be read")
    }
    if rules.isDelta, delivered.isUntold, rules.policy == .refuse {
      return note(FeedRules.note(onChangesWithout: gone))
    }
    let nulled = Set((options.feed?.nulledColumns ?? []).map(SQLName.folded))
    if gone.allSatisfy({ nulled.contains(SQLName.folded(FeedRules.column(of: $0, options: options))) }) {
      return note(rules.note(on: gone, in: table.facts.name))
    }
    switch rules.policy {
    case .accept, .keep: note(rules.note(on: gone, in: table.facts.name))
    case .refuse:
      if isResumed { delivered.ask(for: .all) }
      throw rules.refusal(of: gone, in: table.facts.name)
    case .null:
      let columns = gone.map { FeedRules.column(of: $0, options: options) }
      delivered.ask(for: isResumed ? .all : .nulling(columns))
      throw rules.refusal(of: gone, in: table.facts.name, isStream: true)
    }
  }
}
