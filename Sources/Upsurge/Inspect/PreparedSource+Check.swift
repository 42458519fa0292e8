extension PreparedSource {
  /// A parser that makes values and rejects as a load into a new table would. Where the columns of one cannot be found, texts stay
  /// what they are.
  func checkingParser(options: LoadOptions) throws(UpsurgeError) -> SourceParser {
    var columns = ColumnRegistry()
    do throws(UpsurgeError) {
      for column in try newColumns(options) { columns.add(column) }
    } catch {
      if options.table.inference == .full && opened.isSeekable { try opened.rewind() }
      return try inferenceParser(options: options)
    }
    var table = TableFacts(name: "records", isNew: true, columns: [], addsColumns: true)
    table.columnLimit = .max
    // That a document seems to wrap its records is said in another place.
    var source = self
    source.wrapper = nil
    return try source.makeParser(columns: &columns, table: table, options: options)
  }

  /// The columns of the table that a load would make.
  private func newColumns(_ options: LoadOptions) throws(UpsurgeError) -> [ColumnTarget] {
    let found = try inferColumnsOfNewTable(options: options)
    if found.isEmpty { return [] }
    return try TableDefinition(name: "records", inferred: found, options: options).columns.map { column in
      let isNamed = { (name: String) in SQLName.isSame(name, column.name) }
      let isKey = options.rules.key.contains(where: isNamed)
      let isConsented = options.table.consentedColumns.contains(where: isNamed)
      return ColumnTarget(
        name: column.name, affinity: Affinity(declaredType: column.declaredType),
        spellingPolicy: isConsented ? .warn : isKey ? .newKey : .reject,
        isBlob: column.declaredType.uppercased().contains("BLOB"))
    }
  }
}
