import UpsurgePlan
import UpsurgeRecords

/// Rules as JSON, as a kept record carries them until it is stored; what is left to its default is left out.
///
///     {"key":["id"],"mode":"upsert","merge":"coalesce","newer":"updated_at","set":{"hits":"sum"},
///      "update_if":"price > excluded.price","null_keys":"insert","delete_when":{"column":"gone","value":"1"}}
package enum RulesText {
  package static func encode(_ rules: UpsertRules) -> String {
    var out = JSONText()
    out.beginObject()
    write(rules.target, to: &out)
    if let mode = rules.mode { out.member("mode", mode.rawValue) }
    write(rules.merge, to: &out)
    if rules.nullKeys != .reject { out.member("null_keys", rules.nullKeys.rawValue) }
    if rules.needsRowids { out.member("rowids", "given") }
    if let tombstone = rules.tombstone {
      out.key("delete_when")
      out.beginObject()
      out.member("column", tombstone.column)
      out.member("value", tombstone.value)
      out.endObject()
    }
    out.endObject()
    return out.text
  }

  /// - Parameter sql: which SQL the rules may hold.
  /// - Throws: `badInput` for what is no rules; `usage` where their SQL is not run.
  package static func decode(_ text: String, running sql: ReturnedSQL) throws(UpsurgeError) -> UpsertRules {
    let rules = try decode(text)
    try sql.check(rules)
    return rules
  }

  /// Reads rules that are looked at only, and not run.
  /// - Throws: `badInput` for what is no rules.
  package static func decode(_ text: String) throws(UpsurgeError) -> UpsertRules {
    let json = try JSONValue(text)
    guard case .object = json else { throw fault(text) }
    var rules = UpsertRules(target: try target(json, text))
    if let word = json["mode"] { rules.mode = try known(word, text) }
    if let word = json["null_keys"] { rules.nullKeys = try known(word, text) }
    rules.needsRowids = json["rowids"]?.text == "given"
    rules.merge = try merge(json, text)
    if let tombstone = json["delete_when"] {
      guard let column = tombstone["column"]?.text, let value = tombstone["value"]?.text else {
        throw fault(text)
      }
      rules.tombstone = Tombstone(column: column, value: value)
    }
    return rules
  }

  // MARK: - The target

  private static func write(_ target: ConflictTarget, to out: inout JSONText) {
    switch target {
    case .primaryKey: break
    case .columns(let names, let predicate):
      out.key("key")
      out.beginArray()
      for name in names { out.string(name) }
      out.endArray()
      if let predicate { out.member("key_where", predicate) }
    case .index(let name): out.member("key_index", name)
    case .any:
      out.key("any_key")
      out.bool(true)
    case .firstOf(let targets):
      out.key("first_of")
      out.beginArray()
      for target in targets {
        out.beginObject()
        write(target, to: &out)
        out.endObject()
      }
      out.endArray()
    }
  }

  private static func target(_ json: JSONValue, _ text: String) throws(UpsurgeError) -> ConflictTarget {
    if let key = json["key"] {
      guard let names = key.texts else { throw fault(text) }
      return .columns(names, where: json["key_where"]?.text)
    }
    if let name = json["key_index"]?.text { return .index(name) }
    if json["any_key"] == .bool(true) { return .any }
    guard case .array(let list)? = json["first_of"] else { return .primaryKey }
    var targets: [ConflictTarget] = []
    for element in list { targets.append(try target(element, text)) }
    return .firstOf(targets)
  }

  // MARK: - The merge

  private static func write(_ merge: Merge, to out: inout JSONText) {
    if merge.rule != .replace { write(merge.rule, as: "merge", to: &out) }
    if let newer = merge.newer { out.member(newer.isStrict ? "newer_strict" : "newer", newer.column) }
    if !merge.columns.isEmpty {
      out.key("set")
      out.beginObject()
      for (column, rule) in merge.columns.sorted(by: { $0.key < $1.key }) {
        write(rule, as: column, to: &out)
      }
      out.endObject()
    }
    if let condition = merge.condition { out.member("update_if", condition) }
  }

  /// A rule's word, or `{"sql":"..."}`.
  private static func write(_ rule: MergeRule, as name: String, to out: inout JSONText) {
    if let word = rule.word { return out.member(name, word) }
    guard case .expression(let sql) = rule else { return }
    out.key(name)
    out.beginObject()
    out.member("sql", sql)
    out.endObject()
  }

  private static func merge(_ json: JSONValue, _ text: String) throws(UpsurgeError) -> Merge {
    var merge = Merge()
    if let rule = json["merge"] {
      merge.rule = try mergeRule(rule, text)
      // SQL is for single columns.
      if case .expression = merge.rule { throw fault(text) }
    }
    if let column = json["newer"]?.text { merge.newer = Merge.Newer(column: column) }
    if let column = json["newer_strict"]?.text {
      merge.newer = Merge.Newer(column: column, isStrict: true)
    }
    if case .object(let members)? = json["set"] {
      for member in members { merge.columns[member.name] = try mergeRule(member.value, text) }
    }
    merge.condition = json["update_if"]?.text
    return merge
  }

  private static func mergeRule(_ json: JSONValue, _ text: String) throws(UpsurgeError) -> MergeRule {
    if let sql = json["sql"]?.text { return .expression(sql) }
    guard let rule = json.text.flatMap(MergeRule.init(word:)) else { throw fault(text) }
    return rule
  }

  private static func known<Word: RawRepresentable<String>>(
    _ json: JSONValue, _ text: String
  ) throws(UpsurgeError) -> Word {
    guard let word = json.text.flatMap(Word.init(rawValue:)) else { throw fault(text) }
    return word
  }

  private static func fault(_ text: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "the rules of a kept record cannot be understood",
      snippet: String(text.prefix(120)).escapedForTerminal)
  }
}

extension JSONText {
  /// What was written.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
}
