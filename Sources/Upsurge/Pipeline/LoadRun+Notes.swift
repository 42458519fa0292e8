extension LoadRun {
  /// Says what was made for the key, and which options come to nothing.
  func announceOptions(_ table: PreparedTable) {
    let plan = table.plan
    let name = plan.schema.name.escapedForTerminal
    if table.keySQL != nil, table.createdSQL == nil, let key = plan.key, let index = key.indexName {
      let parts = key.parts.map { $0.column ?? $0.expression ?? "" }.joined(separator: ", ")
      let predicate = key.predicate.map { " WHERE \($0)" } ?? ""
      note(
        RunNote(
          .info,
          "made UNIQUE INDEX \(index.escapedForTerminal) on \(name) (\(parts.escapedForTerminal))"
            + predicate.escapedForTerminal))
    }
    if plan.schema.columns.isEmpty { return }
    let unneeded = table.unneededFields
    summary.withLock { $0.warnings.merge(table.leftOut) }
    if !unneeded.isEmpty {
      let count = unneeded.count == 1 ? "1 field is" : "\(unneeded.count) fields are"
      let names = unneeded.joined(separator: ", ").escapedForTerminal
      note(RunNote(.info, "\(count) not needed to delete: \(names)"))
    }
    let options = job.options
    let idle =
      table.facts.isNew || options.delivery.isRepeated
      ? [] : options.table.optionsOfNewTables(hasSQL: options.shapesRecords)
    if !idle.isEmpty {
      let change = idle.count == 1 ? "changes" : "change"
      note(
        RunNote(.warning, "table \(name) exists: \(saying: Wording(idle, separator: ", ")) \(change) nothing")
      )
    }
  }
}
