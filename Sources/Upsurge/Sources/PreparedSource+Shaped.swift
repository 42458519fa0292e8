/// Parsers of records that are shaped.
extension PreparedSource {
  func shapedParser(
    _ sniffed: CSVSniffResult, names: [String?], columns: ColumnRegistry, table: TableFacts,
    options: LoadOptions
  ) throws(UpsurgeError) -> ShapedParser<CSVParser> {
    let source = shaped(columns: columns, table: table, options: options)
    var (parser, shaper) = try source.csv(
      sniffed.dialect, header: sniffed.header, fields: sniffed.headerNames, names: names)
    mark(&parser)
    return ShapedParser(parser, shaper, file: opened.name)
  }

  func shapedParser(
    _ format: JSONFormat, columns: ColumnRegistry, table: TableFacts, options: LoadOptions
  ) throws(UpsurgeError) -> ShapedParser<JSONParser> {
    let source = shaped(columns: columns, table: table, options: options)
    let (parser, shaper) = try source.json(
      jsonDialect(format, options: options), targets: asDeclared(columns.targets),
      known: sampleNames(options: options))
    return ShapedParser(parser, shaper, file: opened.name)
  }

  private func shaped(columns: ColumnRegistry, table: TableFacts, options: LoadOptions) -> ShapedSource {
    var table = table
    // An empty file has no fields, and lacks none.
    if isBlank { table.mayLackFields = true }
    return ShapedSource(
      file: opened.name, options: options, table: table, columns: columns,
      blobs: blobs(for: table, options: options),
      cancellation: opened.cancellation)
  }

  /// The names of the fields in the first part of the source.
  private func sampleNames(options: LoadOptions) throws(UpsurgeError) -> [String] {
    if let declared { return declared.map(\.name) }
    var plain = options
    plain.table.computedColumns = []
    plain.input.filter = nil
    (plain.table.columns, plain.table.renames) = ([], [:])
    return try sampleColumns(options: plain).map(\.name)
  }
}
