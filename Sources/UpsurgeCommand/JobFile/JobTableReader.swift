import ArgumentParser
import Upsurge
import UpsurgeMirror

/// Makes a table of a mirror from what a job file says of it.
///
/// Each option group of the command line is handed its words at once; only when one refuses is each setting tried
/// alone, and then all but each, to tell the place of the one that is wrong.
struct JobTableReader {
  let reader: JobFileReader
  /// The table's own, and the defaults.
  let settings: JobSettings
  let node: JobNode
  var path = "defaults"

  /// A setting with its words.
  private typealias Part = (setting: JobSetting, words: [String])

  /// Why the option groups refuse.
  private struct Refusal: Error {
    var message: String
    var hint: String?
    /// Whether a value could not even be read.
    var isUnread = false
  }

  /// Says what is wrong with defaults, also with those that every table overrides.
  /// - Throws: `usage`.
  func checkDefaults() throws(UpsurgeError) {
    let parts = try self.parts()
    if case .failure = build(parts) { try checkAlone(parts) }
    _ = try headers()
  }

  /// - Returns: the table, and what is said of it as words of the command line.
  /// - Throws: `usage` with a place.
  func read(name: String, keyPlace: JobPlace) throws(UpsurgeError) -> (MirrorTable, [String]) {
    let parts = try self.parts()
    var table: MirrorTable
    switch build(parts) {
    case .success(let built): table = built
    case .failure(let refusal):
      try checkAlone(parts)
      throw told(refusal, of: parts)
    }
    table.name = name
    guard let source = settings.own["source"] else {
      throw keyPlace.error(path, "has no source", hint: "add source: FILE")
    }
    try readSources(source, into: &table)
    table.headers = try headers()
    return (table, parts.flatMap { $0.setting.shownWords($0.words) })
  }

  private func parts() throws(UpsurgeError) -> [Part] {
    var parts: [Part] = []
    for setting in settings.sortedOptions {
      parts.append((setting, try setting.words(resolve: reader.paths.resolve)))
      var options = LoadOptions()
      try setting.apply(to: &options)
    }
    return parts
  }

  /// A table of which nothing is said.
  private static let plainTable: MirrorTable = {
    var table = MirrorTable(name: "", sources: [])
    do {
      try TableOptions.parse([]).apply(to: &table)
    } catch {
      preconditionFailure("the defaults of the options contradict each other: \(error)")
    }
    return table
  }()

  private func build(_ parts: [Part], company: [String] = []) -> Result<MirrorTable, Refusal> {
    var table = Self.plainTable
    do {
      for type in TableOptions.groups {
        let words = parts.flatMap { $0.setting.option.topic == type.topic ? $0.words : [] }
        if words.isEmpty { continue }
        let options: any TableOptionGroup
        do {
          options = try reader.parsed.parse(
            type, words: words + (type.topic == parts.first?.setting.option.topic ? company : []))
        } catch {
          return .failure(Refusal(message: type.message(for: error), isUnread: true))
        }
        try options.apply(to: &table)
      }
      for part in parts { try part.setting.apply(to: &table.options) }
      try table.options.validate()
    } catch let error as ValidationError {
      return .failure(Refusal(message: error.message))
    } catch let error as UpsurgeError {
      return .failure(Refusal(message: error.message, hint: error.hint))
    } catch {
      return .failure(Refusal(message: "\(error)"))
    }
    return .success(table)
  }

  /// Options that say nothing without another one.
  private static let company = [
    "key-where": "--key=a", "create-key": "--key=a", "blob-folder": "--blob=file",
  ]

  /// - Throws: `usage` at the first setting that is wrong whatever the others are.
  private func checkAlone(_ parts: [Part]) throws(UpsurgeError) {
    for part in parts {
      let company = Self.company[part.setting.option.path].map { [$0] } ?? self.company(of: part, in: parts)
      if case .failure(let refusal) = build([part], company: company) {
        throw told(refusal, of: part.setting)
      }
    }
  }

  /// What groups digits is right or wrong only beside what stands before a fraction.
  private func company(of part: Part, in parts: [Part]) -> [String] {
    guard part.setting.option.path == "thousands" else { return [] }
    return parts.first { $0.setting.option.path == "decimal" }?.words ?? []
  }

  private func told(_ refusal: Refusal, of setting: JobSetting) -> UpsurgeError {
    guard refusal.isUnread else { return setting.error(refusal.message, hint: refusal.hint) }
    guard case .text(let text) = setting.value.content else {
      return setting.error("cannot be understood", hint: setting.option.help)
    }
    let words = setting.option.words
    if words.isEmpty { return setting.error("\(text) cannot be understood", hint: setting.option.help) }
    return setting.error(
      "\(text) is not known; known: \(words.joined(separator: ", "))",
      hint: NearestWord.find(text, in: words).map { "did you mean \($0)?" })
  }

  /// Reports a contradiction at the last setting that causes it, first of the table's own.
  private func told(_ refusal: Refusal, of parts: [Part]) -> UpsurgeError {
    for isDefault in [false, true] {
      for index in parts.indices.reversed() where parts[index].setting.isDefault == isDefault {
        var others = parts
        let part = others.remove(at: index)
        if case .success = build(others) { return part.setting.error(refusal.message, hint: refusal.hint) }
      }
    }
    return node.place.error(path, refusal.message, hint: refusal.hint)
  }
}

extension JobTableReader {
  private func readSources(_ own: JobSettings.Own, into table: inout MirrorTable) throws(UpsurgeError) {
    let nodes: [JobNode]
    if case .list(let list) = own.value.content { nodes = list } else { nodes = [own.value] }
    if nodes.isEmpty { throw own.value.place.error(own.path, "the list is empty", hint: "name a file") }
    var sources: [Source] = []
    var secrets = JobSecrets.Found()
    for node in nodes {
      guard case .text(let shown) = node.content else {
        throw node.place.error(own.path, "is \(node.kind); it takes a text or a list of texts")
      }
      try checkPassword(shown, path: own.path, place: node.place)
      let text = try reader.secrets.expand(
        shown, path: own.path, place: node.place, noting: &secrets)
      let source = Source(text, shown: shown)
      if let fault = SourceFault.of(source) {
        throw node.place.error(own.path, fault.message, hint: fault.hint)
      }
      sources.append(reader.paths.resolve(source))
    }
    table.sources = sources
    table.secrets = secrets.shown
    table.environment = secrets.environment
  }

  /// A password in the text of a URL would be shown wherever the source is.
  private func checkPassword(_ shown: String, path: String, place: JobPlace) throws(UpsurgeError) {
    guard Source(shown).isURL else { return }
    let authority = shown.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
    guard let at = authority.lastIndex(of: "@") else { return }
    // The colons of ${env:NAME} are none of the URL's.
    var user = String(authority[..<at])
    while let start = user.firstRange(of: "${"), let end = user[start.upperBound...].firstIndex(of: "}") {
      user.replaceSubrange(start.lowerBound...end, with: "\0")
    }
    guard let colon = user.firstIndex(of: ":") else { return }
    let password = user[user.index(after: colon)...]
    if password.contains(where: { $0 != "\0" }) {
      throw place.error(
        path, "a password in the job file", hint: "write ${env:NAME} or ${file:PATH} in its place")
    }
  }

  private func headers() throws(UpsurgeError) -> [String: String] {
    guard let own = settings.own["headers"] else { return [:] }
    guard case .mapping(let entries) = own.value.content else {
      throw own.value.place.error(own.path, "is \(own.value.kind); it takes {NAME: VALUE}")
    }
    var headers: [String: String] = [:]
    for entry in entries {
      let path = "\(own.path).\(entry.key)"
      let isName = entry.key.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "!#$%&'*+-.^_`|~".utf8.contains($0)
      }
      if entry.key.isEmpty || !isName {
        throw entry.keyPlace.error(own.path, "\(entry.key) is no name of a header", hint: "as in User-Agent")
      }
      if headers.keys.contains(where: { $0.lowercased() == entry.key.lowercased() }) {
        throw entry.keyPlace.error(own.path, "the header \(entry.key) is given twice")
      }
      guard case .text(let text) = entry.value.content else {
        throw entry.value.place.error(path, "is \(entry.value.kind); it takes a text")
      }
      if text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
        throw entry.value.place.error(path, "holds a line end", hint: "a header is one line")
      }
      headers[entry.key] = try reader.secrets.expand(text, path: path, place: entry.value.place)
    }
    return headers
  }
}

/// Option groups that were parsed, by their words: most tables of a job say the same in most groups, and parsing takes
/// a millisecond.
final class ParsedGroups {
  private var groups: [[String]: any TableOptionGroup] = [:]
  private static let countLimit = 1_000
  private static let byteLimit = 4 << 10

  /// - Throws: what the argument parser throws.
  func parse(_ type: any TableOptionGroup.Type, words: [String]) throws -> any TableOptionGroup {
    let key = ["\(type)"] + words
    if let group = groups[key] { return group }
    let group = try type.parse(words)
    if words.reduce(0, { $0 + $1.utf8.count }) > Self.byteLimit { return group }
    if groups.count >= Self.countLimit { groups.removeAll() }
    groups[key] = group
    return group
  }
}
