import Upsurge

/// One thing that a job file says of a table: an option, its value and its place.
struct JobSetting {
  var option: OptionSpecification
  /// `tables.members.sweep`, `defaults.guards.max-delete`.
  var path: String
  var keyPlace: JobPlace
  var value: JobNode
  var isDefault: Bool

  /// Where an error of the value is told.
  var place: JobPlace { value.place }

  func error(_ message: String, hint: String? = nil) -> UpsurgeError {
    place.error(path, message, hint: hint)
  }

  /// The value as the words of a command line; none where it is set directly, or says that the option is not given.
  ///
  /// - Parameter resolve: makes paths start at the folder of the job file.
  /// - Throws: `usage` where the value is of another kind than the option takes.
  func words(resolve: (String) -> String) throws(UpsurgeError) -> [String] {
    switch option.form {
    case .value:
      var text = try self.text(value)
      if JobPaths.options.contains(option.key), !(option.key == "rejects" && ["table", "-"].contains(text)) {
        if text.isEmpty { throw error("an empty path") }
        text = resolve(text)
      }
      return words(text)
    case .flag: return try truth(or: "true or false") ? [option.option] : []
    case .list: return try list().flatMap { words($0) }
    case .listOrMapping:
      if case .mapping = value.content { return [] }
      return try list().flatMap { words($0) }
    case .names: return words(try names(value))
    case .indexes: return try indexes().flatMap { words($0) }
    case .mapping: return []
    case .condition:
      if case .mapping = value.content { return [] }
      return words(try text(value, or: "{COLUMN: VALUE}"))
    case .choice(_, let word): return words(try choice(word, resolve: resolve))
    case .valueOrFlag(let text):
      if value.isPlain, case .text("true") = value.content { return words(text) }
      if value.isPlain, case .text("false") = value.content { return [] }
      return words(try self.text(value, or: "true, false or a text"))
    }
  }

  /// Sets what no words could say, because names may hold any sign.
  /// - Throws: `usage`.
  func apply(to options: inout LoadOptions) throws(UpsurgeError) {
    switch option.key {
    case "rename": for pair in try pairs() { options.table.renames[pair.name] = pair.value }
    case "type": for pair in try pairs() { options.table.types[pair.name] = pair.value.uppercased() }
    case "default": for pair in try pairs() { options.table.defaults[pair.name] = pair.value }
    case "null": for (column, texts) in try textsByName() { options.input.values.nulls[column] = texts }
    case "bool":
      for (column, texts) in try textsByName() {
        options.input.values.truths[column] = try truths(texts, of: column)
      }
    case "date": for pair in try pairs() { options.input.values.dates[pair.name] = pair.value }
    case "add": for pair in try pairs() { options.table.added[pair.name] = AddedValue(text: pair.value) }
    case "let":
      for pair in try pairs() {
        options.table.computedColumns.append(LoadOptions.ComputedColumn(pair.name, pair.value))
      }
    case "set":
      for pair in try pairs() { options.rules.merge.columns[pair.name] = UpsertOptions.rule(pair.value) }
    case "delete-when":
      guard case .mapping = value.content else { return }
      let pairs = try self.pairs(emptyFor: "NULL")
      guard pairs.count == 1, let pair = pairs.first else {
        throw error("takes one column and its value", hint: "write {COLUMN: VALUE}, as in {op: D}")
      }
      options.rules.tombstone = Tombstone(column: pair.name, value: pair.value)
    default: break
    }
  }
}

extension JobSetting {
  /// A value with dashes at its start would be an option, and an empty one after `=` none at all.
  private func words(_ value: String) -> [String] {
    value.utf8.first == UInt8(ascii: "-") ? ["\(option.option)=\(value)"] : [option.option, value]
  }

  func text(_ node: JobNode, or wanted: String = "a text or a number") throws(UpsurgeError) -> String {
    if case .text(let text) = node.content { return text }
    // YAML's own word, which is a value of some options.
    if case .nothing = node.content, node.isNullWord, option.words.contains("null") { return "null" }
    throw wrongKind(node, wanted: wanted)
  }

  func wrongKind(_ node: JobNode, wanted: String) -> UpsurgeError {
    if case .nothing = node.content {
      return node.place.error(
        path, "has no value; it takes \(wanted)", hint: "leave the key out, or quote a text: 'null', ''")
    }
    return node.place.error(
      path, "is \(node.kind); it takes \(wanted)", hint: mappingHint(for: node) ?? option.help)
  }

  private func truth(or wanted: String) throws(UpsurgeError) -> Bool {
    if value.isPlain, case .text(let text) = value.content {
      if ["true", "True", "TRUE"].contains(text) { return true }
      if ["false", "False", "FALSE"].contains(text) { return false }
    }
    if case .text(let text) = value.content {
      throw error("\(text) is neither true nor false", hint: "write true or false, without quotes")
    }
    throw wrongKind(value, wanted: wanted)
  }

  private func list() throws(UpsurgeError) -> [String] {
    guard case .list(let nodes) = value.content else { return [try text(value, or: "a text or a list")] }
    if nodes.isEmpty { throw error("the list is empty", hint: "leave the key out") }
    try checkCount(nodes)
    var texts: [String] = []
    for node in nodes { texts.append(try text(node, or: "a list of texts")) }
    return texts
  }

  /// The argument parser's time grows with the square of the words.
  private func checkCount(_ nodes: [JobNode]) throws(UpsurgeError) {
    if nodes.count > 1_000 { throw nodes[1_000].place.error(path, "more than 1,000 entries") }
  }

  /// Names as `--key` takes them: in quotes, so that commas, blanks and parentheses in them mean nothing.
  private func names(_ node: JobNode) throws(UpsurgeError) -> String {
    guard case .list(let nodes) = node.content else { return try text(node, or: "a list of names, or A,B") }
    if nodes.isEmpty { throw node.place.error(path, "the list is empty", hint: "leave the key out") }
    var names: [String] = []
    var seen: Set<String> = []
    for node in nodes {
      let name = try text(node, or: "a list of names")
      if name.isEmpty { throw node.place.error(path, "an empty name") }
      if !seen.insert(name).inserted { throw node.place.error(path, "\(name) is named twice") }
      names.append(Self.quoted(name))
    }
    return names.joined(separator: ",")
  }

  private static func quoted(_ name: String) -> String {
    var text = "\""
    for scalar in name.unicodeScalars { text += scalar == "\"" ? "\"\"" : String(scalar) }
    return text + "\""
  }

  private func indexes() throws(UpsurgeError) -> [String] {
    guard case .list(let nodes) = value.content else { return [try text(value, or: "a list of indexes")] }
    if nodes.isEmpty { throw error("the list is empty", hint: "leave the key out") }
    try checkCount(nodes)
    var indexes: [String] = []
    for node in nodes { indexes.append(try names(node)) }
    return indexes
  }

  private func choice(_ word: String, resolve: (String) -> String) throws(UpsurgeError) -> String {
    guard case .mapping(let entries) = value.content else {
      let text = try self.text(value, or: "a word, or {\(word): \(word == "move" ? "DIR" : "COL")}")
      let isPath = word == "move" && text.hasPrefix("move:") && text.utf8.count > 5
      return isPath ? "move:" + resolve(String(text.dropFirst(5))) : text
    }
    guard entries.count == 1, let entry = entries.first, entry.key == word else {
      let words = option.words.filter { !$0.contains(":") } + ["{\(word): \(word == "move" ? "DIR" : "COL")}"]
      throw error("takes \(words.joined(separator: ", "))")
    }
    guard case .text(let text) = entry.value.content, !text.isEmpty else {
      throw entry.value.place.error("\(path).\(word)", "has no text")
    }
    return "\(word):\(word == "move" ? resolve(text) : text)"
  }
}

extension JobSetting {
  /// The setting as a person would type it, for the job in words.
  func shownWords(_ words: [String]) -> [String] {
    guard words.isEmpty, case .mapping(let entries) = value.content else {
      var shown: [String] = []
      for word in words {
        if word == option.option {
          shown.append(word)
        } else if word.hasPrefix(option.option + "=") {
          shown.append("\(option.option)=\(String(word.dropFirst(option.option.count + 1)).quotedForShell)")
        } else {
          shown[shown.count - 1] += " " + word.quotedForShell
        }
      }
      return shown
    }
    return entries.map { entry in
      var text = ""
      if case .text(let value) = entry.value.content { text = value }
      if case .list(let nodes) = entry.value.content {
        return nodes.map { node in
          guard case .text(let text) = node.content else { return "" }
          return "\(option.option) \("\(entry.key)=\(text)".quotedForShell)"
        }.joined(separator: " ")
      }
      let sign = option.key == "type" ? ":" : "="
      return "\(option.option) \((entry.key + sign + text).quotedForShell)"
    }
  }
}
