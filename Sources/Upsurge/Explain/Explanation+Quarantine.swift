extension Explanation {
  /// What becomes of columns that the table lacks, where they are not refused; nil when it lacks none.
  static func contract(_ table: PreparedTable) -> Line? {
    if !table.facts.quarantinesUnknown { return nil }
    if table.plan.schema.columns.isEmpty {
      return Line(
        "contract", "quarantine",
        because: "the table does not exist, so every record is kept in \(QuarantineTable.name)")
    }
    let names = table.plan.unknownCells.map { table.plan.columns[$0].name }
    let which = names.isEmpty ? "a column that the table lacks" : names.joined(separator: ", ")
    return Line(
      "contract", "quarantine",
      because: "records with a value in \(which) are kept in \(QuarantineTable.name) until `upsurge replay`")
  }
}
