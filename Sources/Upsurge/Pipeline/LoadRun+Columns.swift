extension LoadRun {
  /// Finds which columns with a format some file of the run has: looks at one file after another until none is missing.
  /// - Parameters:
  ///   - first: the source at `index`, which is open.
  ///   - sources: all of the run.
  func lookForColumns(_ first: borrowing PreparedSource, at index: Int, of sources: [Source]) {
    let values = job.options.input.values
    if sources.count < 2 || values.namedColumns.isEmpty { return }
    var missing = Set(values.namedColumns.map { SQLName.folded($0.name) })
    let all = missing
    func take(_ source: borrowing PreparedSource) -> Bool {
      if source.isBlank { return true }
      guard !source.isJSON, let lacking = try? source.formatsWithoutField(options: job.options) else {
        return false
      }
      missing.formIntersection(lacking.map { SQLName.folded($0.name) })
      return true
    }
    var isKnown = take(first)
    for (other, source) in sources.enumerated() where other != index {
      if !isKnown || missing.isEmpty { break }
      // What cannot be opened is told when its turn comes.
      guard source.filePath != nil, !source.isSlow,
        let prepared = try? PreparedSource.prepare(
          source, options: job.options, cancellation: readCancellation)
      else {
        isKnown = false
        break
      }
      isKnown = take(prepared)
    }
    job.options.environment.columnsElsewhere.note(isKnown ? all.subtracting(missing) : nil)
  }
}
