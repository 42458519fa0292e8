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
