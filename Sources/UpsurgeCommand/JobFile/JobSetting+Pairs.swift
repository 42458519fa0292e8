import Upsurge

/// Settings that are mappings: of names, and of what holds for each.
extension JobSetting {
  private static let forms = [
    "rename": "{OLD: NEW}", "type": "{COLUMN: TYPE}", "set": "{COLUMN: RULE}", "default": "{COLUMN: VALUE}",
    "let": "{COLUMN: SQL}", "date": "{COLUMN: FORMAT}", "add": "{COLUMN: VALUE}",
  ]

  private static let examples = [
    "rename": "{old: new}", "type": "{zip: TEXT}", "set": "{visits: sum}", "default": "{state: new}",
    "let": "{total: price*qty}", "date": "{day: '%d/%m/%Y'}", "add": "{origin: file}",
  ]

  /// How a mapping is written: of what was written as on a command line, where that can be told.
  func mappingHint(for node: JobNode) -> String? {
    guard let example = Self.examples[option.key] else { return nil }
    let sign: Character = option.key == "type" ? ":" : "="
    var nodes = [node]
    if case .list(let list) = node.content { nodes = list }
    let pairs = nodes.compactMap { node -> String? in
      guard case .text(let text) = node.content, let cut = text.firstIndex(of: sign), cut != text.startIndex
      else { return nil }
      let value = text[text.index(after: cut)...]
      return value.isEmpty
        ? nil : "\(YAMLText.quoted(String(text[..<cut]))): \(YAMLText.quoted(String(value)))"
    }
    let isWhole = !pairs.isEmpty && pairs.count == nodes.count && pairs.count <= 10
    return isWhole
      ? "write \(option.key): {\(pairs.joined(separator: ", "))}" : "write it as in \(option.key): \(example)"
  }

  /// - Parameter emptyFor: what an empty value stands for, where it may be empty.
  func pairs(emptyFor meaning: String? = nil) throws(UpsurgeError) -> [(name: String, value: String)] {
    let form = Self.forms[option.key] ?? "{COLUMN: VALUE}"
    guard case .mapping(let entries) = value.content else { throw wrongKind(value, wanted: form) }
    if entries.isEmpty { throw error("the mapping is empty", hint: "leave the key out") }
    var pairs: [(name: String, value: String)] = []
    for entry in entries {
      if entry.key.isEmpty { throw entry.keyPlace.error(path, "an empty name") }
      if meaning != nil, case .nothing = entry.value.content {
        pairs.append((entry.key, ""))
        continue
      }
      guard case .text(let text) = entry.value.content else {
        throw entry.value.place.error(
          "\(path).\(entry.key)", "is \(entry.value.kind); it takes a text or a number",
          hint: "write \(form); quote a text: 'null', ''")
      }
      if meaning == nil, option.key != "default", text.isEmpty {
        throw entry.value.place.error(
          "\(path).\(entry.key)", "is empty", hint: "write \(form), or remove the pair")
      }
      pairs.append((entry.key, text))
    }
    return pairs
  }

  /// The texts of each name of a mapping; none where it is a text or a list.
  func textsByName() throws(UpsurgeError) -> [(name: String, texts: [String])] {
    guard case .mapping(let entries) = value.content else { return [] }
    if entries.isEmpty { throw error("the mapping is empty", hint: "leave the key out") }
    var found: [(name: String, texts: [String])] = []
    for entry in entries {
      if entry.key.isEmpty { throw entry.keyPlace.error(path, "an empty name") }
      var nodes = [entry.value]
      if case .list(let list) = entry.value.content { nodes = list }
      var texts: [String] = []
      for node in nodes {
        guard case .text(let text) = node.content else {
          throw node.place.error(
            "\(path).\(entry.key)", "is \(node.kind); it takes a text or a list of texts",
            hint: "quote a text: 'null', ''")
        }
        texts.append(text)
      }
      if texts.isEmpty {
        throw entry.value.place.error("\(path).\(entry.key)", "the list is empty", hint: "remove the pair")
      }
      found.append((entry.key, texts))
    }
    return found
  }

  /// The words of a column that says yes or no: `ja/nein`, or `true` for those that are known.
  func truths(_ texts: [String], of column: String) throws(UpsurgeError) -> ValueFormats.Truths {
    if texts == ["true"] { return .usual }
    guard texts.count == 1, let truths = ValueFormats.Truths(words: texts[0]) else {
      throw value.place.error(
        "\(path).\(column)", "\(texts.joined(separator: ", ")) is not YES/NO",
        hint: "write bool: {active: 'A,active/I,inactive'}, or true for the words that are known")
    }
    return truths
  }
}
