import Upsurge
import UpsurgeRecords

/// Finds the key that `--key` names among the unique indexes of a table.
struct KeySearch {
  let table: PostgresTable
  let options: LoadOptions

  /// - Parameter isGiven: whether the records have a column.
  /// - Returns: the key, and the statement that makes it where it is to be made.
  /// - Throws: `usage` where there is no such key.
  func key(isGiven: (String) -> Bool) throws(UpsurgeError) -> (key: TargetKey, making: String?) {
    switch options.rules.target {
    case .primaryKey:
      guard options.rules.mode != .insert || table.primaryKey != nil else { return (.none, nil) }
      if let key = table.primaryKey, let columns = key.columns, columns.allSatisfy(isGiven) {
        return (.index(try usable(key)), nil)
      }
      try checkNoKey()
      return (.none, nil)
    case .columns(let names, let predicate): return try key(names, predicate, isGiven)
    case .index(let name):
      guard let index = table.uniqueIndexes.first(where: { $0.name == name }) else {
        throw UpsurgeError(
          .usage, "table \(shown) has no UNIQUE index \(name.escapedForTerminal)",
          hint: "its keys: \(keyList)")
      }
      return (.index(try usable(index)), nil)
    case .any, .firstOf:
      throw UpsurgeError(
        .usage, "several keys at once are not for PostgreSQL: ON CONFLICT takes one",
        hint: "\(.key, "COLS") names one key: \(keyList)")
    }
  }

  private func key(
    _ names: [String], _ predicate: String?, _ isGiven: (String) -> Bool
  ) throws(UpsurgeError) -> (key: TargetKey, making: String?) {
    let wanted = Set(names.map(normal))
    let fitting = table.uniqueIndexes.filter { index in
      Set(index.parts.map { normal($0.column ?? $0.definition) }) == wanted
        && index.parts.count == names.count
    }
    let found: PostgresIndex? =
      switch predicate {
      case nil: fitting.first { $0.predicate == nil } ?? (fitting.count == 1 ? fitting[0] : nil)
      case ""?: fitting.first { $0.predicate == nil }
      case let text?: fitting.first { $0.predicate.map(normal) == normal(text) }
      }
    if let found {
      for part in found.parts {
        guard let column = part.column, !isGiven(column) else { continue }
        throw UpsurgeError(
          .usage, "\(.key) names the column \(column.escapedForTerminal), which the input does not have",
          hint: "name columns that both have; \(.rename, "OLD=NEW") gives a field the column's name")
      }
      return (.index(try usable(found)), nil)
    }
    if options.indexes.createsKey { return (.future(try existing(names)), try creation(names, predicate)) }
    _ = try existing(names)
    throw UpsurgeError(
      .usage,
      "table \(shown) has no PRIMARY KEY or UNIQUE index on (\(names.joined(separator: ", ").escapedForTerminal))",
      hint: "\(.createKey) makes one; its keys: \(keyList)")
  }

  /// The columns as the table spells them; expressions are left as they are.
  private func existing(_ names: [String]) throws(UpsurgeError) -> [String] {
    var columns: [String] = []
    for name in names where !name.contains("(") {
      guard let column = table.columnLike(name) else {
        throw UpsurgeError(
          .usage, "\(.key) names the column \(name.escapedForTerminal), which table \(shown) does not have",
          hint: "its keys: \(keyList)")
      }
      columns.append(column.name)
    }
    return columns
  }

  private func creation(_ names: [String], _ predicate: String?) throws(UpsurgeError) -> String {
    let parts = names.map { name in table.columnLike(name)?.name.quotedForPostgres ?? "(\(name))" }
    let filter = predicate.flatMap { $0.isEmpty ? nil : " WHERE \($0)" } ?? ""
    return "CREATE UNIQUE INDEX ON \(table.quotedName) (\(parts.joined(separator: ", ")))\(filter)"
  }

  private func usable(_ index: PostgresIndex) throws(UpsurgeError) -> PostgresIndex {
    if index.isConflictTarget { return index }
    let name = index.name.escapedForTerminal
    if !index.isValid {
      throw UpsurgeError(
        .usage, "the index \(name) of table \(shown) is not valid: its building has failed",
        hint: "REINDEX INDEX \(name) builds it again")
    }
    throw UpsurgeError(
      .usage,
      "the key \(name) of table \(shown) is DEFERRABLE, and ON CONFLICT takes only keys that are checked at once",
      hint: "make it NOT DEFERRABLE, or name another key: \(keyList)")
  }

  /// - Throws: `usage` for options that need a key.
  private func checkNoKey() throws(UpsurgeError) {
    let needed: Wording? =
      if let mode = options.rules.mode, mode != .insert { "\(.mode, mode.rawValue)" } else {
        options.optionsOfKeys.first
      }
    guard let needed else { return }
    throw UpsurgeError(
      .usage, "\(saying: needed) needs a key, and table \(shown) has no PRIMARY KEY in the input",
      hint: "\(.key, "COLS") names the columns that say which row a record is about; its keys: \(keyList)")
  }

  private var shown: String { TableName(schema: table.schema, name: table.name).shown.escapedForTerminal }

  private var keyList: String {
    let keys = table.uniqueIndexes.filter(\.isConflictTarget).map { TargetKey.index($0).words }
    return keys.isEmpty ? "none" : keys.map { "(\($0))" }.joined(separator: ", ").escapedForTerminal
  }

  /// An expression, however it is spelled: without quotes, outer brackets, blanks and large letters.
  private func normal(_ text: String) -> String {
    var bare = text.filter { !$0.isWhitespace && $0 != "\"" }.lowercased()
    while bare.hasPrefix("("), bare.hasSuffix(")") { bare = String(bare.dropFirst().dropLast()) }
    return bare.replacing("::text", with: "")
  }
}
