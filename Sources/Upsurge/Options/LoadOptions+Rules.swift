extension LoadOptions {
  /// - Throws: `usage` for a merge rule in a mode that changes no row.
  func validateRules() throws(UpsurgeError) {
    guard let mode = rules.mode, let option = givenRules.first else { return }
    switch mode {
    case .upsert, .update: return
    case .insert, .ignore:
      throw UpsurgeError(
        .usage, "mode \(mode.rawValue) never changes a row: \(saying: option) does not apply",
        hint: "leave out \(saying: option), or give \(.mode, "upsert") or \(.mode, "update")")
    case .delete:
      throw UpsurgeError(
        .usage, "mode delete changes no values: \(saying: option) does not apply",
        hint: "leave out \(saying: option); \(.merge, "newer:COL") is the only rule that deletes ask")
    }
  }

  /// The options that say how a row changes, as far as the mode does not ask for them itself: deletes are judged by
  /// `--merge newer:COL` too.
  private var givenRules: [Wording] {
    let judgesDeletes = rules.mode == .delete || rules.tombstone != nil
    return rules.merge.options(isOfDeletes: judgesDeletes)
  }

  /// The options that cannot apply where no key says which row a record is about.
  package var optionsOfKeys: [Wording] {
    rules.merge.options() + (rules.nullKeys == .insert ? ["\(.nullKeys, "insert")"] : [])
  }

  /// Whether the key of a new table is a UNIQUE index, because no PRIMARY KEY is partial or on expressions.
  /// - Throws: `usage` when none is to be made.
  func needsKeyIndex(table name: String, columns names: [String]) throws(UpsurgeError) -> Bool {
    guard case .columns(let columns, let predicate) = rules.target else { return false }
    let isPartial = predicate.map { !$0.isEmpty } ?? false
    if !isPartial && !columns.contains(where: { LoadOptions.isExpression($0, columns: names) }) {
      return false
    }
    if indexes.createsKey { return true }
    throw UpsurgeError(
      .usage,
      "table \(name.escapedForTerminal) is new, and a new table has no UNIQUE index "
        + (isPartial ? "with a WHERE" : "on an expression"),
      hint: "make the table first, or add \(.createKey)")
  }

  /// Whether a part of `--key` is SQL and not the name of a column.
  static func isExpression(_ part: String, columns: [String]) -> Bool {
    part.contains("(") && !columns.contains { SQLName.isSame($0, part) }
  }
}

extension Merge {
  /// What was asked for beyond `replace`, as options of the command.
  /// - Parameter isOfDeletes: without what deletes ask, too.
  fileprivate func options(isOfDeletes: Bool = false) -> [Wording] {
    var options: [Wording] = []
    // A column that only goes along changes no row, so that it needs none.
    if columns.values.contains(where: { $0 != .along }) { options.append("\(.set)") }
    if condition != nil { options.append("\(.updateIf)") }
    if rule != .replace {
      let word = rule.isOfAllColumns ? rule.word : nil
      options.append(word.map { "\(.merge, $0)" } ?? "the merge rule of all columns")
    }
    if let newer, !isOfDeletes { options.append("\(.merge, newer.text)") }
    return options
  }
}

extension LoadOptions {
  /// What a person can do when more records are rejected than `--max-rejects` bears; a limit by count also ends a dry
  /// run, and a dry run would overwrite the file of an earlier part.
  package var rejectLimitHint: Wording {
    let raise: Wording = "raise \(.maxRejects) to allow more"
    if output.dryRun != nil {
      return rejects.path == nil ? raise + "; \(.rejects, "FILE") keeps them" : raise
    }
    let file: Wording = rejects.path == nil ? "\(.rejects, "FILE")" : "another file for \(.rejects)"
    if case .count? = rejects.limit {
      return raise + "; \(.dryRun) with \(saying: file) and without \(.maxRejects) shows them all"
    }
    return raise + "; \(.dryRun) with \(saying: file) shows them all"
  }
}
