import UpsurgeInput

/// Whether a delivery is still of the feed that it was.
extension LoadRun {
  /// Judges a source by its header.
  /// - Throws: `guardRefused` where it lacks fields that the last delivery had.
  func judge(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    guard let delivered else { return }
    if source.isBlank { return }
    let isOnly = summary.withLock { $0.sources.count == 1 }
    let gone = delivered.add(source, index: index, isOnly: isOnly)
    if gone.isEmpty { return }
    if delivered.rules.policy == .refuse { throw delivered.rules.refusal(of: gone, in: job.table, options: job.options) }
    note(delivered.rules.note(on: gone, in: job.table))
    delivered.noteGone(gone)
  }

  /// The options of the table, with the columns that are NULL as their fields are gone.
  var tableOptions: LoadOptions {
    var options = job.options
    if let delivered { options.delivery.feed?.nulledColumns += columns(of: delivered.goneToNull) }
    return options
  }

  private func columns(of fields: [String]) -> [String] {
    fields.map { FeedRules.column(of: $0, options: job.options) }
  }
}
