import ArgumentParser
import Upsurge

/// The options that say which row a record is about and how that row changes.
struct UpsertOptions: ParsableArguments {
  @Option(
    help: """
      Columns that say which row a record is about: A,B. They must have a PRIMARY KEY or UNIQUE index, in any \
      order; of an index on an expression give the expression, as in 'lower(email)'. Default: the table's \
      primary key.
      """)
  var key: String?

  @Option(help: "The WHERE of the partial unique index that is meant: 'active = 1'.")
  var keyWhere: String?

  @Option(help: "The name of the UNIQUE index that is meant, instead of --key.")
  var keyIndex: String?

  @Flag(help: "Match by every key of the table whose columns the input has, the primary key first.")
  var anyKey = false

  @Flag(name: .customLong("create-key"), help: "Make the UNIQUE index that --key needs where it is missing.")
  var createsKey = false

  @Option(
    help: """
      Records with NULL in the key: reject (default), or insert (again at every run). In mode insert that asks for \
      --key. An INTEGER PRIMARY KEY that is NULL gets its number from SQLite, and is inserted anew by every run; \
      reject given here rejects it, and so does a snapshot of a mirror.
      """)
  var nullKeys: NullKeyPolicy?

  @Option(
    help:
      "upsert (default with a key), insert (default without), ignore (a row with the key stays as it is), update, delete."
  )
  var mode: WriteMode?

  @Option(
    name: .customLong("merge"), parsing: .singleValue,
    help: """
      How a row that exists changes: replace (default), coalesce (new unless NULL), keep (existing unless NULL); \
      newer:COL lets it change only if COL is not older, newer-strict:COL only if it is newer. One of each may be \
      given: --merge coalesce --merge newer:updated_at.
      """)
  var merges: [String] = []

  @Option(
    name: .customLong("set"), parsing: .singleValue,
    help: """
      COL=RULE: another rule for one column: replace, coalesce, keep, min, max, sum, or SQL over excluded.COL and \
      the row's columns, as in 'hits=hits + excluded.hits'. May be given again.
      """)
  var sets: [String] = []

  @Option(help: "Rows change only where this SQL over excluded.COL and the row's columns is true.")
  var updateIf: String?

  @Option(help: "COL=VALUE: records whose column has this value delete their row.")
  var deleteWhen: String?

  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    options.rules.target = try target()
    options.rules.mode = mode
    options.rules.merge = try merge()
    options.rules.nullKeys = nullKeys ?? .reject
    options.rules.needsRowids = nullKeys == .reject
    options.rules.tombstone = try deleteWhen.map {
      let (column, value) = try Self.assignment($0, option: "--delete-when", form: "COL=VALUE")
      return Tombstone(column: column, value: value)
    }
    options.createsKey = createsKey
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
      let parts = word.split(separator: ":", maxSplits: 1).map(String.init)
      if parts.count == 2, ["newer", "newer-strict"].contains(parts[0]) {
        if merge.newer != nil { throw ValidationError("--merge takes newer:COL once") }
        merge.newer = Merge.Newer(column: parts[1], isStrict: parts[0] == "newer-strict")
        continue
      }
      let rules: [String: MergeRule] = ["replace": .replace, "coalesce": .coalesce, "keep": .keep]
      guard let rule = rules[word] else {
        throw ValidationError(
          "--merge \(word) is not known; known: replace, coalesce, keep, newer:COL, newer-strict:COL")
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
    let words: [String: MergeRule] = [
      "replace": .replace, "coalesce": .coalesce, "keep": .keep, "min": .min, "max": .max, "sum": .sum,
    ]
    return words[text.lowercased()] ?? .expression(text)
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
