extension LoadJob {
  /// What the job is, for a run that is to be found again: options that only tune are no part of it, nor are secrets.
  package func runJob(initHash: String?) -> RunJob {
    RunJob(
      table: table, sources: maskedSources.map(\.place),
      options: options.identity
        + (initHash.map { [RunJob.Option(.initScript, $0)] } ?? []),
      command: command)
  }
}

extension LoadOptions {
  /// What decides how bytes become records, how these become rows, and where else they go.
  fileprivate var identity: [RunJob.Option] {
    var list = input.identity + table.fieldIdentity
    if let limit = input.recordLimit { list.append(RunJob.Option(.stopAfter, "\(limit)")) }
    if let trailer = delivery.trailer { list.append(RunJob.Option(.trailer, trailer.text)) }
    list.append(RunJob.Option("the key and merge rules", RulesText.encode(rules)))
    list += table.identity(with: indexes)
    if let state = delivery.rules.rowState { list.append(RunJob.Option("row-state", state.owner)) }
    if let edits = delivery.rules.rowState?.localEdits {
      list.append(RunJob.Option("local-edits", edits.rawValue))
    }
    if transaction.isAtomic { list.append(RunJob.Option(.atomic, "")) }
    return list + outputIdentity
  }

  private var outputIdentity: [RunJob.Option] {
    let place = { (path: String) in RejectsTarget.file(path).place }
    let outputs: [(Term, String?)] = [
      (.rejects, rejects.target?.place), (.changes, output.changesPath.map(place)),
      (.emitSQL, output.emitPath.map(place)),
    ]
    return outputs.compactMap { option, path in path.map { RunJob.Option(option, $0) } }
  }
}

extension LoadOptions.Input {
  /// But for the number of records.
  fileprivate var identity: [RunJob.Option] {
    typealias Option = RunJob.Option
    var list: [Option] = []
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
    list += values.words.map { Option($0.term, $0.value) }
    return list
  }
}

extension LoadOptions.Table {
  /// Which fields there are, and what becomes of their values.
  fileprivate var fieldIdentity: [RunJob.Option] {
    typealias Option = RunJob.Option
    var list = columns.map { Option(.columns, $0) }
    for (old, new) in renames.sorted(by: { $0.key < $1.key }) {
      list.append(Option(.rename, "\(old)=\(new)"))
    }
    if let blobEncoding { list.append(Option(.blob, "\(blobEncoding)")) }
    list += addedColumns.map { Option(.add, "\($0.name)=\($0.value.text)") }
    return list
  }

  /// What the table is made of, and what may happen to it.
  fileprivate func identity(with indexes: IndexRules) -> [RunJob.Option] {
    typealias Option = RunJob.Option
    var list: [Option] = []
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
    if indexes.createsKey { list.append(Option(.createKey, "")) }
    for index in indexes.wanted { list.append(Option(.index, index.joined(separator: ","))) }
    if triggers != .run { list.append(Option(.triggers, triggers.rawValue)) }
    if foreignKeys != .auto { list.append(Option(.foreignKeys, foreignKeys.rawValue)) }
    return list
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
