import ArgumentParser
import Upsurge

/// The options that say which row a record is about and how that row changes.
struct UpsertOptions: ParsableArguments {
  @Option(.key) var key: String?

  @Option(.keyWhere) var keyWhere: String?

  @Option(.keyIndex) var keyIndex: String?

  @Flag(.anyKey) var anyKey = false

  @Flag(.createKey) var createsKey = false

  @Option(.nullKeys) var nullKeys: NullKeyPolicy?

  @Option(.mode) var mode: WriteMode?

  @Option(.merge) var merges: [String] = []

  @Option(.set) var sets: [String] = []

  @Option(.updateIf) var updateIf: String?

  @Option(.deleteWhen) var deleteWhen: String?

  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    options.rules.target = try target()
    options.rules.mode = mode
    options.rules.merge = try merge()
    options.rules.nullKeys = nullKeys ?? .reject
    options.rules.needsRowids = nullKeys == .reject
    options.rules.countsNumbered = nullKeys == nil
    options.rules.tombstone = try deleteWhen.map {
      let (column, value) = try Self.assignment($0, option: "--delete-when", form: "COL=VALUE")
      return Tombstone(column: column, value: value)
    }
    options.indexes.createsKey = createsKey
    if createsKey && key == nil { throw ValidationError("--create-key needs --key COLS") }
  }

  private func target() throws -> ConflictTarget {
    let given = [key != nil, keyIndex != nil, anyKey].filter { $0 }.count
    if given > 1 { throw ValidationError("give one of --key, --key-index and --any-key") }
    if let key {
      return .columns(try NameList.parse(key, option: "--key"), where: keyWhere)
    }
    if keyWhere != nil { throw ValidationError("--key-where needs --key COLS") }
    if let keyIndex { return .index(keyIndex) }
    return anyKey ? .any : .primaryKey
  }

  private func merge() throws -> Merge {
    var merge = Merge()
    var hasRule = false
    for word in GatheredWords.split(merges).flatMap({ $0.split(separator: ",").map(String.init) }) {
      if let newer = Merge.Newer(text: word) {
        if merge.newer != nil { throw ValidationError("--merge takes newer:COL once") }
        merge.newer = newer
        continue
      }
      guard let rule = MergeRule(word: word), rule.isOfAllColumns else {
        let known = MergeRule.wordsOfAllColumns.joined(separator: ", ")
        throw ValidationError("--merge \(word) is not known; known: \(known), newer:COL, newer-strict:COL")
      }
      if hasRule { throw ValidationError("--merge takes one of replace, coalesce and keep") }
      hasRule = true
      merge.rule = rule
    }
    for set in GatheredWords.split(sets) {
      let (column, rule) = try Self.assignment(set, option: "--set", form: "COL=RULE")
      if merge.columns[column] != nil { throw ValidationError("--set names \(column) twice") }
      merge.columns[column] = Self.rule(rule)
    }
    merge.condition = updateIf
    return merge
  }

  /// The rule that a word or SQL means.
  static func rule(_ text: String) -> MergeRule {
    MergeRule(word: text.lowercased()) ?? .expression(text)
  }

  private static func assignment(
    _ text: String, option: String, form: String
  ) throws -> (column: String, value: String) {
    guard let cut = text.firstIndex(of: "="), cut != text.startIndex else {
      throw ValidationError("\(option) \(text): give \(form)")
    }
    return (String(text[..<cut]), String(text[text.index(after: cut)...]))
  }
}
