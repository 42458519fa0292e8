extension LoadJob {
  /// What the job is, for a run that is to be found again: options that only tune are no part of it, nor are secrets.
  package func runJob(initHash: String?) -> RunJob {
    RunJob(
      table: table, sources: maskedSources.map(\.place),
      options: options.inputIdentity + options.tableIdentity + options.outputIdentity
        + (initHash.map { [RunJob.Option(.initScript, $0)] } ?? []),
      command: command)
  }
}

extension LoadOptions {
  private typealias Option = RunJob.Option

  /// What decides how the bytes become records.
  fileprivate var inputIdentity: [RunJob.Option] {
    var list: [RunJob.Option] = []
    if let format { list.append(Option(.format, format.rawValue)) }
    if compression != .auto { list.append(Option(.compression, compression.rawValue)) }
    if encoding != .auto { list.append(Option(.encoding, encoding.rawValue)) }
    if csv != CSVOverrides() { list.append(Option("the CSV dialect", csv.identity)) }
    if let flattenSeparator { list.append(Option(.flatten, flattenSeparator)) }
    for step in jsonPath { list.append(Option(.jsonPath, step)) }
    if let jsonMap { list.append(Option(.jsonMap, jsonMap)) }
    if takesWrapper { list.append(Option(.jsonPath, "$")) }
    if duplicateKeys != .lastWins { list.append(Option(.duplicateKeys, "\(duplicateKeys)")) }
    if jsonNaN != .reject { list.append(Option(.jsonNaN, jsonNaN.rawValue)) }
    for column in columns { list.append(Option(.columns, column)) }
    for (old, new) in renames.sorted(by: { $0.key < $1.key }) {
      list.append(Option(.rename, "\(old)=\(new)"))
    }
    if let blobEncoding { list.append(Option(.blob, "\(blobEncoding)")) }
    if let recordLimit { list.append(Option(.stopAfter, "\(recordLimit)")) }
    if let trailer { list.append(Option(.trailer, trailer.text)) }
    return list
  }

  /// What decides how the records become rows.
  fileprivate var tableIdentity: [RunJob.Option] {
    var list = [Option("the key and merge rules", RulesText.encode(rules))]
    for (column, type) in types.sorted(by: { $0.key < $1.key }) {
      list.append(Option(.type, "\(column):\(type)"))
    }
    for column in notNullColumns { list.append(Option(.notNull, column)) }
    for (column, value) in defaults.sorted(by: { $0.key < $1.key }) {
      list.append(Option(.default, "\(column)=\(value)"))
    }
    if inference != .sample { list.append(Option(.infer, inference.rawValue)) }
    if !createsTable { list.append(Option(.create, "never")) }
    if isStrict { list.append(Option(.strict, "")) }
    if contract != .freeze { list.append(Option(.contract, contract.rawValue)) }
    if createsKey { list.append(Option(.createKey, "")) }
    for index in indexes { list.append(Option(.index, index.joined(separator: ","))) }
    if triggers != .run { list.append(Option(.triggers, triggers.rawValue)) }
    if foreignKeys != .auto { list.append(Option(.foreignKeys, foreignKeys.rawValue)) }
    if let rowState { list.append(Option("row-state", rowState.owner)) }
    if let edits = rowState?.localEdits { list.append(Option("local-edits", edits.rawValue)) }
    if isAtomic { list.append(Option(.atomic, "")) }
    return list
  }

  fileprivate var outputIdentity: [RunJob.Option] {
    let place = { (path: String) in RejectsTarget.file(path).place }
    let outputs: [(Term, String?)] = [
      (.rejects, rejects?.place), (.changes, changesPath.map(place)), (.emitSQL, emitPath.map(place)),
    ]
    return outputs.compactMap { option, path in path.map { Option(option, $0) } }
  }
}

extension CSVOverrides {
  /// All that was given, as one text.
  fileprivate var identity: String {
    var parts: [String] = []
    if let delimiter { parts.append("delimiter \(delimiter)") }
    if let quote { parts.append("quote \(quote)") }
    if let escape { parts.append("escape \(escape)\(escaping == .any ? "" : " \(escaping)")") }
    if let commentPrefix { parts.append("comment \(commentPrefix)") }
    if let headerLineCount { parts.append("header \(headerLineCount)") }
    if let skippedLineCount { parts.append("skip \(skippedLineCount)") }
    if let columnNames { parts.append("names \(columnNames)") }
    if !nullSpellings.isEmpty { parts.append("null \(nullSpellings)") }
    if let quotedEmpty { parts.append("quoted empty \(quotedEmpty.rawValue)") }
    if ragged != .reject { parts.append("ragged \(ragged)") }
    if bareEmpty != .null { parts.append("bare empty \(bareEmpty.rawValue)") }
    if quotes != .strict { parts.append("quotes \(quotes)") }
    return parts.joined(separator: ", ")
  }
}
