/// Columns with a format that some file of a run has, so that another one may lack them.
package final class ColumnsElsewhere: Sendable {
  /// The names are folded; nil where a file cannot be looked at before it is read, and may have any.
  private let names = Guarded<Set<String>?>([])

  package init() {}

  func holds(_ name: String) -> Bool { names.withLock { $0?.contains(SQLName.folded(name)) ?? true } }

  fileprivate func note(_ found: Set<String>?) { names.withLock { $0 = found } }
}

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
      guard !source.isJSON, let lacking = try? source.formatsWithoutField(options: job.options) else { return false }
      missing.formIntersection(lacking.map { SQLName.folded($0.name) })
      return true
    }
    var isKnown = take(first)
    for (other, source) in sources.enumerated() where other != index {
      if !isKnown || missing.isEmpty { break }
      // What cannot be opened is told when its turn comes.
      guard source.filePath != nil, !source.isSlow,
        let prepared = try? PreparedSource.prepare(source, options: job.options, cancellation: readCancellation)
      else {
        isKnown = false
        break
      }
      isKnown = take(prepared)
    }
    job.options.environment.columnsElsewhere.note(isKnown ? all.subtracting(missing) : nil)
  }
}

extension PreparedSource {
  /// The columns with a format for which this source has no field; none of JSON, whose records bring their own.
  func formatsWithoutField(options: LoadOptions) throws(UpsurgeError) -> [(name: String, term: Term)] {
    guard case .csv(let sniffed) = shape else { return [] }
    let selection = FieldSelection(options: options)
    let names = try selection.columnNames(of: sniffed.headerNames, file: opened.name)
    return selection.formats(
      options.input.values,
      lackedBy: options.shapesRecords ? ShapedSource.formatNames(names, sniffed.headerNames) : names)
  }
}
