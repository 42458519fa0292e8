import Upsurge

/// What a job file says of one table, or of all of them.
struct JobSettings {
  /// Options by their name: `merge`, `guards.max-delete`.
  var options: [String: JobSetting] = [:]
  /// The keys that are no options of the command line: `source`, `headers`.
  var own: [String: Own]

  /// A key that only job files have.
  struct Own {
    var path: String
    var keyPlace: JobPlace
    var value: JobNode
    var isDefault: Bool
  }

  /// Keys that only job files have, and those that hold keys of their own.
  static let ownKeys = ["source", "headers"]
  static let groups = ["guards", "folder"]

  init() { own = [:] }

  /// - Throws: `usage` for a key that is not known or does not belong there.
  init(_ node: JobNode, path: String, isDefault: Bool) throws(UpsurgeError) {
    own = [:]
    if case .nothing = node.content {
      throw node.place.error(path, "says nothing", hint: isDefault ? "remove it" : "add source: FILE")
    }
    guard case .mapping(let entries) = node.content else {
      throw node.place.error(path, "is \(node.kind); it takes keys, such as source, key and kind")
    }
    for entry in entries {
      let keyPath = "\(path).\(entry.key)"
      if Self.groups.contains(entry.key) {
        try readGroup(entry, path: keyPath, isDefault: isDefault)
      } else if Self.ownKeys.contains(entry.key) {
        if isDefault && entry.key == "source" {
          throw entry.keyPlace.error(path, "source is of one table", hint: "put it under tables.NAME")
        }
        own[entry.key] = Own(
          path: keyPath, keyPlace: entry.keyPlace, value: entry.value, isDefault: isDefault)
      } else if let option = Self.tableOptions[entry.key] {
        options[option.path] = JobSetting(
          option: option, path: keyPath, keyPlace: entry.keyPlace, value: entry.value, isDefault: isDefault)
      } else {
        throw Self.unknown(
          entry, path: path, known: Array(Self.tableOptions.keys) + Self.ownKeys + Self.groups)
      }
    }
  }

  private static let tableOptions = OptionCatalogue.byKey(group: nil)
  private static let groupOptions: [String: [String: OptionSpecification]] = Dictionary(
    uniqueKeysWithValues: groups.map { ($0, OptionCatalogue.byKey(group: $0)) })

  private mutating func readGroup(
    _ entry: JobNode.Entry, path: String, isDefault: Bool
  ) throws(UpsurgeError) {
    let known = Self.groupOptions[entry.key] ?? [:]
    let names = known.keys.sorted().joined(separator: ", ")
    guard case .mapping(let entries) = entry.value.content else {
      throw entry.value.place.error(path, "is \(entry.value.kind); it takes the keys \(names)")
    }
    for entry in entries {
      guard let option = known[entry.key] else {
        throw Self.unknown(entry, path: path, known: Array(known.keys), list: names)
      }
      options[option.path] = JobSetting(
        option: option, path: "\(path).\(entry.key)", keyPlace: entry.keyPlace, value: entry.value,
        isDefault: isDefault)
    }
  }

  private static func unknown(
    _ entry: JobNode.Entry, path: String, known: [String], list: String? = nil
  ) -> UpsurgeError {
    if list == nil, let reason = RefusedKey.reason(entry.key) {
      return entry.keyPlace.error(path, "the key \(entry.key) is not taken: \(reason)", hint: "remove it")
    }
    for group in groups where list == nil && groupOptions[group]?[entry.key] != nil {
      return entry.keyPlace.error(
        path, "the key \(entry.key) belongs under \(group)", hint: "write \(group): {\(entry.key): …}")
    }
    if list != nil, tableOptions[entry.key] != nil {
      return entry.keyPlace.error(
        path, "the key \(entry.key) is of the table itself", hint: "move it one level up")
    }
    let nearest = NearestWord.find(entry.key, in: known.sorted())
    return entry.keyPlace.error(
      path, "the key \(entry.key) is not known" + (list.map { "; known: \($0)" } ?? ""),
      hint: nearest.map { "did you mean \($0)?" } ?? "upsurge mirror --schema lists all keys")
  }

  /// The settings, and of the defaults what they do not say; of `guards`, `folder` and `headers` key by key.
  func merging(_ defaults: JobSettings) -> JobSettings {
    var merged = self
    merged.options.merge(defaults.options) { own, _ in own }
    for (key, other) in defaults.own {
      guard let mine = own[key] else {
        merged.own[key] = other
        continue
      }
      guard case .mapping(let entries) = mine.value.content, case .mapping(let others) = other.value.content
      else { continue }
      let names = Set(entries.map { $0.key.lowercased() })
      merged.own[key]?.value.content = .mapping(
        entries + others.filter { !names.contains($0.key.lowercased()) })
    }
    return merged
  }

  /// In the order in which the file has them.
  var sortedOptions: [JobSetting] {
    options.values.sorted {
      ($0.keyPlace.line, $0.keyPlace.column) < ($1.keyPlace.line, $1.keyPlace.column)
    }
  }
}
