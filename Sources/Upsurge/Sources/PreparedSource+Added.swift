/// Columns that no field of the source fills.
extension PreparedSource {
  /// Takes those that the table has into the run's columns; new ones of the table come last.
  func addKnown(_ options: LoadOptions, to columns: inout ColumnRegistry, table: TableFacts)
    throws(UpsurgeError)
  {
    if table.isForInference { return }
    for (name, _) in options.table.addedColumns where columns.slot(named: name) == nil {
      if let column = table.column(named: name) { columns.add(column) }
    }
  }

  /// Takes the others, too.
  /// - Throws: `guardRefused` where the table lacks one and may not get it.
  func addColumns(
    _ options: LoadOptions, to columns: inout ColumnRegistry, table: TableFacts, file: String
  ) throws(UpsurgeError) {
    if table.isForInference || table.leavesOutUnknown { return }
    try addKnown(options, to: &columns, table: table)
    for (name, value) in options.table.addedColumns where columns.slot(named: name) == nil {
      guard table.takesUnknown else {
        throw Self.noColumn(
          name, filledBy: "\(.add)", in: table, hint: "\(.alter) adds the column; \(.add, "COL=…") may name one that is there")
      }
      columns.add(
        ColumnTarget(
          name: name, affinity: table.quarantinesUnknown ? .none : value.isNumber ? .integer : .text,
          spellingPolicy: table.spellingPolicy))
    }
  }

  /// - Throws: `guardRefused` where the table lacks the column of an expression and may not get it.
  static func checkComputed(_ new: [String], _ options: LoadOptions, table: TableFacts) throws(UpsurgeError) {
    guard let name = new.first(where: options.table.isComputed) else { return }
    throw noColumn(
      name, filledBy: "\(.let)", in: table, hint: "\(.alter) adds the column; \(.let, "COL=SQL") may name one that is there")
  }

  private static func noColumn(
    _ name: String, filledBy option: Wording, in table: TableFacts, hint: Wording
  ) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "\(saying: option) fills the column \"\(name.escapedForTerminal)\", which table \(table.name.escapedForTerminal) does not have",
      hint: hint)
  }

  /// The slots that are filled when records have been read.
  static func addedSlots(_ options: LoadOptions, _ columns: ColumnRegistry, _ table: TableFacts) -> Set<Int> {
    table.isForInference ? [] : Set(options.table.addedColumns.compactMap { columns.slot(named: $0.name) })
  }
}

extension LoadOptions.Table {
  /// The added columns as they are in a table that is made.
  var inferredColumnsThatAreAdded: [InferredColumn] {
    addedColumns.map { name, value in
      var column = InferredColumn(
        name: name, type: value.isNumber ? .integer : .text, examples: [], nullCount: 0)
      if value == .run || value == .now { column.sourceType = .server("timestamp with time zone") }
      return column
    }
  }
}
