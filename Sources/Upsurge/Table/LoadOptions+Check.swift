/// What cannot be whatever the store, judged before the first record.
extension LoadOptions {
  /// - Throws: `usage` for a mode that only works on rows that exist, where there is no table.
  package func checkMode(withoutTable name: String) throws(UpsurgeError) {
    guard let mode = rules.mode, mode == .update || mode == .delete else { return }
    let work = mode == .update ? "changes" : "deletes"
    throw UpsurgeError(
      .usage,
      "there is no table \(name.escapedForTerminal); mode \(mode.rawValue) only \(work) rows that exist",
      hint: "check the names of the database and of the table")
  }

  /// - Parameter isOnlySource: whether no other file may have the column.
  /// - Throws: `usage` where the column of `--delete-when` is left out by `--columns`, or not in the header.
  package func checkTombstone(
    _ column: String, in source: PreparedSource, isOnlySource: Bool
  ) throws(UpsurgeError) {
    let shown = column.escapedForTerminal
    let renames = Dictionary(table.renames.map { (SQLName.folded($0.key), $0.value) }) { first, _ in
      first
    }
    if table.computedColumns.contains(where: { SQLName.isSame($0.name, column) }) { return }
    let wanted = table.columns.map { renames[SQLName.folded($0)] ?? $0 }
    if !wanted.isEmpty && !wanted.contains(where: { SQLName.isSame($0, column) }) {
      throw UpsurgeError(
        .usage, "\(.columns) leaves out the column \(shown), which \(.deleteWhen) names",
        hint: "add \(shown) to \(.columns)")
    }
    guard isOnlySource, case .csv(let sniffed) = source.shape, !source.isBlank else { return }
    let names = try FieldSelection(options: self).columnNames(
      of: sniffed.headerNames, file: source.opened.name
    ).compactMap { $0 }
    if names.contains(where: { SQLName.isSame($0, column) }) { return }
    throw UpsurgeError(
      .usage, "\(.deleteWhen) names the column \(shown), which the input does not have",
      hint: "its columns are: \(names.joined(separator: ", ").escapedForTerminal)")
  }
}
