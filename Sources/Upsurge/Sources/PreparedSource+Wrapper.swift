/// Objects that only wrap an array of records.
extension PreparedSource {
  /// The wrapper that the input seems to be; nil where options say what the records are.
  func foundWrapper(options: LoadOptions) -> JSONWrapper? {
    guard case .json = shape, options.input.jsonPath.isEmpty, options.input.jsonMap == nil, !options.input.takesWrapper,
      options.table.columns.isEmpty
    else { return nil }
    return opened.sample.withUnsafeBufferPointer { JSONWrapper($0, isWhole: opened.isSampleWhole) }
  }

  /// - Throws: `badInput` where the input is a wrapper and nothing else, and the table has no column for what it holds.
  func checkWrapper(for table: TableFacts) throws(UpsurgeError) {
    guard let wrapper, !wrapper.hasValues, !table.isForInference else { return }
    let names = wrapper.paths.map { $0[0] } + wrapper.maps.flatMap { $0.path.first.map { [$0] } ?? $0.names }
    if names.contains(where: { table.column(named: $0) != nil }) { return }
    throw UpsurgeError(
      .badInput,
      "\(SourceName.shown(opened.name)) is one object that \(wrapper.maps.isEmpty ? "wraps" : "holds") \(Self.contents(of: wrapper))",
      position: Position(file: opened.name, line: 1, byte: 0), hint: Self.hint(for: wrapper))
  }

  static func remark(on wrapper: JSONWrapper) -> Wording {
    "the input is one object with \(contents(of: wrapper)); \(hint(for: wrapper))"
  }

  private static func contents(of wrapper: JSONWrapper) -> String {
    if let map = wrapper.maps.first {
      let place = map.path.isEmpty ? "" : " in \(JSONPath.text(of: map.path).escapedForTerminal)"
      return "records by their keys\(place), as \(map.names.joined(separator: ", ").escapedForTerminal)"
    }
    let names = wrapper.paths.prefix(3).map { JSONPath.text(of: $0).escapedForTerminal }
    let more = wrapper.paths.count - names.count
    return (wrapper.paths.count == 1 ? "an array of records, " : "arrays of records, ")
      + names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  private static func hint(for wrapper: JSONWrapper) -> Wording {
    let maps = wrapper.maps.prefix(3).map { map -> Wording in
      let path: Wording = map.path.isEmpty ? "" : "\(.jsonPath, JSONPath.text(of: map.path).quotedForShell) "
      return path + "\(.jsonMap, map.column.quotedForShell)"
    }
    let paths = wrapper.paths.prefix(3).map { path -> Wording in "\(.jsonPath, JSONPath.text(of: path).quotedForShell)" }
    return Wording(paths + maps, separator: " or ")
      + " reads its records; \(.jsonPath, "'$'") takes the object as one record"
  }
}
