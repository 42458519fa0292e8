/// Objects that only wrap an array of records.
extension PreparedSource {
  /// The wrapper that the input seems to be; nil where options say what the records are.
  func foundWrapper(options: LoadOptions) -> JSONWrapper? {
    guard case .json = shape, options.jsonPath.isEmpty, !options.takesWrapper, options.columns.isEmpty else {
      return nil
    }
    return opened.sample.withUnsafeBufferPointer { JSONWrapper($0, isWhole: opened.isSampleWhole) }
  }

  /// - Throws: `badInput` where the input is a wrapper and nothing else, and the table has no column for what it holds.
  func checkWrapper(for table: TableFacts) throws(UpsurgeError) {
    guard let wrapper, !wrapper.hasValues, !table.isForInference else { return }
    if wrapper.paths.contains(where: { table.column(named: $0[0]) != nil }) { return }
    throw UpsurgeError(
      .badInput,
      "\(SourceName.shown(opened.name)) is one object that wraps \(Self.arrays(wrapper))",
      position: Position(file: opened.name, line: 1, byte: 0), hint: Self.hint(for: wrapper))
  }

  static func remark(on wrapper: JSONWrapper) -> String {
    "the input is one object with \(arrays(wrapper)); \(hint(for: wrapper))"
  }

  private static func arrays(_ wrapper: JSONWrapper) -> String {
    let names = wrapper.paths.prefix(3).map { JSONPath.text(of: $0).escapedForTerminal }
    let more = wrapper.paths.count - names.count
    return (wrapper.paths.count == 1 ? "an array of records, " : "arrays of records, ")
      + names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  private static func hint(for wrapper: JSONWrapper) -> String {
    let paths = wrapper.paths.prefix(3).map { "--json-path " + JSONPath.text(of: $0).quotedForShell }
    return paths.joined(separator: " or ")
      + " reads its records; --json-path '$' takes the object as one record"
  }
}
